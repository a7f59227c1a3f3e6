/** What scores and standings say beyond the numbers that came over the wire. */

import type { Member, Options } from '../lib/wire'

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
