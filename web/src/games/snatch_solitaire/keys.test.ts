import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { View } from '../../lib/wire'
import { hand, Twin } from '../../testing/twin'
import { Keys, step } from './keys.svelte'
import { grid, layout } from './layout'
import { spotKey, type Spot } from './taps'
import { Work } from './work.svelte'

const l = layout(1280, 752)
let twin: Twin
let keys: Keys

function begin(view: View = hand()): void {
  twin = new Twin()
  twin.begin()
  twin.connect(0, view)
  const work = new Work(
    () => twin.session,
    () => ({ layout: l, middle: l.middle, grid: { grid: grid(1, l.middle.w, l.middle.h), slots: [1] } }),
  )
  keys = new Keys(
    () => twin.session,
    work,
    () => l.shape,
  )
}
const moves = (): unknown[] => twin.socket.moves().map(([, m]) => m)
function press(...all: string[]): void {
  for (const one of all) {
    const shiftKey = one.startsWith('Shift+')
    const key = one.replace('Shift+', '')
    keys.press({ key, code: /^\d$/.test(key) ? `Digit${key}` : key, shiftKey, repeat: false })
    keys.settle()
  }
}

beforeEach(() => {
  vi.useFakeTimers()
  begin()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('number keys', () => {
  test('tap the pile that they name, as often as they are pressed', () => {
    press('7', '7', '3')
    expect(moves()).toEqual([{ t: 'turn' }, { t: 'turn' }, { t: 'middle', card: '5h', src: 'work', work: 2 }])
  })
  test('after Shift put the lifted card onto a work pile, or with 0 into the middle', () => {
    press('Shift+5', '2', 'Shift+6', '4', 'Shift+3', '0')
    expect(moves()).toEqual([
      { t: 'work', card: '6h', src: 'snatch', to: 1 },
      { t: 'work', card: 'Kd', src: 'turned', to: 3 },
      { t: 'middle', card: '5h', src: 'work', work: 2 },
    ])
  })
  test('where the lifted card doesn’t fit put it down again', () => {
    press('Shift+5', '1')
    expect(keys.lifted).toBeNull()
    expect(moves()).toEqual([])
  })
  test('that are held down do nothing more', () => {
    keys.press({ key: '7', code: 'Digit7', shiftKey: false, repeat: true })
    expect(moves()).toEqual([])
  })
})

describe('arrows', () => {
  test('and Enter reach every card, and play it', () => {
    press('ArrowRight', 'ArrowRight', 'ArrowRight', 'Enter')
    expect(moves()).toEqual([{ t: 'middle', card: '5h', src: 'work', work: 2 }])
    press('ArrowRight', 'ArrowRight', 'ArrowRight', 'Enter')
    expect(moves()).toHaveLength(2)
    expect(moves()[1]).toEqual({ t: 'turn' })
  })
  test('after a space go about among the places where the card may be put', () => {
    const view = hand()
    view.middle = [1, 2].map((id) => ({ id, top: [{ card: '5h', seat: 1 }] }))
    begin(view)
    press(' ')
    expect(keys.choices.map((aim) => aim.pile ?? `work ${aim.work}`)).toEqual([1, 2, 'work 1', 'work 3'])
    press('ArrowRight', 'Enter')
    expect(moves()).toEqual([{ t: 'middle', card: '6h', src: 'snatch', pile: 2 }])
  })
  test('lift a run from inside a pile', () => {
    press('ArrowRight', 'ArrowUp', ' ', 'Enter')
    expect(keys.lifted).toBeNull()
    expect(moves()).toEqual([{ t: 'work', card: '9d', src: 'work', work: 0, to: 3 }])
  })
  test('Escape puts it down', () => {
    press(' ', 'Escape', 'Enter')
    expect(moves()).toEqual([{ t: 'work', card: '6h', src: 'snatch', to: 1 }])
  })
  test('go by where things lie: own cards in two rows on a phone', () => {
    const mine = hand().mine!
    const from: Spot = { at: 'work', pile: 0, index: 1 }
    const way = (shape: 'tall' | 'wide', start: Spot, ...ways: ('left' | 'right' | 'up' | 'down')[]): string =>
      spotKey(ways.reduce((at, one) => step(mine, shape, at, one), start))
    expect(way('tall', from, 'up')).toBe('work-0-0')
    expect(way('tall', from, 'down')).toBe('snatch')
    expect(way('tall', from, 'down', 'right', 'right', 'right')).toBe('stock')
    expect(way('tall', from, 'right', 'right', 'right')).toBe('work-3--1')
    expect(way('tall', { at: 'stock' }, 'up')).toBe('work-3--1')
    expect(way('wide', from, 'down')).toBe('work-0-1')
    expect(way('wide', from, 'left', 'left')).toBe('snatch')
  })
})

test('a card that another state takes away is lifted no more, and the cursor stays on something', () => {
  press('ArrowRight', ' ')
  expect(keys.lifted?.cards).toEqual(['8s'])
  twin.seat([{ t: 'worked', cards: ['8s'], src: 'work', work: 0, to: 3 }], {})
  keys.settle()
  expect(keys.lifted).toBeNull()
  expect(spotKey(keys.cursor)).toBe('work-0-0')
})

test('nothing moves while the table is paused', () => {
  twin.table([{ t: 'paused', by: 1 }])
  press('7', 'Enter')
  expect(moves()).toEqual([])
})
