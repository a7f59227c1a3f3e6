/** The small pattern of a back: the player's own shape, over and over, as one path. */

import { SHAPES } from './colours'

const STEP_X = 14
const STEP_Y = 15
const SCALE = 0.36

const drawn = new Map<number, string>()

/** Built once per colour; the commands of SHAPES are moved and shrunk number by number. */
export function backPattern(colour: number): string {
  const known = drawn.get(colour)
  if (known !== undefined) return known
  let path = ''
  for (let row = 0; row < 8; row++) {
    for (let col = 0; col < 6; col++) {
      const shift = row % 2 === 0 ? 0 : STEP_X / 2
      if (col === 5 && shift > 0) continue
      path += placed(SHAPES[colour] ?? '', 10.7 + col * STEP_X + shift, 13.2 + row * STEP_Y)
    }
  }
  drawn.set(colour, path)
  return path
}

/** The same path, shrunk, with its own origin at x, y. */
function placed(path: string, x: number, y: number): string {
  return path.replace(/([A-Za-z])([^A-Za-z]*)/g, (_, command: string, rest: string) => {
    const numbers = (rest.match(/-?\d*\.?\d+/g) ?? []).map(Number)
    return command + moved(command, numbers, x, y).join(' ')
  })
}

function moved(command: string, numbers: number[], x: number, y: number): string[] {
  const relative = command === command.toLowerCase()
  const axes = command.toUpperCase() === 'H' ? 'x' : command.toUpperCase() === 'V' ? 'y' : 'xy'
  const arc = command.toUpperCase() === 'A'
  return numbers.map((value, index) => {
    if (arc) {
      const part = index % 7
      if (part === 0 || part === 1) return short(value * SCALE)
      if (part < 5) return String(value)
      return short(value * SCALE + (relative ? 0 : part === 5 ? x : y))
    }
    const axis = axes === 'xy' ? (index % 2 === 0 ? 'x' : 'y') : axes
    return short(value * SCALE + (relative ? 0 : axis === 'x' ? x : y))
  })
}

const short = (value: number): string => String(Math.round(value * 100) / 100)
