/** What a card's face is made of: our own strokes for ranks, our own shapes for suits. */
import { words } from '../messages/words.svelte'

export type Suit = 's' | 'h' | 'd' | 'c'
export type Rank = 'A' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9' | 'T' | 'J' | 'Q' | 'K'

/** A card is drawn in a box of 100 × 140. */
export const CARD = { width: 100, height: 140 } as const

/** How the index of a card lies, of which only so much shows, 0 to 1 of its height. */
export function indexAt(bare: number): { scale: number; x: number; y: number } {
  const scale = Math.max(0.3, Math.min(1.08, (bare * CARD.height - 1.6) / INDEX_H))
  return { scale, x: 5 + 3 * scale, y: 1 + 6 * scale }
}
/** From the card's edge to the index' lower one, at scale 1. */
const INDEX_H = 38.7

/** Stroked with round ends, cap height 30; `width` is how far the glyph reaches. */
export const RANKS: Record<Rank, { d: string; width: number }> = {
  A: { d: 'M1 29.5 10 1 19 29.5M4.6 20.5h10.8', width: 20 },
  '2': { d: 'M2 9.5C2-1.8 18.3-1.8 18.3 8.6 18.3 14.5 12 18.5 2 29h17', width: 20 },
  '3': { d: 'M3 1.5h14L9.5 12.5C15 12.2 18.3 15.4 18.3 20 18.3 31.5 4 32 1.5 23.5', width: 20 },
  '4': { d: 'M14.5 29.5V1.5L1.5 21.5H19.5', width: 21 },
  '5': { d: 'M17 1.5H4.8L3.5 13.5C8.5 10.3 18.6 10.5 18.6 19.8 18.6 31.5 4.5 32 1.5 24.5', width: 20 },
  '6': { d: 'M14.5 1C7.5 5.5 2 12.5 2 20.6A8.2 8.6 0 1 0 18.4 20.6 8.2 8.6 0 0 0 2.8 17.5', width: 20 },
  '7': { d: 'M2 1.5H18.5L8 29.5', width: 20 },
  '8': {
    d: 'M10.2 13.6A6.9 6.3 0 1 1 10.2 1 6.9 6.3 0 1 1 10.2 13.6 8.4 7.95 0 1 1 10.2 29.5 8.4 7.95 0 1 1 10.2 13.6Z',
    width: 20,
  },
  '9': { d: 'M6 29.5C13 25 18.5 18 18.5 9.9A8.2 8.6 0 1 0 2.1 9.9 8.2 8.6 0 0 0 17.7 13', width: 20 },
  T: { d: 'M1 6.5 5.5 1.5V29.5M21.5 1C31.8 1 31.8 29.5 21.5 29.5 11.2 29.5 11.2 1 21.5 1Z', width: 30 },
  J: { d: 'M7.5 1.5H15V21C15 32 1.5 32 1.5 21.5', width: 17 },
  Q: { d: 'M10.5 1C22 1 22 29 10.5 29-1 29-1 1 10.5 1ZM11.5 20.5 19 30.5', width: 21 },
  K: { d: 'M2 1V29.5M18 1 2 18.5M8.2 12 19 29.5', width: 20 },
}

/** Filled, in a box of 100 × 100. */
export const SUITS: Record<Suit, string> = {
  h: 'M50 93C21 69 5 51 5 31 5 16 16 6 29 6 39 6 46 11 50 20 54 11 61 6 71 6 84 6 95 16 95 31 95 51 79 69 50 93Z',
  d: 'M50 1C61 21 75 37 92 50 75 63 61 79 50 99 39 79 25 63 8 50 25 37 39 21 50 1Z',
  s: 'M50 3C69 28 93 42 93 63 93 77 83 84 73 84 65 84 59 81 55 75 56 85 59 92 67 97H33C41 92 44 85 45 75 41 81 35 84 27 84 17 84 7 77 7 63 7 42 31 28 50 3Z',
  c: 'M50 3A21.5 21.5 0 0 1 66 39 21.5 21.5 0 1 1 55.5 67C56 83 60 91 68 97H32C40 91 44 83 44.5 67A21.5 21.5 0 1 1 34 39 21.5 21.5 0 0 1 50 3Z',
}

export const rankOf = (card: string): Rank => card[0] as Rank
export const suitOf = (card: string): Suit => card[1] as Suit
export const isCourt = (card: string): boolean => 'JQK'.includes(rankOf(card))

/** As a screen reader says it: “5 of hearts”. */
export const cardName = (card: string): string =>
  words.cards.named(words.cards.ranks[rankOf(card)], words.cards.suits[suitOf(card)])
