// What a player sees of the table, read off the page.  Resolves once no own card is on its way
// or unknown, and `data-seq` is beyond `after`; or after `patience` ms, whatever there is.
({ after, patience }) =>
  new Promise((resolve) => {
    const find = (testid) => document.querySelector(`[data-testid="${testid}"]`)
    const card = (node) => node?.dataset.card ?? null
    const read = () => {
      const table = find('table')
      if (!table) return null
      const work = [[], [], [], []]
      for (const node of document.querySelectorAll('[data-spot^="work-"]')) {
        const [, pile, index] = node.dataset.spot.split('-')
        work[Number(pile)][Number(index)] = card(node)
      }
      const stock = find('stock')
      return {
        phase: table.dataset.phase,
        seq: Number(table.dataset.seq),
        work,
        snatch: card(find('snatch')),
        turned: card(find('turned')),
        left: Number(find('snatch-left')?.textContent ?? 0),
        in_stock: Number(stock?.dataset.count ?? 0),
        in_turned: Number(stock?.dataset.turned ?? 0),
        middle: [...document.querySelectorAll('[data-pile]')].map((p) => ({ id: Number(p.dataset.pile), top: p.dataset.top })),
        stuck: find('stuck') !== null || find('all-stuck') !== null,
        paused: find('paused') !== null,
        settled:
          !document.querySelector('[data-flying]') &&
          (Number(stock?.dataset.turned ?? 0) === 0 || card(find('turned')) !== null) &&
          (Number(find('snatch-left')?.textContent ?? 0) === 0 || card(find('snatch')) !== null),
      }
    }
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
