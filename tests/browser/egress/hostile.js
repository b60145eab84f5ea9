// Each way by which a page may connect to somewhere, tried with an address that has the way's name as path. Ways that
// name no path get a port of their own. `run` ends once all of them have been tried.
const soon = (work, seconds = 3) =>
  Promise.race([work, new Promise((done) => setTimeout(done, seconds * 1000))]).catch(() => {});
const part = (html) => {
  const box = document.createElement('div');
  box.innerHTML = html;
  document.body.append(box);
  return box.firstElementChild;
};
const loaded = (element, property, address) =>
  new Promise((done) => {
    element.onload = element.onerror = done;
    element[property] = address;
    document.body.append(element);
  });
const make = (tag, attributes = {}) => Object.assign(document.createElement(tag), attributes);
const blob = (script) => URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
const answer = (target, event = 'onmessage') => new Promise((done) => (target[event] = done));

const ways = {
  image: (url) => loaded(make('img'), 'src', url),
  script: (url) => loaded(make('script'), 'src', url),
  style: (url) => loaded(make('link', { rel: 'stylesheet' }), 'href', url),
  background: (url) => part(`<p style="background: url('${url}')">x</p>`),
  frame: (url) => loaded(make('iframe'), 'src', url),
  object: (url) => loaded(make('object'), 'data', url),
  video: (url) => part(`<video preload=auto src="${url}"></video>`),
  svg: (url) => part(`<svg><image href="${url}" width=9 height=9 /></svg>`),
  fetch: (url) => fetch(url, { mode: 'no-cors' }),
  fetch_redirected: (url) => fetch(`/redirect?to=${encodeURIComponent(url)}`, { mode: 'no-cors' }),
  image_redirected: (url) => loaded(make('img'), 'src', `/redirect?to=${encodeURIComponent(url)}`),
  frame_redirected: (url) => loaded(make('iframe'), 'src', `/redirect?to=${encodeURIComponent(url)}`),
  frame_refreshed: (url) =>
    loaded(make('iframe'), 'srcdoc', `<meta http-equiv=refresh content="0; url=${url}">`),
  form: (url) => {
    part(`<iframe name=sent></iframe>`);
    part(`<form target=sent method=post action="${url}"><input name=a value=b></form>`).submit();
  },
  request: (url) =>
    new Promise((done) => {
      const request = new XMLHttpRequest();
      request.onloadend = done;
      request.open('GET', url);
      request.send();
    }),
  beacon: (url) => navigator.sendBeacon(url, 'x'),
  ping: (url) => part(`<a href="#here" ping="${url}">x</a>`).click(),
  events: (url) => answer(new EventSource(url), 'onerror'),
  socket: (url) => answer(new WebSocket(url.replace('http', 'ws')), 'onclose'),
  worker: (url) => answer(new Worker(blob(`fetch('${url}', {mode: 'no-cors'}).finally(() => postMessage(1))`))),
  worker_import: (url) => answer(new Worker(blob(`importScripts('${url}')`)), 'onerror'),
  worker_socket: (url) =>
    answer(
      new Worker(blob(`new WebSocket('${url.replace('http', 'ws')}').onclose = () => postMessage(1)`)),
    ),
  shared_worker: (url) =>
    answer(
      new SharedWorker(
        blob(`onconnect = (e) => fetch('${url}', {mode: 'no-cors'}).finally(() => e.ports[0].postMessage(1))`),
      ).port,
    ),
  module: (url) => import(url),
  prefetch: (url) => loaded(make('link', { rel: 'prefetch' }), 'href', url),
  preload: (url) => loaded(make('link', { rel: 'preload', as: 'image' }), 'href', url),
  font: (url) => new FontFace('f', `url(${url})`).load(),
  window: (url) => void window.open(url),
  window_written: (url) => {
    const opened = window.open('about:blank');
    opened.document.write(`<img src="${url}">`);
  },
  download: (url) => {
    part(`<iframe name=saved></iframe>`);
    part(`<a download=x target=saved href="${url}">x</a>`).click();
  },
  icon: (url) => void document.head.append(make('link', { rel: 'icon', href: url })),
  module_preload: (url) => loaded(make('link', { rel: 'modulepreload' }), 'href', url),
  embed: (url) => loaded(make('embed'), 'src', url),
  image_button: (url) => loaded(make('input', { type: 'image' }), 'src', url),
  image_set: (url) => loaded(make('img'), 'srcset', `${url} 1x`),
  poster: (url) => part(`<video poster="${url}"></video>`),
  track: (url) => part(`<video src="${url}/v"><track default kind=captions src="${url}"></video>`),
  style_import: (url) => void document.head.append(make('style', { textContent: `@import '${url}'` })),
  cursor: (url) => part(`<p style="content: url('${url}')">x</p>`),
  shape: (url) => part(`<svg><use href="${url}#a" /><feImage href="${url}" /></svg>`),
  data_frame: (url) => loaded(make('iframe'), 'src', `data:text/html,<img src="${url}">`),
  blob_frame: (url) =>
    loaded(make('iframe'), 'src', URL.createObjectURL(new Blob([`<img src="${url}">`], { type: 'text/html' }))),
  sandboxed_frame: (url) =>
    loaded(make('iframe', { sandbox: 'allow-scripts' }), 'srcdoc', `<script>fetch('${url}')<\/script>`),
  named_window: (url) => void window.open(url.replace('://', '://user:password@')),
  frame_replaced: (url) => {
    const frame = part('<iframe></iframe>');
    frame.contentWindow.location.replace(url);
  },
  kept_alive: (url) => fetch(url, { mode: 'no-cors', keepalive: true }),
  asked_first: (url) => fetch(url, { method: 'PUT', headers: { 'X-A': 'b' } }),
  // The answer's headers name the address.
  violation: () => loaded(make('iframe'), 'src', '/reporting'),
  speculation: (url) =>
    void document.head.append(
      make('script', {
        type: 'speculationrules',
        textContent: JSON.stringify({
          prefetch: [{ urls: [url], eagerness: 'immediate' }],
          prerender: [{ urls: [url], eagerness: 'immediate' }],
        }),
      }),
    ),
  // Fetched when the browser is asked for it.
  manifest: (url) => void document.head.append(make('link', { rel: 'manifest', href: url })),
  later: (url) => fetchLater(url, { activateAfter: 0 }),
  service_worker: () => navigator.serviceWorker.register('/service.js'),
  background_fetch: async (url) => {
    const { backgroundFetch, installing } = await navigator.serviceWorker.register('/fetching.js', { scope: '/evil' });
    await new Promise((done) => (installing.onstatechange = () => installing.state === 'activated' && done()));
    await backgroundFetch.fetch('x', [url]);
  },
  audio_worklet: (url) => new OfflineAudioContext(1, 1, 8000).audioWorklet.addModule(url),
  paint_worklet: (url) => CSS.paintWorklet.addModule(url),
  dictionary: (url) => void document.head.append(make('link', { rel: 'compression-dictionary', href: url })),
};

