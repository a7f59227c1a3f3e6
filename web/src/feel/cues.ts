/** Which moment of a game is heard and felt, and as what. Pure. */
import { rankOf } from '../cards/faces'
import type { AnyEvent, AnyMove, No } from '../lib/wire'

/**
 * `turn`, `over`: the stock. `lay`: onto an own pile. `send`: off to the middle. `land`, `theirs`: in the
 * middle, the own card or another's. `king`: it finished a pile. `snatched`, `home`: an own card comes back.
 */
export type CueName =
  | 'turn'
  | 'over'
  | 'lay'
  | 'send'
  | 'undo'
  | 'land'
  | 'theirs'
  | 'king'
  | 'snatched'
  | 'home'
  | 'tick'
  | 'go'
  | 'ended'
  | 'won'
  | 'stuck'
  | 'riffle'
  | 'pause'
  | 'resume'

export interface Cue {
  name: CueName
  /** 0 for an ace to 12 for a king: a pile that grows is a tune that climbs. */
  rank?: number
}

const ORDER = 'A23456789TJQK'

/** At the touch, before anybody has answered. */
export function ofMove(move: AnyMove): Cue | null {
  switch (move.t) {
    case 'turn':
      return { name: 'turn' }
    case 'work':
      return { name: 'lay' }
    case 'middle':
      return { name: 'send' }
    case 'undo':
      return { name: 'undo' }
    default:
      return null
  }
}

export function ofEvent(event: AnyEvent, me: number | null): Cue | null {
  switch (event.t) {
    case 'placed': {
      if (event.done) return { name: 'king' }
      return { name: event.seat === me ? 'land' : 'theirs', rank: ORDER.indexOf(rankOf(event.card)) }
    }
    case 'turned_over':
      return { name: 'over' }
    case 'live':
      return { name: 'go' }
    case 'hand_ended':
      return { name: me !== null && event.result.by === me ? 'won' : 'ended' }
    case 'standings':
      return { name: me !== null && event.outcome.winners.includes(me) ? 'won' : 'ended' }
    case 'all_stuck':
      return event.stuck ? { name: 'stuck' } : null
    case 'snatch_turn':
      return { name: 'riffle' }
    case 'paused':
      return { name: 'pause' }
    case 'resumed':
      return { name: 'resume' }
    default:
      return null
  }
}

/** What comes back because the game stood still comes back quietly. */
export function ofRefusal(no: No): Cue | null {
  if (no.code === 'snatched') return { name: 'snatched' }
  return no.code === 'no_pile' ? { name: 'home' } : null
}
