/** The service worker that shows the offline page. It needs a secure page: HTTPS, or this machine itself. */
export function keepOfflinePage(): void {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return
  const register = (): void => {
    // Without it there is the browser's own page.
    navigator.serviceWorker.register('/sw.js').catch(() => undefined)
  }
  // What the page itself loads comes first.
  if (document.readyState === 'complete') register()
  else addEventListener('load', register, { once: true })
}
