// While a release goes round, a page of the one may ask a gateway of the other for what it is made of, which bears
// a hash in its name and isn't there. Then it is loaded again, a second later, until both are of one release; for a
// minute, then it is left as it is. It stands before all others, of no release itself, and is asked for each time.
addEventListener(
  'error',
  ({ target }) => {
    const address = target instanceof HTMLScriptElement ? target.src : target instanceof HTMLLinkElement ? target.href : ''
    if (!address || !new URL(address).pathname.startsWith('/assets/')) return
    const now = Date.now()
    try {
      let began = Number(sessionStorage.getItem('snatch.again') ?? 0)
      if (now - began > 600_000) sessionStorage.setItem('snatch.again', String((began = now)))
      if (now - began > 60_000) return
    } catch {
      return // where nothing can be kept it would never end
    }
    setTimeout(() => location.reload(), 1000)
  },
  true,
)
