import { BoxGeometry, Mesh, MeshNormalMaterial, PerspectiveCamera, Scene, WebGLRenderer } from "three";

const scene = new Scene();
const camera = new PerspectiveCamera(60, 3, 0.1, 10);
camera.position.z = 2;
const box = new Mesh(new BoxGeometry(), new MeshNormalMaterial());
scene.add(box);
const renderer = new WebGLRenderer();
renderer.setSize(300, 100);
carried.append(renderer.domElement);
renderer.setAnimationLoop(time => {
  box.rotation.y = time / 1000;
  renderer.render(scene, camera);
});
