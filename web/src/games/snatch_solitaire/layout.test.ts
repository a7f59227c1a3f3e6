import { describe, expect, test } from 'vitest'
import { grid, layout, PEEK, reslot, workRect } from './layout'

const SIZES = [
  [360, 592],
  [390, 796],
  [320, 520],
  [740, 312],
  [844, 342],
  [568, 272],
  [768, 976],
  [1024, 720],
  [1280, 752],
  [1920, 1032],
] as const

describe.each(SIZES)('a table of %i × %i', (w, h) => {
  const l = layout(w, h)

  test('shows all own cards within its edges, thirteen in a pile too', () => {
    for (const at of [l.snatch, l.turned, l.stock]) {
      expect(at.x).toBeGreaterThanOrEqual(0)
      expect(at.x + l.cw).toBeLessThanOrEqual(w)
      expect(at.y + l.ch).toBeLessThanOrEqual(h)
    }
    for (let i = 0; i < 4; i++) {
      const rect = workRect(l, i, 13)
      expect(rect.x).toBeGreaterThanOrEqual(0)
      expect(rect.x + rect.w).toBeLessThanOrEqual(w)
      expect(rect.y + rect.h).toBeLessThanOrEqual(h)
      if (l.shape !== 'wide') expect(rect.y + rect.h).toBeLessThanOrEqual(l.snatch.y)
    }
    expect(l.cw).toBeGreaterThanOrEqual(40)
  })

  test('keeps the middle clear of own cards and strip', () => {
    expect(l.middle.h).toBeGreaterThan(90)
    expect(l.middle.y).toBeGreaterThanOrEqual(l.strip.y + l.strip.h)
    if (l.shape === 'side') expect(l.middle.x + l.middle.w).toBeLessThanOrEqual(l.own.x)
    else expect(l.middle.y + l.middle.h).toBeLessThanOrEqual(l.own.y)
  })

  test('shows eight seats with four aces each (case 31)', () => {
    const { cw, ch, slots } = grid(32, l.middle.w, l.middle.h)
    expect(slots).toHaveLength(32)
    expect(cw).toBeGreaterThanOrEqual(16)
    for (const at of slots) {
      expect(at.x).toBeGreaterThanOrEqual(0)
      expect(at.y - 2 * PEEK * ch).toBeGreaterThanOrEqual(-0.5)
      expect(at.x + cw).toBeLessThanOrEqual(l.middle.w + 0.5)
      expect(at.y + ch).toBeLessThanOrEqual(l.middle.h + 0.5)
    }
  })
})

test('a pile keeps its place when others leave; a new one takes the first free place', () => {
  const first = reslot([], [1, 2, 3])
  expect(first).toEqual([1, 2, 3])
  const second = reslot(first, [1, 3])
  expect(second).toEqual([1, null, 3])
  expect(reslot(second, [1, 3, 4, 5])).toEqual([1, 4, 3, 5])
  expect(reslot(first, [3, 1, 2])).toBe(first)
})