const waysToHosts = {
  preconnect: (origin) => void document.head.append(make('link', { rel: 'preconnect', href: origin })),
  payment: (origin) =>
    new PaymentRequest([{ supportedMethods: origin.replace('http', 'https') }], {
      total: { label: 'x', amount: { currency: 'EUR', value: '1' } },
    }).canMakePayment(),
  identity: (origin) =>
    navigator.credentials.get({
      identity: { providers: [{ configURL: `${origin.replace('http', 'https')}/x`, clientId: 'x' }] },
    }),
};

const gathered = (servers) => {
  const connection = new RTCPeerConnection({ iceServers: servers });
  connection.createDataChannel('x');
  connection.createOffer().then((offer) => connection.setLocalDescription(offer));
  return new Promise((done) => {
    connection.onicegatheringstatechange = () => connection.iceGatheringState === 'complete' && done();
  });
};

window.run = async (hosts, port, udp, name, ports) => {
  // Not of a page that a window hides.
  ways.speculation(`http://${hosts[0]}:${port}/speculation`);
  await soon(new Promise(() => {}), 1);
  const tried = Object.entries(ways).map(([name, way]) =>
    soon((async () => way(`http://${hosts[0]}:${port}/${name}`))()),
  );
  // In other notations, and by names that lead there.
  for (const [number, host] of hosts.entries()) {
    tried.push(soon((async () => fetch(`http://${host}:${port}/host_${number}`, { mode: 'no-cors' }))()));
  }
  const host = hosts[0];
  for (const [name, way] of Object.entries(waysToHosts)) {
    tried.push(soon((async () => way(`http://${host}:${ports[name]}`))()));
  }
  document.head.append(make('link', { rel: 'dns-prefetch', href: `http://${name}` }));
  tried.push(soon(gathered([{ urls: `stun:${host}:${udp}` }])));
  tried.push(
    soon(gathered([{ urls: `turn:${host}:${port}?transport=tcp`, username: 'u', credential: 'c' }])),
  );
  if (window.WebTransport) tried.push(soon((async () => new WebTransport(`https://${host}:${udp}/`).ready)()));
  await Promise.all(tried);
  return Object.keys(ways);
};
