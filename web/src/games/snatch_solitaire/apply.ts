/**
 * Takes an event as sent into a view: `Game.apply` of the Python kernel once more.
 * Held to it by games/snatch_solitaire/golden/apply.json.
 */
import type { GameEvent, Mine, View } from '../../lib/wire'

/** Cards of a middle pile that a screen shows. */
export const SHOWN = 3
/** Cards that everyone begins a hand with in their snatch pile. */
export const SNATCH_PILE = 13

export const nothing = (): View => ({ hand: 0, seats: [], middle: [] })

/** The view after the event; the one given is left as it was. */
export function apply(view: View, event: GameEvent): View {
  switch (event.t) {
    case 'dealt':
      return dealt(view, event.seats)
    case 'your_deal':
      return { ...view, mine: event.mine }
    case 'undone':
      return mine(view, () => event.mine)
    case 'placed':
      return { ...withLeft(view, event.seat, event.left), middle: placed(view, event) }
    case 'your_placed':
      return mine(view, (own) => ({ ...taken(own, event.src, event.work ?? null, 1, event.snatch ?? null), undo: false }))
    case 'left':
      return withLeft(view, event.seat, event.left)
    case 'worked':
      return mine(view, (own) => {
        const after = taken(own, event.src, event.work ?? null, event.cards.length, event.snatch ?? null)
        return { ...after, work: after.work.map((pile, i) => (i === event.to ? [...pile, ...event.cards] : pile)), undo: true }
      })
    case 'turned':
      return mine(view, (own) => ({ ...own, stock: own.stock - 1, turned: [...own.turned, event.card], undo: true }))
    case 'turned_over':
      return mine(view, (own) => ({ ...own, stock: own.turned.length, turned: [], undo: true }))
    case 'stuck':
      return mine(view, (own) => ({ ...own, stuck: event.stuck }))
    case 'all_stuck':
      return { ...view, all_stuck: event.stuck }
    case 'snatch_turn':
      return { ...view, turns: event.turns, all_stuck: false }
    case 'your_snatch_turn':
      return mine(view, (own) => ({ ...own, snatch: event.snatch ?? null, undo: false }))
    case 'end_offered':
      return { ...view, end_offered: event.offered }
    case 'hand_ended':
      return {
        ...mine(view, (own) => ({ ...own, undo: false, stuck: false })),
        result: event.result,
        all_stuck: false,
        end_offered: false,
      }
  }
}

/** An empty middle, a full snatch pile for everyone, and the totals of the hand before. */
function dealt(view: View, seats: readonly number[]): View {
  const totals = new Map(view.result?.scores.map((score) => [score.seat, score.total]))
  return {
    hand: view.hand + 1,
    seats: seats.map((seat) => ({ seat, left: SNATCH_PILE, total: totals.get(seat) ?? 0 })),
    middle: [],
    turns: 0,
    all_stuck: false,
    end_offered: false,
    result: null,
    mine: null,
  }
}

/** The own parts of a moment come after its public ones: after the hand's end nothing can be undone, nobody is stuck. */
function mine(view: View, change: (own: Mine) => Mine): View {
  if (!view.mine) return view
  const own = change(view.mine)
  return { ...view, mine: view.result ? { ...own, undo: false, stuck: false } : own }
}

/** The own cards without the last `count` of a place. */
function taken(own: Mine, src: 'snatch' | 'turned' | 'work', work: number | null, count: number, snatch: string | null): Mine {
  if (src === 'snatch') return { ...own, snatch }
  if (src === 'turned') return { ...own, turned: own.turned.slice(0, -1) }
  return { ...own, work: own.work.map((pile, i) => (i === work ? pile.slice(0, pile.length - count) : pile)) }
}

function withLeft(view: View, seat: number, left: number): View {
  return { ...view, seats: view.seats.map((s) => (s.seat === seat ? { ...s, left } : s)) }
}

function placed(view: View, event: Extract<GameEvent, { t: 'placed' }>): View['middle'] {
  const card = { card: event.card, seat: event.seat }
  if (event.done) return view.middle.filter((pile) => pile.id !== event.pile)
  if (!view.middle.some((pile) => pile.id === event.pile)) return [...view.middle, { id: event.pile, top: [card] }]
  return view.middle.map((pile) => (pile.id === event.pile ? { ...pile, top: [...pile.top, card].slice(-SHOWN) } : pile))
}
