/** What scores and standings say beyond the numbers that came over the wire. */

import type { HandResult, Member, Options, Outcome } from '../lib/wire'
import { words } from '../messages/words.svelte'

/** What a player's session and the TV's both answer. */
export interface Who {
  memberOf(seat: number): Member | null
  nameOf(seat: number): string
  colourOf(seat: number): number
}

/** The total that ends the game, or null when one hand is the game. */
export function target(options: Options): number | null {
  return { one: null, to25: 25, to50: 50 }[options.length ?? 'one']
}

/** Who ended the hand; `me`: the own seat. */
export function whoEmptied(result: HandResult | null, who: Who, me: number | null = null): string {
  if (!result) return ''
  const by = result.by ?? null
  if (by === null) return words.scores.ended
  return by === me ? words.scores.youEmptied : words.scores.emptied(who.nameOf(by))
}

/** Who won the game, alone or with others; `me`: the own seat. */
export function whoWon({ winners }: Outcome, who: Who, me: number | null = null): string {
  const [first] = winners
  if (first === undefined) return words.standings.title
  if (winners.length > 1) return words.standings.share(winners.map((seat) => who.nameOf(seat)))
  return first === me ? words.standings.youWin : words.standings.win(who.nameOf(first))
}
