import { describe, expect, test } from 'vitest'
import type { View } from '../../lib/wire'
import { release, targets, type Grip, type Place } from './aim'
import { grid, layout, type Point } from './layout'
import { cardsAt, type Spot } from './taps'

const view = (mine: Partial<NonNullable<View['mine']>>, middle: string[] = []): View => ({
  hand: 1,
  seats: [{ seat: 0, left: 9, total: 0 }],
  middle: middle.map((card, i) => ({ id: i + 1, top: [{ card, seat: 1 }] })),
  mine: { snatch: null, work: [[], [], [], []], stock: 0, turned: [], ...mine },
})
const SNATCH: Spot = { at: 'snatch' }
const UP = { x: 0.1, y: -1.4 }
const REST = { x: 0, y: 0 }

function on(w: number, h: number, v: View) {
  const l = layout(w, h)
  const slots = v.middle.map((pile) => pile.id)
  const place: Place = { layout: l, middle: l.middle, grid: { grid: grid(slots.length, l.middle.w, l.middle.h), slots } }
  const grip = (spot: Spot, home: Point): Grip => ({ spot, cards: cardsAt(v.mine!, spot), home })
  const go = (spot: Spot, home: Point, dx: number, dy: number, speed: Point) =>
    release(v, [], grip(spot, home), { x: home.x + dx, y: home.y + dy }, speed, place)
  return { l, go, grip }
}

describe('a flick', () => {
  test('up sends a card into the middle that it never reached', () => {
    const { l, go } = on(390, 796, view({ snatch: '5h', work: [['Ks'], ['Kd'], ['Kh'], ['Kc']] }, ['4h']))
    expect(go(SNATCH, l.snatch, 0, -60, UP)).toEqual({ t: 'middle', card: '5h', src: 'snatch' })
    expect(go(SNATCH, l.snatch, 0, -60, REST)).toBeNull()
  })
  test('of a card that fits nowhere goes there too: the engine says “No pile for that”', () => {
    const { l, go } = on(390, 796, view({ snatch: '9h', work: [['Ks'], ['Kd'], ['Kh'], ['Kc']] }, ['4h']))
    expect(go(SNATCH, l.snatch, 0, -60, UP)).toEqual({ t: 'middle', card: '9h', src: 'snatch' })
  })
  test('down or aside is none', () => {
    const { l, go } = on(390, 796, view({ turned: ['5h'], work: [['Ks'], ['Kd'], ['Kh'], ['Kc']] }, ['4h']))
    expect(go({ at: 'turned' }, l.turned, 0, 40, { x: 0, y: 2 })).toBeNull()
    expect(go({ at: 'turned' }, l.turned, 40, 0, { x: 2, y: 0 })).toBeNull()
  })
  test('of a phone on its side: up, or to the middle at its left', () => {
    const { l, go } = on(844, 342, view({ turned: ['5h'], work: [['Ks'], ['Kd'], ['Kh'], ['Kc']] }, ['4h']))
    const sent = { t: 'middle', card: '5h', src: 'turned' }
    expect(go({ at: 'turned' }, l.turned, 0, -30, UP)).toEqual(sent)
    expect(go({ at: 'turned' }, l.turned, -30, -5, { x: -1.5, y: -0.3 })).toEqual(sent)
    expect(go({ at: 'turned' }, l.turned, 30, -5, { x: 1.5, y: -0.3 })).toBeNull()
  })
  test('over a work pile that takes the card drops it there, unless it is a hard one and the middle takes it', () => {
    const { l, go } = on(390, 796, view({ snatch: '5h', work: [['6s'], ['Kd'], ['Kh'], ['Kc']] }, ['4h']))
    const dy = l.work[0]!.y - l.snatch.y
    expect(go(SNATCH, l.snatch, 0, dy, { x: 0, y: -0.7 })).toMatchObject({ t: 'work', to: 0 })
    expect(go(SNATCH, l.snatch, 0, dy, UP)).toMatchObject({ t: 'middle' })
    const shut = on(390, 796, view({ snatch: '5h', work: [['6s'], ['Kd'], ['Kh'], ['Kc']] }, ['9h']))
    expect(shut.go(SNATCH, l.snatch, 0, dy, UP)).toMatchObject({ t: 'work', to: 0 })
  })
  test('of a run is none', () => {
    const { l, go } = on(390, 796, view({ work: [['9d', '8s'], ['Kd'], ['Kh'], ['Kc']] }, ['7s']))
    expect(go({ at: 'work', pile: 0, index: 0 }, l.work[0]!, 0, -30, UP)).toBeNull()
  })
})

describe('what shows while a card is held', () => {
  test('the piles that take it, in the middle and among the own', () => {
    const v = view({ snatch: '5h', work: [['6s'], ['6c', '5d'], ['9h'], []] }, ['4h', '4s', '4h'])
    const { grip } = on(390, 796, v)
    expect(targets(v, [], grip(SNATCH, REST))).toEqual({ middle: true, fits: true, piles: [1, 3], work: [0, 3] })
  })
  test('an ace goes anywhere in the middle, a run nowhere there', () => {
    const v = view({ snatch: 'As', work: [['9d', '8s'], ['9h'], [], ['Kc']] }, ['4h'])
    const { grip } = on(390, 796, v)
    expect(targets(v, [], grip(SNATCH, REST))).toMatchObject({ middle: true, fits: true, piles: [] })
    expect(targets(v, [], grip({ at: 'work', pile: 0, index: 0 }, REST))).toEqual({ middle: false, fits: false, piles: [], work: [2] })
  })
})
