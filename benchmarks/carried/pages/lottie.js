import lottie from "lottie-web";

const still = value => ({ a: 0, k: value });
lottie.loadAnimation({
  container: carried,
  loop: true,
  animationData: {
    v: "5.7.0", fr: 30, ip: 0, op: 60, w: 300, h: 100, assets: [],
    layers: [{
      ty: 4, ip: 0, op: 60, st: 0, ind: 1,
      ks: {
        o: still(100), p: still([150, 50, 0]), a: still([0, 0, 0]), s: still([100, 100, 100]),
        r: { a: 1, k: [{ t: 0, s: [0], i: { x: [1], y: [1] }, o: { x: [0], y: [0] } }, { t: 60, s: [360] }] },
      },
      shapes: [
        { ty: "rc", s: still([60, 60]), p: still([0, 0]), r: still(0) },
        { ty: "fl", c: still([0, 0.5, 1, 1]), o: still(100) },
      ],
    }],
  },
});
