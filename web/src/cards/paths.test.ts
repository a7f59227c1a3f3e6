import { describe, expect, it } from 'vitest'
import { SUITS } from './faces'
import { place } from './paths'

describe('a path placed beforehand', () => {
  it('what is said from the origin moves and grows, what is said from the pen only grows', () => {
    expect(place('M1 2L3 4h5v6q1 1 2 2Z', 10, 20, 2, 3)).toBe('M12 26L16 32h10v18q2 3 4 6Z')
    expect(place('M1 2H3V4', 10, 20, 2, 3)).toBe('M12 26H16V32')
  })

  it('an arc’s radii grow, its angle and flags stay', () => {
    expect(place('M0 0A5 6 0 1 0 7 8a1 1 0 0 1 2 2', 10, 20, 2, 3)).toBe('M10 20A10 18 0 1 0 24 44a2 3 0 0 1 4 6')
  })

  it('numbers without a space between them are told apart', () => {
    expect(place('M2 9.5C2-1.8 18.3-1.8 18.3 8.6', 0, 0, 1)).toBe('M2 9.5C2 -1.8 18.3 -1.8 18.3 8.6')
  })

  it('every suit stays where it was put', () => {
    for (const path of Object.values(SUITS)) {
      const [, x, y] = /^M(-?[\d.]+) (-?[\d.]+)/.exec(place(path, 10, 20, 0.5)) ?? []
      expect(Number(x)).toBeGreaterThanOrEqual(10)
      expect(Number(x)).toBeLessThanOrEqual(60)
      expect(Number(y)).toBeGreaterThanOrEqual(20)
      expect(Number(y)).toBeLessThanOrEqual(70)
    }
  })
})
