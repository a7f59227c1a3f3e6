/**
 * Where a held card would go if it were let go now: by what it overlaps, or by how it is thrown.
 * And where it could go at all, to show it. Geometry and “does it fit”; no state.
 */
import type { GameMove, Mine, View } from '../../lib/wire'
import { landing, tops, type Flight } from './ahead'
import { fitsMiddle, rank, type Card } from './fits'
import type { Speed } from './gestures'
import type { Middle } from './items'
import { fanStep, overlap, workRect, type Layout, type Point, type Rect } from './layout'
import { cardsAt, dropOnMiddle, dropOnWork, type Spot } from './taps'

/** What a finger is on: a place, and the cards that lay there when it came down. */
export interface Grip {
  spot: Spot
  cards: Card[]
  /** Where its first card was seen, which may still have been on its way. */
  home: Point
  /** It only flew by: a tap means what lay at rest under the finger, or nothing. */
  beneath?: Grip | null
}

export interface Place {
  layout: Layout
  /** Where the middle is drawn. */
  middle: Rect
  grid: Middle
}

export interface Aim {
  move: GameMove
  middle: boolean
  /** The pile of the middle that it was dropped on. */
  pile: number | null
  work: number | null
}

/** So much of a card must lie over a pile to be dropped there; twice that over the middle. */
const ENOUGH = 0.12
/** So much of a pile of the middle must be covered to be meant. */
const MEANT = 0.2
/** A finger this fast throws, in CSS pixels per millisecond. */
const FLICK = 0.5
/** This fast it throws over a work pile that would take the card as well. */
const HARD_FLICK = 1

/** By overlap alone; `at`: where the first of its cards is now. */
export function aim(mine: Mine, { spot, cards }: Grip, at: Point, { layout: l, middle, grid }: Place): Aim | null {
  const card: Rect = { ...at, w: l.cw, h: l.ch }
  const run: Rect = { ...card, h: l.ch + runStep(mine, spot, l) * (cards.length - 1) }
  const least = l.cw * l.ch * ENOUGH
  let best: Aim | null = null
  let most = 0
  for (const [work, pile] of mine.work.entries()) {
    const area = overlap(run, workRect(l, work, pile.length))
    const move = area >= least && area > most ? dropOnWork(mine, spot, work) : null
    if (!move) continue
    best = { move, middle: false, pile: null, work }
    most = area
  }
  const over = overlap(card, middle)
  if (over < least * 2 || over <= most) return best
  const pile = pileUnder(card, middle, grid)
  const move = dropOnMiddle(mine, spot, pile)
  return move ? { move, middle: true, pile, work: null } : best
}

/** Let go at this speed: `aim`, or into the middle for a card that was thrown there. */
export function release(view: View, flights: readonly Flight[], grip: Grip, at: Point, speed: Speed, place: Place): GameMove | null {
  const { mine } = view
  if (!mine) return null
  const aimed = aim(mine, grip, at, place)
  const pace = Math.hypot(speed.x, speed.y)
  if (aimed?.middle || pace < FLICK || !towards(at, speed, place)) return aimed?.move ?? null
  const fits = landing(grip.cards[0] ?? '', tops(view, flights)) !== undefined
  if (aimed && !(fits && pace >= HARD_FLICK)) return aimed.move
  return dropOnMiddle(mine, grip.spot, null)
}

/** Upwards, wherever the middle lies; or straight at it. */
function towards(at: Point, speed: Speed, { layout: l, middle }: Place): boolean {
  if (speed.y < 0 && Math.abs(speed.x) < -speed.y) return true
  const [x, y] = [at.x + l.cw / 2, at.y + l.ch / 2]
  // When its line crosses the middle's left and right, and top and bottom: the spans must meet ahead.
  const span = (from: number, v: number, low: number, high: number): [number, number] => {
    if (v === 0) return low <= from && from <= high ? [-Infinity, Infinity] : [Infinity, -Infinity]
    const [a, b] = [(low - from) / v, (high - from) / v]
    return a < b ? [a, b] : [b, a]
  }
  const [x0, x1] = span(x, speed.x, middle.x, middle.x + middle.w)
  const [y0, y1] = span(y, speed.y, middle.y, middle.y + middle.h)
  return Math.max(x0, y0) <= Math.min(x1, y1) && Math.min(x1, y1) > 0
}

/** The pile that the card covers most, if it covers one at all. */
function pileUnder(card: Rect, middle: Rect, { grid, slots }: Middle): number | null {
  let best: number | null = null
  let most = grid.cw * grid.ch * MEANT
  for (const [i, id] of slots.entries()) {
    const at = grid.slots[i]
    if (id === null || !at) continue
    const area = overlap(card, { x: middle.x + at.x, y: middle.y + at.y, w: grid.cw, h: grid.ch })
    if (area <= most) continue
    best = id
    most = area
  }
  return best
}

/** How far apart the cards of a run lie while it is carried. */
export function runStep(mine: Mine, spot: Spot, l: Layout): number {
  return spot.at === 'work' ? fanStep(mine.work[spot.pile]?.length ?? 1, l) : 0
}

/** Where it may be let go. */
export interface Targets {
  /** Into the middle at all: a single card from a top. */
  middle: boolean
  /** It fits there as it lies now. */
  fits: boolean
  piles: number[]
  work: number[]
}

export function targets(view: View, flights: readonly Flight[], { spot }: Grip): Targets {
  const { mine } = view
  const card = mine ? cardsAt(mine, spot)[0] : undefined
  if (!mine || card === undefined) return { middle: false, fits: false, piles: [], work: [] }
  const middle = dropOnMiddle(mine, spot, null) !== null
  const all = middle ? tops(view, flights) : []
  return {
    middle,
    fits: middle && landing(card, all) !== undefined,
    piles: rank(card) === 1 ? [] : all.flatMap((top) => (top.id !== null && fitsMiddle(card, top.card) ? [top.id] : [])),
    work: mine.work.flatMap((_, to) => (dropOnWork(mine, spot, to) ? [to] : [])),
  }
}
