/**
 * The own cards that are drawn, each once: which, where, and what a finger on it means.
 *
 * Keyed by the card, so that a card that moves is the same element and glides; a card
 * in flight is one of them, over the middle.
 */
import type { Mine } from '../../lib/wire'
import type { Flight } from './ahead'
import { BACK, known, type Card } from './fits'
import { fanStep, type Grid, type Layout, type Point } from './layout'
import type { Spot } from './taps'

export interface Item extends Point {
  key: string
  /** Null: its back. */
  card: Card | null
  /** Height in the heap. */
  z: number
  spot: Spot | null
  testid: string | null
  /** On its way to the middle. */
  flying: boolean
  /** How large, of an own card's size. */
  scale: number
  /** How much of its height the next card leaves to be seen, 0 to 1. */
  bare: number
}

export interface Middle {
  grid: Grid
  slots: readonly (number | null)[]
}

export function items(mine: Mine, flights: readonly Flight[], l: Layout, middle: Middle): Item[] {
  const all: Item[] = []
  const seen = new Set<string>()
  const put = (item: Omit<Item, 'flying' | 'scale' | 'bare'> & Partial<Item>): void => {
    // An element per card, whatever happens: a doubled key would break the page.
    if (seen.has(item.key)) return
    seen.add(item.key)
    all.push({ flying: false, scale: 1, bare: 1, ...item })
  }

  flights.forEach((flight, i) => {
    const { at, scale } = over(flight, i, l, middle)
    put({ key: flight.card, card: flight.card, ...at, z: 600 + i, spot: null, testid: null, flying: true, scale })
  })
  mine.work.forEach((pile, index) => {
    const at = l.work[index]
    if (!at) return
    const step = fanStep(pile.length, l)
    pile.forEach((card, i) => {
      const top = i === pile.length - 1
      const spot: Spot = { at: 'work', pile: index, index: i }
      put({ key: card, card, x: at.x, y: at.y + step * i, z: 10 + i, spot, testid: top ? `work-${index}` : null, bare: top ? 1 : step / l.ch })
    })
  })
  const shown = mine.turned.slice(-2)
  shown.forEach((card, i) => {
    const top = i === shown.length - 1
    const key = known(card) ? card : `turned-${mine.turned.length - shown.length + i}`
    put({ key, card: face(card), ...l.turned, z: 10 + i, spot: top ? { at: 'turned' } : null, testid: top ? 'turned' : null })
  })
  if (mine.snatch !== null) {
    const key = known(mine.snatch) ? mine.snatch : 'snatch-back'
    put({ key, card: face(mine.snatch), ...l.snatch, z: 12, spot: { at: 'snatch' }, testid: 'snatch' })
  }
  return all
}

const face = (card: Card): Card | null => (card === BACK ? null : card)

/** Over its pile, a little above it so that it is seen to wait; a new pile's card over a free slot. */
function over(flight: Flight, index: number, l: Layout, { grid, slots }: Middle): { at: Point; scale: number } {
  const scale = grid.cw / l.cw
  let slot = flight.pile === null ? -1 : slots.indexOf(flight.pile)
  if (slot < 0) {
    const free = slots.indexOf(null)
    slot = (free < 0 ? slots.length : free) + index
  }
  const at = grid.slots[Math.min(slot, grid.slots.length - 1)] ?? { x: 0, y: 0 }
  return { at: { x: l.middle.x + at.x, y: l.middle.y + at.y - grid.ch * 0.12 }, scale }
}
