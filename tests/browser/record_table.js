// From the page's first script on: every state of the table that was ever shown, and for each own
// move what showed before it and in the very next frame; in a live hand also what was said of the line.
(read) => {
  const record = { steps: [], moves: [], troubles: [] }
  window.tableRecord = record
  let frame = 0
  let touchedIn = -1
  let heard = 0
  let heardBefore = 0
  let heardAt = performance.now()
  const tick = () => {
    frame += 1
    heardBefore = heard
    requestAnimationFrame(tick)
  }
  requestAnimationFrame(tick)
  for (const kind of ['pointerdown', 'pointerup', 'click', 'keydown']) addEventListener(kind, () => (touchedIn = frame), true)

  // A back that is being turned up, or is about to come: something of it moves.
  const moving = (testid) => {
    const node = document.querySelector(`[data-testid="${testid}"]`)
    return node !== null && document.getAnimations().some((a) => node.contains(a.effect?.target ?? null))
  }
  let open = null
  const made = (m) => {
    if (open === null) {
      const entry = (open = { made: [], before: read(), touched: frame - touchedIn, quiet: true })
      const heardThen = heardBefore
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel()
        // After this frame was drawn, whatever else runs in it.
        port1.onmessage = () => {
          open = null
          record.moves.push({ ...entry, after: read(), quiet: heard === heardThen, flips: ['turned', 'snatch'].filter(moving) })
        }
        port2.postMessage(null)
      })
    }
    open.made.push(m)
  }
  window.WebSocket = class extends WebSocket {
    constructor(...where) {
      super(...where)
      this.addEventListener('message', () => {
        heard += 1
        heardAt = performance.now()
      })
    }
    send(text) {
      const message = JSON.parse(text)
      if (message.t === 'move' && read()?.phase === 'live') made(message.m)
      super.send(text)
    }
  }

  let last = ''
  const step = () => {
    const seen = read()
    const trouble = document.querySelector('[data-testid="connection"]')?.innerText
    if (trouble && seen?.phase === 'live') record.troubles.push({ text: trouble, silence: performance.now() - heardAt })
    const now = JSON.stringify(seen)
    if (seen === null || now === last) return
    last = now
    record.steps.push(seen)
  }
  addEventListener('DOMContentLoaded', () =>
    new MutationObserver(step).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true, attributeFilter: ['data-seq', 'data-card', 'data-spot', 'data-flying', 'data-count', 'data-turned', 'data-top', 'data-left', 'data-phase'] }),
  )
}
