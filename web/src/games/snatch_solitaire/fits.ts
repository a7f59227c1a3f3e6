/** “Does this card fit there”: all the rules that the client knows. Held to the Python kernel by golden cases. */

/** Rank then suit, `5h`; BACK when it is the own card and not known yet. */
export type Card = string

/** A card that a seat can't know until the engine shows it. It fits nowhere. */
export const BACK: Card = '??'

const RANKS = 'A23456789TJQK'

/** 1 to 13; 0 for a card that isn't known. */
export const rank = (card: Card): number => RANKS.indexOf(card.charAt(0)) + 1
export const suit = (card: Card): string => card.charAt(1)
export const isRed = (card: Card): boolean => suit(card) === 'h' || suit(card) === 'd'
export const known = (card: Card | null | undefined): card is Card => card != null && card !== BACK

/** On a middle pile whose top is `top`; null: on the bare table, where an ace opens a pile. */
export function fitsMiddle(card: Card, top: Card | null): boolean {
  if (!known(card)) return false
  if (top === null) return rank(card) === 1
  return suit(card) === suit(top) && rank(card) === rank(top) + 1
}

/** On a work pile whose top is `top`; null: on an empty one, which takes any card. */
export function fitsWork(card: Card, top: Card | null): boolean {
  if (!known(card)) return false
  if (top === null) return true
  return known(top) && rank(card) + 1 === rank(top) && isRed(card) !== isRed(top)
}
