import { describe, expect, test } from 'vitest'
import type { View } from '../../lib/wire'
import { BACK } from './fits'
import { dropOnMiddle, dropOnWork, tap, type Spot } from './taps'

const view = (mine: Partial<NonNullable<View['mine']>>, middle: string[] = []): View => ({
  hand: 1,
  seats: [{ seat: 0, left: 9, total: 0 }],
  middle: middle.map((card, i) => ({ id: i + 1, top: [{ card, seat: 1 }] })),
  mine: { snatch: null, work: [[], [], [], []], stock: 0, turned: [], ...mine },
})
const work = (pile: number, index: number): Spot => ({ at: 'work', pile, index })

describe('taps, as the rules have them', () => {
  test('a playable card goes to the middle if it fits', () => {
    const v = view({ snatch: '5h', work: [['6s'], [], [], []] }, ['4h'])
    expect(tap(v, [], { at: 'snatch' })).toEqual({ t: 'middle', card: '5h', src: 'snatch' })
  })
  test('else onto the leftmost work pile with cards that it fits, also right of an empty one', () => {
    const v = view({ snatch: '5h', work: [[], ['6h'], ['6s'], ['6c']] })
    expect(tap(v, [], { at: 'snatch' })).toEqual({ t: 'work', card: '5h', src: 'snatch', to: 2 })
  })
  test('else onto an empty work pile, else nowhere', () => {
    expect(tap(view({ turned: ['2c', '9d'], work: [['9s'], [], ['9h'], []] }), [], { at: 'turned' })).toEqual({ t: 'work', card: '9d', src: 'turned', to: 1 })
    expect(tap(view({ turned: ['9d'], work: [['9s'], ['9c'], ['9h'], ['2c']] }), [], { at: 'turned' })).toBeNull()
  })
  test('inside a work pile the run moves, onto work piles only', () => {
    const v = view({ work: [['9d', '8s', '7h', '6c'], ['8c'], ['2s'], ['2d']] }, ['6h'])
    expect(tap(v, [], work(0, 2))).toEqual({ t: 'work', card: '7h', src: 'work', work: 0, to: 1 })
    const nowhere = view({ work: [['8s', '7h', '6c'], ['2c'], ['2s'], ['2d']] }, ['6h'])
    expect(tap(nowhere, [], work(0, 1))).toBeNull()
  })
  test('the head of a pile doesn’t move from one empty place to another', () => {
    expect(tap(view({ work: [['9d', '8s'], [], [], []] }), [], work(0, 0))).toBeNull()
    expect(tap(view({ work: [['9d'], [], [], []] }), [], work(0, 0))).toBeNull()
    expect(tap(view({ work: [['9d'], ['Ts'], [], []] }), [], work(0, 0))).toEqual({ t: 'work', card: '9d', src: 'work', work: 0, to: 1 })
    expect(tap(view({ work: [['Ad'], [], [], []] }), [], work(0, 0))).toEqual({ t: 'middle', card: 'Ad', src: 'work', work: 0 })
  })
  test('the stock turns, turns over when empty, and does nothing with both empty', () => {
    expect(tap(view({ stock: 3 }), [], { at: 'stock' })).toEqual({ t: 'turn' })
    expect(tap(view({ turned: ['2c'] }), [], { at: 'stock' })).toEqual({ t: 'turn' })
    expect(tap(view({}), [], { at: 'stock' })).toBeNull()
  })
  test('a card not known yet does nothing', () => {
    expect(tap(view({ snatch: BACK }), [], { at: 'snatch' })).toBeNull()
  })
})

describe('drops', () => {
  test('on a work pile only where it fits, and never on its own', () => {
    const mine = view({ work: [['9d', '8s'], ['9h'], ['Ts'], []] }).mine!
    expect(dropOnWork(mine, work(0, 1), 1)).toEqual({ t: 'work', card: '8s', src: 'work', work: 0, to: 1 })
    expect(dropOnWork(mine, work(0, 1), 2)).toBeNull()
    expect(dropOnWork(mine, work(0, 1), 0)).toBeNull()
    expect(dropOnWork(mine, work(0, 0), 3)).toEqual({ t: 'work', card: '9d', src: 'work', work: 0, to: 3 })
  })
  test('on the middle any top card, named pile or not: the engine says whether it fits', () => {
    const mine = view({ snatch: '9c', work: [['9d', '8s'], [], [], []] }, ['4h']).mine!
    expect(dropOnMiddle(mine, { at: 'snatch' }, 7)).toEqual({ t: 'middle', card: '9c', src: 'snatch', pile: 7 })
    expect(dropOnMiddle(mine, { at: 'snatch' }, null)).toEqual({ t: 'middle', card: '9c', src: 'snatch' })
    expect(dropOnMiddle(mine, work(0, 0), null)).toBeNull()
  })
})
