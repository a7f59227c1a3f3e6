// What a player sees of the table now, read off the page; null when another place shows.
() => {
  const find = (testid) => document.querySelector(`[data-testid="${testid}"]`)
  const card = (node) => node?.dataset.card ?? null
  const table = find('table')
  if (!table) return null
  const work = [[], [], [], []]
  for (const node of document.querySelectorAll('[data-spot^="work-"]')) {
    const [, pile, index] = node.dataset.spot.split('-')
    work[Number(pile)][Number(index)] = card(node)
  }
  const stock = find('stock')
  const left = Number(find('snatch-left')?.textContent ?? 0)
  const in_turned = Number(stock?.dataset.turned ?? 0)
  const flying = [...document.querySelectorAll('[data-flying]')].map(card)
  return {
    phase: table.dataset.phase,
    seq: Number(table.dataset.seq),
    work,
    snatch: card(find('snatch')),
    turned: card(find('turned')),
    left,
    in_stock: Number(stock?.dataset.count ?? 0),
    in_turned,
    flying,
    seats: Object.fromEntries(
      [...document.querySelectorAll('[data-testid^="seat-"]')].map((s) => [s.dataset.testid.slice(5), Number(s.dataset.left)]),
    ),
    middle: [...document.querySelectorAll('[data-pile]')].map((p) => ({ id: Number(p.dataset.pile), top: p.dataset.top })),
    undo: find('undo') !== null,
    stuck: find('stuck') !== null || find('all-stuck') !== null,
    paused: find('paused') !== null,
    settled: flying.length === 0 && (in_turned === 0 || card(find('turned')) !== null) && (left === 0 || card(find('snatch')) !== null),
  }
}
