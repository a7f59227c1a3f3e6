/** The eight players' colours, each with a shape of its own, so that no one needs to see hues. */
import { words } from '../messages/words.svelte'

/** Filled, in a box of 24 × 24: circle, triangle, square, star, hexagon, plus, moon, bolt. */
export const SHAPES: readonly string[] = [
  'M12 2.5a9.5 9.5 0 1 1 0 19 9.5 9.5 0 0 1 0-19Z',
  'M12 2 23 21H1Z',
  'M3.5 3.5h17v17h-17Z',
  'M12 1.2 15.1 8.5 23 9.2 17 14.4 18.8 22.2 12 18 5.2 22.2 7 14.4 1 9.2 8.9 8.5Z',
  'M12 1.5 21.3 6.8V17.2L12 22.5 2.7 17.2V6.8Z',
  'M8.5 2h7v6.5H22v7h-6.5V22h-7v-6.5H2v-7h6.5Z',
  'M15 1.5A10.7 10.7 0 1 0 22.5 16.5 9 9 0 0 1 15 1.5Z',
  'M14.5 1 3.5 13.8H10L8 23 20.5 9.5H13.2Z',
]

/** A colour number from the wire, whatever it is, as one of the eight. */
export const colourIndex = (colour: number): number => ((colour % 8) + 8) % 8

/** For `aria-label`s: “coral circle”. */
export const colourName = (colour: number): string =>
  words.cards.coloured(words.cards.colours[colourIndex(colour)] ?? '', words.cards.shapes[colourIndex(colour)] ?? '')
