/** The small pattern of a back: the player's own shape, over and over, as one path. */

import { SHAPES } from './colours'
import { place } from './paths'

const STEP_X = 14
const STEP_Y = 15
const SCALE = 0.36

const drawn = new Map<number, string>()

/** Built once per colour. */
export function backPattern(colour: number): string {
  const known = drawn.get(colour)
  if (known !== undefined) return known
  let path = ''
  for (let row = 0; row < 8; row++) {
    for (let col = 0; col < 6; col++) {
      const shift = row % 2 === 0 ? 0 : STEP_X / 2
      if (col === 5 && shift > 0) continue
      path += place(SHAPES[colour] ?? '', 10.7 + col * STEP_X + shift, 13.2 + row * STEP_Y, SCALE)
    }
  }
  drawn.set(colour, path)
  return path
}
