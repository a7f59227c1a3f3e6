// Resolves to what `read` sees once no own card is on its way or unknown, and `data-seq` is beyond
// `after`; or after `patience` ms, whatever there is.
(read, { after, patience }) =>
  new Promise((resolve) => {
    const good = (seen) => seen === null || (seen.settled && seen.seq > after)
    const first = read()
    if (good(first)) return resolve(first)
    const done = () => {
      observer.disconnect()
      clearTimeout(timer)
      resolve(read())
    }
    const observer = new MutationObserver(() => good(read()) && done())
    observer.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-seq', 'data-card', 'data-flying', 'data-testid'] })
    const timer = setTimeout(done, patience)
  })
