/**
 * What to show while answers are on their way: the engine's view with the own
 * pending moves on top, each only while its card is still where it was.
 *
 * A move among the own cards shows as done. A card for the middle is in flight: out of
 * its place, over the middle, counted nowhere. A card that only the engine knows is BACK.
 */
import type { GameEvent, GameMove, Mine, View } from '../../lib/wire'
import { BACK, fitsMiddle, fitsWork, known, rank, type Card } from './fits'

export interface Ahead {
  /** As `Outbox` names it. */
  key: number
  m: GameMove
  /** Its public part is in the view already: the count, or the card in the middle. */
  half: boolean
}

export interface Flight {
  key: number
  card: Card
  /** The pile that it is shown over; null: a new one (an ace), or nowhere it fits. */
  pile: number | null
}

/** The own cards before the last own-cards move, to show an undo at once. Null: not known. */
export interface Before {
  mine: Mine
  /**
   * So many cards an undo puts back onto the snatch pile, 0 or 1. Not the count itself: that may
   * have gone on by the public parts of later moves, and turning the stock has no public part.
   */
  back: number
}

export interface Shown {
  view: View
  flights: Flight[]
  before: Before | null
}

export const leftOf = (view: View, seat: number): number => view.seats.find((s) => s.seat === seat)?.left ?? 0

/** Piles with their top card, cards in flight counted as landed: what a next card may go on. */
export interface Top {
  /** Null: a pile that an ace in flight is going to open. */
  id: number | null
  card: Card
}

export function tops(view: View, flights: readonly Flight[]): Top[] {
  const all: Top[] = view.middle.flatMap((pile) => {
    const top = pile.top.at(-1)
    return top ? [{ id: pile.id, card: top.card }] : []
  })
  for (const flight of flights) {
    const at = all.find((top) => top.id === flight.pile && fitsMiddle(flight.card, top.card)) ?? all.find((top) => fitsMiddle(flight.card, top.card))
    if (at) at.card = flight.card
    else if (rank(flight.card) === 1) all.push({ id: null, card: flight.card })
  }
  return all
}

/** `undefined`: it fits nowhere; null: it opens a pile, or follows a card that does. */
export function landing(card: Card, all: readonly Top[], named: number | null = null): number | null | undefined {
  if (!known(card)) return undefined
  if (rank(card) === 1) return null
  const fitting = all.filter((top) => fitsMiddle(card, top.card))
  const at = fitting.find((top) => named !== null && top.id === named) ?? fitting[0]
  return at ? at.id : undefined
}

/** The last own card of a place, with what lies there. */
export function topOf(mine: Mine, src: 'snatch' | 'turned' | 'work', work: number | null | undefined): Card | null {
  if (src === 'snatch') return mine.snatch
  if (src === 'turned') return mine.turned.at(-1) ?? null
  return mine.work[work ?? -1]?.at(-1) ?? null
}

export function showAhead(confirmed: View, before: Before | null, seat: number | null, pending: readonly Ahead[]): Shown {
  const shown: Shown = { view: confirmed, flights: [], before }
  if (seat === null || !confirmed.mine || pending.length === 0) return shown
  let left = leftOf(confirmed, seat)
  /** Cards in the snatch pile that are not in flight: is there another under the top? */
  let under = left
  let mine: Mine = confirmed.mine

  const take = (src: 'snatch' | 'turned' | 'work', work: number | null | undefined, count: number, half: boolean): void => {
    if (src === 'snatch') {
      if (!half) under -= 1
      mine = { ...mine, snatch: under > 0 ? BACK : null }
    } else if (src === 'turned') {
      mine = { ...mine, turned: mine.turned.slice(0, -1) }
    } else {
      mine = { ...mine, work: mine.work.map((pile, i) => (i === work ? pile.slice(0, pile.length - count) : pile)) }
    }
  }
  const remember = (back = 0): void => {
    shown.before = { mine, back }
  }

  for (const { key, m, half } of pending) {
    switch (m.t) {
      case 'middle': {
        if (topOf(mine, m.src, m.work) !== m.card) break
        take(m.src, m.work, 1, half)
        if (!half) {
          const pile = landing(m.card, tops(confirmed, shown.flights), m.pile ?? null)
          shown.flights.push({ key, card: m.card, pile: pile ?? m.pile ?? null })
        } else {
          // It landed, and that empties the undo.
          mine = { ...mine, undo: false }
          shown.before = null
        }
        break
      }
      case 'work': {
        const run = runOf(mine, m)
        const target = mine.work[m.to]
        if (!run || !target || (m.src === 'work' && m.work === m.to)) break
        if (!fitsWork(m.card, target.at(-1) ?? null)) break
        remember(m.src === 'snatch' ? 1 : 0)
        take(m.src, m.work, run.length, half)
        if (m.src === 'snatch' && !half) left -= 1
        mine = { ...mine, work: mine.work.map((pile, i) => (i === m.to ? [...pile, ...run] : pile)), undo: true }
        break
      }
      case 'turn':
        if (mine.stock > 0) {
          remember()
          mine = { ...mine, stock: mine.stock - 1, turned: [...mine.turned, BACK], undo: true }
        } else if (mine.turned.length > 0) {
          remember()
          mine = { ...mine, stock: mine.turned.length, turned: [], undo: true }
        }
        break
      case 'undo':
        if (!mine.undo) break
        if (shown.before) {
          mine = { ...shown.before.mine, stuck: mine.stuck ?? false }
          // A public part that has come has set the count.
          if (!half) {
            left += shown.before.back
            under += shown.before.back
          }
        }
        mine = { ...mine, undo: false }
        shown.before = null
        break
      case 'end_hand':
        break
    }
  }

  const seats = confirmed.seats.map((s) => (s.seat === seat ? { ...s, left } : s))
  shown.view = { ...confirmed, seats, mine }
  return shown
}

/** The cards that a move onto a work pile takes along, head first; null: they are not there. */
function runOf(mine: Mine, m: Extract<GameMove, { t: 'work' }>): Card[] | null {
  if (m.src !== 'work') return topOf(mine, m.src, null) === m.card ? [m.card] : null
  const pile = mine.work[m.work ?? -1]
  const at = pile?.indexOf(m.card) ?? -1
  return pile && at >= 0 ? pile.slice(at) : null
}

/** What an undo would bring back, after one more event of the engine's. `view` is the one before it. */
export function remembered(before: Before | null, view: View, seat: number | null, event: GameEvent): Before | null {
  if (seat === null || !view.mine) return null
  switch (event.t) {
    case 'worked':
      return { mine: { ...view.mine, undo: false }, back: event.src === 'snatch' ? 1 : 0 }
    case 'turned':
    case 'turned_over':
      return { mine: { ...view.mine, undo: false }, back: 0 }
    case 'your_placed':
    case 'your_snatch_turn':
    case 'undone':
    case 'your_deal':
    case 'dealt':
      return null
    default:
      return before
  }
}
