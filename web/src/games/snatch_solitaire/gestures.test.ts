import { describe, expect, test } from 'vitest'
import { Gestures, type Speed } from './gestures'

function twin(grab = true) {
  const log: string[] = []
  const speeds: Speed[] = []
  const gestures = new Gestures<string>({
    tap: (on) => log.push(`tap ${on}`),
    grab: () => grab,
    changed: () => undefined,
    drop: (held, speed) => {
      log.push(`drop ${held.on} ${held.dx},${held.dy}`)
      speeds.push(speed)
    },
  })
  return { gestures, log, speeds }
}

describe('fingers', () => {
  test('a short touch is a tap, also when it slides a little', () => {
    const { gestures, log } = twin()
    gestures.down(1, 'a', 10, 10, 20)
    gestures.move(1, 13, 12, 40)
    gestures.up(1, 13, 12, 60)
    expect(log).toEqual(['tap a'])
  })
  test('a drag is dropped where it ends, and the next one starts where its finger is (case 29)', () => {
    const { gestures, log } = twin()
    gestures.down(1, 'a', 10, 10, 80)
    gestures.move(1, 60, 10, 100)
    gestures.up(1, 80, 30, 120)
    gestures.down(1, 'b', 80, 30, 140)
    expect(gestures.held.get(1)).toMatchObject({ dx: 0, dy: 0, dragging: false })
    expect(log).toEqual(['drop a 70,20'])
  })
  test('pointercancel brings it home: no drop, nothing held (case 26)', () => {
    const { gestures, log } = twin()
    gestures.down(1, 'a', 0, 0, 160)
    gestures.move(1, 50, 50, 180)
    expect(gestures.dragging).toHaveLength(1)
    gestures.cancel(1)
    gestures.up(1, 50, 50, 200)
    expect(gestures.dragging).toHaveLength(0)
    expect(log).toEqual([])
  })
  test('two fingers hold two cards', () => {
    const { gestures, log } = twin()
    gestures.down(1, 'a', 0, 0, 220)
    gestures.down(2, 'b', 100, 0, 240)
    gestures.move(1, 40, 0, 260)
    gestures.move(2, 100, 40, 280)
    expect(gestures.dragging.map((held) => held.on)).toEqual(['a', 'b'])
    gestures.up(2, 100, 40, 300)
    gestures.up(1, 40, 0, 320)
    expect(log).toEqual(['drop b 0,40', 'drop a 40,0'])
  })
  test('a slide over what can’t be moved is neither a drag nor a tap', () => {
    const { gestures, log } = twin(false)
    gestures.down(1, 'a', 0, 0, 340)
    gestures.move(1, 30, 0, 360)
    gestures.up(1, 0, 0, 380)
    expect(log).toEqual([])
  })
  test('how fast it was let go is told by its last moments: a flick', () => {
    const { gestures, speeds } = twin()
    gestures.down(1, 'a', 0, 0, 1000)
    gestures.move(1, 0, -10, 1500)
    gestures.move(1, 0, -40, 1520)
    gestures.move(1, 0, -70, 1540)
    gestures.up(1, 0, -70, 1545)
    expect(speeds[0]?.y).toBeCloseTo(-60 / 45)
  })
  test('a finger that rested before it lets go throws nothing, however fast it came', () => {
    const { gestures, speeds } = twin()
    gestures.down(1, 'a', 0, 0, 1000)
    gestures.move(1, 0, -200, 1050)
    gestures.up(1, 0, -200, 1300)
    expect(speeds).toEqual([{ x: 0, y: 0 }])
  })
  test('two events of the same time are no infinite speed', () => {
    const { gestures, speeds } = twin()
    gestures.down(1, 'a', 0, 0, 1000)
    gestures.up(1, 0, -40, 1000)
    expect(speeds).toEqual([{ x: 0, y: -5 }])
  })
})
