/**
 * What a learner is shown: one good move, the one that a tap on the named card makes.
 *
 * Advice, not rules: of the moves that `tap` answers it takes the one that does most for
 * the snatch pile. It never sees more than the player does, and never says two things.
 */
import { topOf, tops, type Flight } from '../../games/snatch_solitaire/ahead'
import { fitsMiddle, known, rank, type Card } from '../../games/snatch_solitaire/fits'
import { tap, type Spot } from '../../games/snatch_solitaire/taps'
import type { GameMove, Mine, View } from '../../lib/wire'

/** What kind of move it is: each has words of its own, best first. */
export const KINDS = ['ace', 'middle', 'snatch', 'frees_pile', 'frees_card', 'turned', 'turn', 'turn_over'] as const
export type Kind = (typeof KINDS)[number]

export interface Hint {
  kind: Kind
  /** What to tap. */
  spot: Spot
  /** Null on the stock. */
  card: Card | null
  /** What it goes on; null: nothing lies there, or it is the stock's. */
  on: Card | null
  /** The middle pile that it goes on; null: none, or a new one. */
  pile: number | null
  move: GameMove
}

/** Null: nothing of one's own to do; the others may open something in the middle. */
export function hint(view: View, flights: readonly Flight[]): Hint | null {
  const mine = view.mine
  if (!mine) return null
  const found = spots(mine).flatMap((spot) => look(view, flights, mine, spot) ?? [])
  // Of equal ones the first: the snatch pile, then work piles from the left, then the turned card.
  return found.reduce<Hint | null>((best, one) => (best && weight(best) <= weight(one) ? best : one), null)
}

const weight = (one: Hint): number => KINDS.indexOf(one.kind === 'ace' ? 'middle' : one.kind)

function spots(mine: Mine): Spot[] {
  const work = mine.work.flatMap((pile, at) => pile.map((_, index): Spot => ({ at: 'work', pile: at, index })))
  return [{ at: 'snatch' }, ...work, { at: 'turned' }, { at: 'stock' }]
}

function look(view: View, flights: readonly Flight[], mine: Mine, spot: Spot): Hint | null {
  const move = tap(view, flights, spot)
  switch (move?.t) {
    case 'turn':
      return { kind: mine.stock > 0 ? 'turn' : 'turn_over', spot, card: null, on: null, pile: null, move }
    case 'middle': {
      const below = tops(view, flights).find((top) => fitsMiddle(move.card, top.card))
      return { kind: rank(move.card) === 1 ? 'ace' : 'middle', spot, card: move.card, on: below?.card ?? null, pile: below?.id ?? null, move }
    }
    case 'work': {
      const on = topOf(mine, 'work', move.to)
      const kind = worth(view, flights, mine, spot, on)
      return kind && { kind, spot, card: move.card, on, pile: null, move }
    }
    default:
      return null
  }
}

/** What a move among the own cards is good for; null: it only shuffles. */
function worth(view: View, flights: readonly Flight[], mine: Mine, spot: Spot, on: Card | null): Kind | null {
  if (spot.at === 'snatch') return 'snatch'
  if (spot.at === 'turned') return on === null ? null : 'turned'
  if (spot.at !== 'work') return null
  if (spot.index === 0) return on === null ? null : 'frees_pile'
  const bared = mine.work[spot.pile]?.[spot.index - 1]
  // Only for the middle: a snatch card that fits on the bared card fits where the run goes as well.
  return known(bared) && tops(view, flights).some((top) => fitsMiddle(bared, top.card)) ? 'frees_card' : null
}
