/**
 * Paths moved and scaled beforehand. A `transform` on a path would say the same, but browsers keep a place of its
 * own for each of them in what they compose a frame of: with a hundred cards on a table that was half of a frame.
 */

const placed = new Map<string, string>()

/** The same path with its own origin at x, y, `sx` times as wide and `sy` times as high. Arcs may not be turned. */
export function place(path: string, x: number, y: number, sx: number, sy = sx): string {
  const key = `${x} ${y} ${sx} ${sy} ${path}`
  const known = placed.get(key)
  if (known !== undefined) return known
  const made = path.replace(/([A-Za-z])([^A-Za-z]*)/g, (_, command: string, rest: string) => {
    const numbers = (rest.match(/-?\d*\.?\d+/g) ?? []).map(Number)
    return command + scaled(command, numbers, x, y, sx, sy).join(' ')
  })
  placed.set(key, made)
  return made
}

function scaled(command: string, numbers: number[], x: number, y: number, sx: number, sy: number): string[] {
  const relative = command === command.toLowerCase()
  const along = (value: number): string => short(value * sx + (relative ? 0 : x))
  const down = (value: number): string => short(value * sy + (relative ? 0 : y))
  const axes = command.toUpperCase()
  return numbers.map((value, index) => {
    if (axes === 'H') return along(value)
    if (axes === 'V') return down(value)
    if (axes !== 'A') return index % 2 === 0 ? along(value) : down(value)
    // Radii, an angle and two flags, then where to.
    const part = index % 7
    if (part < 2) return short(value * (part === 0 ? sx : sy))
    if (part < 5) return String(value)
    return part === 5 ? along(value) : down(value)
  })
}

const short = (value: number): string => String(Math.round(value * 100) / 100)
