/**
 * The own cards that are drawn, each once: which, where, and what a finger on it means.
 *
 * Keyed by the card, so that a card that moves is the same element and glides; a card
 * in flight is one of them, over the middle. `Elements` makes a back and the face that
 * turns up there one element too, which can flip.
 */
import type { Mine } from '../../lib/wire'
import type { Flight } from './ahead'
import { BACK, type Card } from './fits'
import { fanStep, type Grid, type Layout, type Point } from './layout'
import { sameSpot, type Spot } from './taps'

export interface Item extends Point {
  /** Names its element. */
  key: string
  /** Where it lies, for a back: the card that turns up there is the same one. */
  place: string
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
  const put = (item: Omit<Item, 'key' | 'flying' | 'scale' | 'bare'> & Partial<Item>): void => {
    const key = item.card ?? item.place
    // An element per card, whatever happens: a doubled key would break the page.
    if (seen.has(key)) return
    seen.add(key)
    all.push({ key, flying: false, scale: 1, bare: 1, ...item })
  }

  flights.forEach((flight, i) => {
    const { at, scale } = over(flight, i, l, middle)
    put({ place: 'middle', card: flight.card, ...at, z: 600 + i, spot: null, testid: null, flying: true, scale })
  })
  mine.work.forEach((pile, index) => {
    const at = l.work[index]
    if (!at) return
    const step = fanStep(pile.length, l)
    pile.forEach((card, i) => {
      const top = i === pile.length - 1
      const spot: Spot = { at: 'work', pile: index, index: i }
      put({ place: `work-${index}`, card, x: at.x, y: at.y + step * i, z: 10 + i, spot, testid: top ? `work-${index}` : null, bare: top ? 1 : step / l.ch })
    })
  })
  const shown = mine.turned.slice(-2)
  shown.forEach((card, i) => {
    const top = i === shown.length - 1
    const place = `turned-${mine.turned.length - shown.length + i}`
    put({ place, card: face(card), ...l.turned, z: 10 + i, spot: top ? { at: 'turned' } : null, testid: top ? 'turned' : null })
  })
  if (mine.snatch !== null) {
    put({ place: 'snatch', card: face(mine.snatch), ...l.snatch, z: 12, spot: { at: 'snatch' }, testid: 'snatch' })
  }
  return all
}

/**
 * Remembers which back became which card, and in which order they came: an element that is moved
 * among its siblings forgets where it was seen, and jumps instead of gliding.
 */
export class Elements {
  #serial = 0
  /** When each key was first drawn. */
  #order = new Map<string, number>()
  /** Each place with a back, and that back's key. */
  #backs = new Map<string, string>()
  /** The cards that came out of a back, under its key. */
  #turned = new Map<Card, string>()
  #known = new Set<Card>()
  #drawn = new Map<string, Item>()

  /** The same items under their elements' keys; to be told every state that is drawn, in order. What stays as it was is the same object. */
  name(all: Item[]): Item[] {
    const backs = new Map<string, string>()
    const known = new Set<Card>()
    const named = all.map((item) => {
      const back = this.#backs.get(item.place)
      if (item.card === null) {
        const key = back ?? `back-${++this.#serial}`
        backs.set(item.place, key)
        return { ...item, key }
      }
      known.add(item.card)
      // A card that was seen elsewhere a moment ago has come back here, and covers that back.
      if (back !== undefined && !this.#known.has(item.card)) this.#turned.set(item.card, back)
      return { ...item, key: this.#turned.get(item.card) ?? item.card }
    })
    this.#backs = backs
    this.#known = known
    const since = ({ key }: Item): number => {
      if (!this.#order.has(key)) this.#order.set(key, this.#order.size)
      return this.#order.get(key) ?? 0
    }
    const drawn = named.map((item) => ({ item: this.#same(item), at: since(item) })).sort((a, b) => a.at - b.at).map(({ item }) => item)
    this.#drawn = new Map(drawn.map((item) => [item.key, item]))
    return drawn
  }

  #same(item: Item): Item {
    const before = this.#drawn.get(item.key)
    return before && alike(before, item) ? before : item
  }
}

function alike({ spot, ...a }: Item, { spot: other, ...b }: Item): boolean {
  const same = spot && other ? sameSpot(spot, other) : spot === other
  return same && (Object.keys(a) as (keyof typeof a)[]).every((key) => a[key] === b[key])
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
