/** What a tap or a drop asks for: the rules' section “Taps”, and where dragged cards may land. */
import type { GameMove, Mine, View } from '../../lib/wire'
import { landing, tops, topOf, type Flight } from './ahead'
import { fitsWork, known, type Card } from './fits'

/** A place of the own cards. `index` counts a work pile's cards from its head. */
export type Spot =
  | { at: 'snatch' }
  | { at: 'turned' }
  | { at: 'stock' }
  | { at: 'work'; pile: number; index: number }

export const spotName = (spot: Spot): string => (spot.at === 'work' ? `work-${spot.pile}` : spot.at)

/** As `data-spot` has it. */
export const spotKey = (spot: Spot): string => (spot.at === 'work' ? `work-${spot.pile}-${spot.index}` : spot.at)

export const sameSpot = (a: Spot, b: Spot): boolean => spotKey(a) === spotKey(b)

/** The cards that move with the one at this spot; empty: nothing there that can be moved. */
export function cardsAt(mine: Mine, spot: Spot): Card[] {
  if (spot.at === 'stock') return []
  const cards = spot.at === 'work' ? (mine.work[spot.pile]?.slice(spot.index) ?? []) : [topOf(mine, spot.at, null)]
  return cards.every(known) ? cards : []
}

const isTop = (mine: Mine, spot: Spot): boolean => spot.at !== 'work' || spot.index === (mine.work[spot.pile]?.length ?? 0) - 1

/** The middle if it fits; else the leftmost work pile with cards that it fits; else an empty one; else nothing. */
export function tap(view: View, flights: readonly Flight[], spot: Spot): GameMove | null {
  const mine = view.mine
  if (!mine) return null
  if (spot.at === 'stock') return mine.stock > 0 || mine.turned.length > 0 ? { t: 'turn' } : null
  const card = cardsAt(mine, spot)[0]
  if (card === undefined) return null
  if (isTop(mine, spot) && landing(card, tops(view, flights)) !== undefined) return toMiddle(card, spot, null)
  const open = mine.work.map((pile, to) => ({ to, top: pile.at(-1) ?? null })).filter(({ to }) => spot.at !== 'work' || to !== spot.pile)
  const on = open.find(({ top }) => top !== null && fitsWork(card, top))
  if (on) return toWork(card, spot, on.to)
  // The head of a pile would leave one empty pile for another.
  if (spot.at === 'work' && spot.index === 0) return null
  const empty = open.find(({ top }) => top === null)
  return empty ? toWork(card, spot, empty.to) : null
}

/** Dropped on a work pile; null when it doesn't fit there. */
export function dropOnWork(mine: Mine, spot: Spot, to: number): GameMove | null {
  const card = cardsAt(mine, spot)[0]
  const pile = mine.work[to]
  if (card === undefined || !pile || (spot.at === 'work' && spot.pile === to)) return null
  if (!fitsWork(card, pile.at(-1) ?? null)) return null
  return toWork(card, spot, to)
}

/** Dropped on the middle, on one pile or anywhere. Whether it fits is the engine's to say. */
export function dropOnMiddle(mine: Mine, spot: Spot, pile: number | null): GameMove | null {
  const cards = cardsAt(mine, spot)
  const card = cards[0]
  return card !== undefined && cards.length === 1 && isTop(mine, spot) ? toMiddle(card, spot, pile) : null
}

function toMiddle(card: Card, spot: Spot, pile: number | null): GameMove | null {
  const where = pile === null ? {} : { pile }
  if (spot.at === 'stock') return null
  if (spot.at === 'work') return { t: 'middle', card, src: 'work', work: spot.pile, ...where }
  return { t: 'middle', card, src: spot.at, ...where }
}

function toWork(card: Card, spot: Spot, to: number): GameMove | null {
  if (spot.at === 'stock') return null
  if (spot.at === 'work') return { t: 'work', card, src: 'work', work: spot.pile, to }
  return { t: 'work', card, src: spot.at, to }
}
