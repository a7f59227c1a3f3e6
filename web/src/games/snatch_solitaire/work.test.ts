import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { hand, ME, Twin } from '../../testing/twin'
import { BACK } from './fits'
import { grid, layout } from './layout'
import type { Spot } from './taps'
import { Work } from './work.svelte'

let twin: Twin
let work: Work
let nowhere: Spot[]
const l = layout(390, 796)
const home = { x: 0, y: 0 }
const tap = (spot: Spot): boolean => work.tap(work.grip(spot, home))
const moves = (): unknown[] => twin.socket.moves().map(([, m]) => m)

/** 52 cards, as the hand's own count has it: places, flights, and what lies face down. */
function all(): number {
  const { view, flights } = twin.session
  const mine = view?.mine
  if (!mine) return 0
  const known = [...mine.work.flat(), ...mine.turned, ...flights.map((f) => f.card)].filter((card) => card !== BACK)
  expect(new Set(known).size).toBe(known.length)
  return (view?.seats[0]?.left ?? 0) + mine.stock + mine.turned.length + mine.work.flat().length + flights.length
}

beforeEach(() => {
  vi.useFakeTimers()
  nowhere = []
  twin = new Twin()
  twin.begin()
  work = new Work(
    () => twin.session,
    () => ({ layout: l, middle: l.middle, grid: { grid: grid(1, l.middle.w, l.middle.h), slots: [1] } }),
    (spot) => nowhere.push(spot),
    () => twin.time,
  )
})
afterEach(() => {
  vi.useRealTimers()
})

describe('taps that come too thick', () => {
  test('a double tap on the snatch top 4♥ with 5♥ under it and a 3♥ in the middle: 4♥ goes, 5♥ stays (case 22)', () => {
    const view = hand()
    view.middle = [{ id: 1, top: [{ card: '3h', seat: 1 }] }]
    view.mine = { ...view.mine!, snatch: '4h' }
    twin.connect(0, view)
    tap({ at: 'snatch' })
    twin.time += 60
    twin.table([{ t: 'placed', seat: ME, card: '4h', pile: 1, src: 'snatch', left: 4 }], { by: ME, id: 1 })
    twin.seat([{ t: 'your_placed', card: '4h', src: 'snatch', snatch: '5h' }], { id: 1 })
    expect(twin.session.view?.mine?.snatch).toBe('5h')
    twin.time += 60
    tap({ at: 'snatch' })
    expect(moves()).toEqual([{ t: 'middle', card: '4h', src: 'snatch' }])
    twin.time += 400
    tap({ at: 'snatch' })
    expect(moves()).toHaveLength(2)
  })

  test('the second tap lands on a back that nobody knows yet: nothing', () => {
    const view = hand()
    view.mine = { ...view.mine!, snatch: 'As' }
    twin.connect(0, view)
    tap({ at: 'snatch' })
    twin.time += 2000
    tap({ at: 'snatch' })
    expect(moves()).toHaveLength(1)
  })

  test('a triple tap on a run’s head moves it once, and no card is doubled or lost (case 28)', () => {
    const view = hand()
    view.mine = { ...view.mine!, work: [['Ts', '9d', '8s'], ['Tc'], ['5h'], []] }
    twin.connect(0, view)
    const before = all()
    for (let i = 0; i < 3; i++) {
      tap({ at: 'work', pile: 0, index: 1 })
      twin.time += 70
      expect(all()).toBe(before)
    }
    expect(moves()).toEqual([{ t: 'work', card: '9d', src: 'work', work: 0, to: 1 }])
    twin.seat([{ t: 'worked', cards: ['9d', '8s'], src: 'work', work: 0, to: 1 }], { id: 1 })
    expect(all()).toBe(before)
    expect(twin.session.view?.mine?.work).toEqual([['Ts'], ['Tc', '9d', '8s'], ['5h'], []])
  })

  test('taps on a run that still glides to its new place are the same double tap (case 28)', () => {
    const view = hand()
    view.mine = { ...view.mine!, work: [['Ts', '9d', '8s'], ['Tc'], ['5h'], []] }
    twin.connect(0, view)
    tap({ at: 'work', pile: 0, index: 1 })
    twin.time += 70
    tap({ at: 'work', pile: 1, index: 1 })
    tap({ at: 'work', pile: 1, index: 2 })
    expect(moves()).toHaveLength(1)
    twin.time += 400
    tap({ at: 'work', pile: 1, index: 1 })
    expect(moves()).toHaveLength(2)
  })

  test('a tap on a card that can go nowhere says so, and asks for nothing', () => {
    twin.connect()
    expect(tap({ at: 'work', pile: 0, index: 0 })).toBe(false)
    expect(nowhere).toEqual([{ at: 'work', pile: 0, index: 0 }])
    expect(moves()).toEqual([])
  })

  test('on a card that only flies by mean what lies at rest there, or nothing (case 32)', () => {
    twin.connect()
    const flying = work.grip({ at: 'work', pile: 2, index: 0 }, home)
    work.gestures.down(1, { ...flying, beneath: null }, 0, 0, 0)
    work.gestures.up(1, 0, 0, 50)
    expect(moves()).toEqual([])
    work.gestures.down(1, { ...flying, beneath: work.grip({ at: 'snatch' }, home) }, 0, 0, 100)
    work.gestures.up(1, 0, 0, 150)
    expect(moves()).toEqual([{ t: 'work', card: '6h', src: 'snatch', to: 1 }])
  })

  test('every tap on the stock counts', () => {
    twin.connect()
    for (let i = 0; i < 3; i++) tap({ at: 'stock' })
    expect(moves()).toEqual([{ t: 'turn' }, { t: 'turn' }, { t: 'turn' }])
  })

  test('two cards from two places 20 ms apart both go, in order (case 20)', () => {
    twin.connect()
    tap({ at: 'work', pile: 2, index: 0 })
    twin.time += 20
    tap({ at: 'snatch' })
    expect(twin.socket.moves()).toEqual([
      [1, { t: 'middle', card: '5h', src: 'work', work: 2 }],
      [2, { t: 'middle', card: '6h', src: 'snatch' }],
    ])
  })
})

