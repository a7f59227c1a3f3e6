/** The service worker: keeps the offline page of its own release, and drops that of others. */
import { concern, file, OFFLINE, page } from './shell'

declare const self: ServiceWorkerGlobalScope
/** Put in by the build: the offline page and all that it loads, and a hash of it. */
declare const __SHELL__: { hash: string; files: string[] }

const { hash, files } = __SHELL__
const KEPT = 'snatch-offline-'
const mine = KEPT + hash

self.addEventListener('install', (event) => {
  event.waitUntil(install())
})
self.addEventListener('activate', (event) => {
  event.waitUntil(activate())
})
self.addEventListener('fetch', (event) => {
  const { request } = event
  const what = concern(request, self.location.origin, files)
  if (what === null) return
  const ports = {
    network: async () => ((await event.preloadResponse) as Response | undefined) ?? (await fetch(request)),
    kept: async (path: string) => (await caches.open(mine)).match(path),
  }
  event.respondWith(what === 'page' ? page(ports) : file(new URL(request.url).pathname, ports))
})

async function install(): Promise<void> {
  const cache = await caches.open(mine)
  // What bears its hash has mostly been loaded by the page just now.
  await cache.addAll(files.map((path) => new Request(path, { cache: path === OFFLINE ? 'reload' : 'default' })))
  // Nothing of an older one is in use that could break.
  await self.skipWaiting()
}

async function activate(): Promise<void> {
  for (const name of await caches.keys()) if (name.startsWith(KEPT) && name !== mine) await caches.delete(name)
  // A page is asked for while the worker still starts.
  await self.registration.navigationPreload?.enable()
  await self.clients.claim()
}
