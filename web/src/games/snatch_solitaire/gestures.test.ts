import { describe, expect, test } from 'vitest'
import { Gestures } from './gestures'

function twin(grab = true) {
  const log: string[] = []
  const gestures = new Gestures<string>({
    tap: (on) => log.push(`tap ${on}`),
    grab: () => grab,
    changed: () => undefined,
    drop: (held) => log.push(`drop ${held.on} ${held.dx},${held.dy}`),
  })
  return { gestures, log }
}

describe('fingers', () => {
  test('a short touch is a tap, also when it slides a little', () => {
    const { gestures, log } = twin()
    gestures.down(1, 'a', 10, 10)
    gestures.move(1, 13, 12)
    gestures.up(1, 13, 12)
    expect(log).toEqual(['tap a'])
  })
  test('a drag is dropped where it ends, and the next one starts where its finger is (case 29)', () => {
    const { gestures, log } = twin()
    gestures.down(1, 'a', 10, 10)
    gestures.move(1, 60, 10)
    gestures.up(1, 80, 30)
    gestures.down(1, 'b', 80, 30)
    expect(gestures.held.get(1)).toMatchObject({ dx: 0, dy: 0, dragging: false })
    expect(log).toEqual(['drop a 70,20'])
  })
  test('pointercancel brings it home: no drop, nothing held (case 26)', () => {
    const { gestures, log } = twin()
    gestures.down(1, 'a', 0, 0)
    gestures.move(1, 50, 50)
    expect(gestures.dragging).toHaveLength(1)
    gestures.cancel(1)
    gestures.up(1, 50, 50)
    expect(gestures.dragging).toHaveLength(0)
    expect(log).toEqual([])
  })
  test('two fingers hold two cards', () => {
    const { gestures, log } = twin()
    gestures.down(1, 'a', 0, 0)
    gestures.down(2, 'b', 100, 0)
    gestures.move(1, 40, 0)
    gestures.move(2, 100, 40)
    expect(gestures.dragging.map((held) => held.on)).toEqual(['a', 'b'])
    gestures.up(2, 100, 40)
    gestures.up(1, 40, 0)
    expect(log).toEqual(['drop b 0,40', 'drop a 40,0'])
  })
  test('a slide over what can’t be moved is neither a drag nor a tap', () => {
    const { gestures, log } = twin(false)
    gestures.down(1, 'a', 0, 0)
    gestures.move(1, 30, 0)
    gestures.up(1, 0, 0)
    expect(log).toEqual([])
  })
})