describe('drags', () => {
  const drag = (spot: Spot, from: { x: number; y: number }, dx: number, dy: number): void => {
    work.gestures.down(1, work.grip(spot, from), 0, 0, 0)
    work.gestures.move(1, dx, dy, 300)
  }
  /** After a rest, so that it is no throw. */
  const drop = (dx: number, dy: number): void => work.gestures.up(1, dx, dy, 900)

  test('a run that overlaps a pile with an edge drops there (case 30)', () => {
    const view = hand()
    view.mine = { ...view.mine!, work: [['8s', '7h', '6s', '5h', '4s', '3h', '2s'], ['9d'], ['Kc'], ['Qc']] }
    twin.connect(0, view)
    const from = l.work[0]!
    drag({ at: 'work', pile: 0, index: 0 }, from, l.work[1]!.x - from.x - l.cw * 0.7, 30)
    expect(work.held).toHaveLength(1)
    drop(l.work[1]!.x - from.x - l.cw * 0.7, 30)
    expect(moves()).toEqual([{ t: 'work', card: '8s', src: 'work', work: 0, to: 1 }])
    expect(work.held).toEqual([])
  })

  test('anywhere on the middle counts; on a pile it names that pile', () => {
    twin.connect()
    const far = l.middle.y + l.middle.h - l.ch / 2
    drag({ at: 'snatch' }, l.snatch, l.middle.x + l.middle.w - l.cw - l.snatch.x, far - l.snatch.y)
    expect(work.aim(work.held[0]!)).toMatchObject({ middle: true, pile: null })
    work.gestures.cancel(1)
    const at = grid(1, l.middle.w, l.middle.h).slots[0]!
    drag({ at: 'snatch' }, l.snatch, l.middle.x + at.x - l.snatch.x, l.middle.y + at.y - l.snatch.y)
    expect(work.aim(work.held[0]!)).toMatchObject({ middle: true, pile: 1 })
    drop(l.middle.x + at.x - l.snatch.x, l.middle.y + at.y - l.snatch.y)
    expect(moves()).toEqual([{ t: 'middle', card: '6h', src: 'snatch', pile: 1 }])
  })

  test('dropped where it doesn’t fit it is home, and nothing is asked', () => {
    twin.connect()
    drag({ at: 'snatch' }, l.snatch, l.work[0]!.x - l.snatch.x, l.work[0]!.y - l.snatch.y)
    drop(l.work[0]!.x - l.snatch.x, l.work[0]!.y - l.snatch.y)
    expect(moves()).toEqual([])
  })

  test('a new state in mid-drag that leaves the card where it is lets the drag go on; one that takes it away ends it (case 27)', () => {
    twin.connect()
    drag({ at: 'turned' }, l.turned, 0, -200)
    twin.table([{ t: 'left', seat: 1, left: 8 }])
    work.settle()
    expect(work.held).toHaveLength(1)
    const before = all()
    twin.session.move({ t: 'turn' })
    work.settle()
    expect(work.held).toEqual([])
    expect(all()).toBe(before)
  })

  test('a pause takes the card out of the hand (case 26)', () => {
    twin.connect()
    drag({ at: 'turned' }, l.turned, 0, -200)
    twin.table([{ t: 'paused', by: 1 }])
    work.settle()
    drop(0, -200)
    expect(work.held).toEqual([])
    expect(moves()).toEqual([])
  })
})

describe('undo', () => {
  test('waits while a card is on its way, and is asked for when it came home', () => {
    const view = hand()
    view.mine = { ...view.mine!, undo: true }
    twin.connect(0, view)
    tap({ at: 'work', pile: 2, index: 0 })
    work.undo()
    expect(work.undoWaits).toBe(true)
    expect(moves()).toHaveLength(1)
    twin.seat([], { id: 1, no: { code: 'no_pile' } })
    work.settle()
    expect(moves().at(-1)).toEqual({ t: 'undo' })
    expect(work.undoWaits).toBe(false)
  })

  test('is forgotten when the card landed, for that empties it', () => {
    const view = hand()
    view.mine = { ...view.mine!, undo: true }
    twin.connect(0, view)
    tap({ at: 'work', pile: 2, index: 0 })
    work.undo()
    twin.table([{ t: 'placed', seat: ME, card: '5h', pile: 1, src: 'work', left: 5 }], { by: ME, id: 1 })
    work.settle()
    twin.seat([{ t: 'your_placed', card: '5h', src: 'work', work: 2 }], { id: 1 })
    work.settle()
    expect(moves()).toHaveLength(1)
    expect(work.undoWaits).toBe(false)
  })
})
