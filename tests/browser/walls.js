// A page that leaves traces of its session and looks for those of others, and that asks the browser for all it has.
const me = new URLSearchParams(location.search).get('name');
const found = new Set();
const see = (other) => {
  if (other && other !== me) found.add(other);
};
const channel = new BroadcastChannel('all');
channel.onmessage = ({ data }) => see(data);

async function leave() {
  see(window.name);
  window.name = me;
  see(localStorage.me);
  localStorage.me = me;
  see(document.cookie.replace('me=', ''));
  document.cookie = `me=${me}`;
  const cache = await caches.open('all');
  for (const { url } of await cache.keys()) see(new URL(url).searchParams.get('me'));
  await cache.put(`/?me=${me}`, new Response(me));
  for (const { name } of await indexedDB.databases()) see(name);
  await new Promise((done) => (indexedDB.open(me).onsuccess = done));
  const folder = await navigator.storage.getDirectory();
  for await (const name of folder.keys()) see(name);
  await folder.getFileHandle(me, { create: true });
  const { held } = await navigator.locks.query();
  for (const { name } of held) see(name);
  navigator.locks.request(me, () => new Promise(() => {}));
  const { port } = new SharedWorker('/shared.js', 'all');
  port.onmessage = ({ data }) => data.forEach(see);
  port.postMessage(me);
  for (const { scope } of await navigator.serviceWorker.getRegistrations()) see(scope.split('~')[1]);
  await navigator.serviceWorker.register(`/beating.js?name=${me}`, { scope: `/~${me}` });
  channel.postMessage(me);
}

/** What the browser says to each way. */
async function ask() {
  const worker = await navigator.serviceWorker.register('/beating.js?name=asking', { scope: '/all' });
  await navigator.serviceWorker.ready;
  const total = { label: 'x', amount: { currency: 'EUR', value: '1' } };
  const ways = {
    bluetooth: () => navigator.bluetooth.requestDevice({ acceptAllDevices: true }),
    camera: () => navigator.mediaDevices.getUserMedia({ video: true, audio: true }),
    clipboard: () => navigator.clipboard.read(),
    'clipboard text': () => navigator.clipboard.readText(),
    'content index': () => worker.index.add({ id: 'x', url: '/all', title: 'x', description: 'x' }),
    credentials: () => navigator.credentials.get({ password: true, mediation: 'required' }),
    folder: () => showDirectoryPicker(),
    fonts: () => queryLocalFonts(),
    hid: () => navigator.hid.requestDevice({ filters: [] }),
    idle: () => IdleDetector.requestPermission(),
    location: () => new Promise((done, fail) => navigator.geolocation.getCurrentPosition(done, fail)),
    midi: () => navigator.requestMIDIAccess({ sysex: true }),
    notifications: () => Notification.requestPermission(),
    'open file': () => showOpenFilePicker(),
    payment: () => new PaymentRequest([{ supportedMethods: `${location.origin}/pay` }], { total }).show(),
    'periodic sync': () => worker.periodicSync.register('x', { minInterval: 1 }),
    print: () => print(),
    protocol: () => navigator.registerProtocolHandler('web+evil', '/all?%s'),
    push: () => worker.pushManager.subscribe({ userVisibleOnly: true }),
    'save file': () => showSaveFilePicker(),
    screen: () => navigator.mediaDevices.getDisplayMedia(),
    serial: () => navigator.serial.requestPort(),
    share: () => navigator.share({ text: 'x' }),
    storage: () => navigator.storage.persist(),
    usb: () => navigator.usb.requestDevice({ filters: [] }),
    windows: () => getScreenDetails(),
  };
  const asked = Object.entries(ways).map(async ([name, way]) => {
    const late = new Promise((done) => setTimeout(done, 2000, 'no answer'));
    const answer = (async () => way())().then((given) => `got ${given}`, (error) => error.name ?? `code ${error.code}`);
    return [name, await Promise.race([answer, late])];
  });
  return Object.fromEntries(await Promise.all(asked));
}
