/**
 * When a place goes, what had the focus goes with it. Then the next place's heading takes it, so
 * that a screen reader says where one is, and the Tab key goes on from there.
 */
export function arrive(): void {
  const { activeElement } = document
  if (activeElement !== null && activeElement !== document.body) return
  const start = document.querySelector<HTMLElement>('main h1') ?? document.querySelector<HTMLElement>('main')
  if (!start) return
  start.tabIndex = -1
  start.focus({ preventScroll: true })
}
