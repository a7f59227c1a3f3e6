import { describe, expect, test } from 'vitest'
import type { GameMove, View } from '../../lib/wire'
import { landing, showAhead, tops, type Ahead, type Before } from './ahead'
import { BACK } from './fits'

const ME = 3
const base: View = {
  hand: 1,
  seats: [
    { seat: ME, left: 5, total: 0 },
    { seat: 4, left: 9, total: 0 },
  ],
  middle: [
    { id: 1, top: [{ card: '4h', seat: 4 }] },
    { id: 2, top: [{ card: '4s', seat: 4 }] },
  ],
  mine: { snatch: '6h', work: [['9d', '8s', '7h', '6c'], ['7s'], ['5h'], []], stock: 2, turned: ['5s', 'Kd'] },
}

let keys = 0
const ahead = (m: GameMove, half = false): Ahead => ({ key: ++keys, m, half })
const show = (pending: Ahead[], view: View = base, before: Before | null = null) => showAhead(view, before, ME, pending)

/** All own cards: places, flights, and what lies face down. The snatch pile's number still counts its own in flight. */
function count(shown: ReturnType<typeof show>, fromSnatch = 0): number {
  const mine = shown.view.mine
  if (!mine) return 0
  const left = shown.view.seats.find((s) => s.seat === ME)?.left ?? 0
  return left + mine.stock + mine.turned.length + mine.work.flat().length + shown.flights.length - fromSnatch
}
const ALL = 5 + 2 + 2 + 6

describe('moves shown ahead of their answers', () => {
  test('a card for the middle flies: out of its place, over its pile, and not counted', () => {
    const shown = show([ahead({ t: 'middle', card: '5h', src: 'work', work: 2 })])
    expect(shown.flights).toEqual([{ key: keys, card: '5h', pile: 1 }])
    expect(shown.view.mine?.work[2]).toEqual([])
    expect(shown.view.middle).toEqual(base.middle)
    expect(shown.view.seats).toEqual(base.seats)
    expect(count(shown)).toBe(ALL)
  })

  test('under a snatch card that left lies one that only the engine knows', () => {
    const shown = show([ahead({ t: 'work', card: '6h', src: 'snatch', to: 1 })])
    expect(shown.view.mine?.snatch).toBe(BACK)
    expect(shown.view.mine?.work[1]).toEqual(['7s', '6h'])
    expect(shown.view.seats[0]?.left).toBe(4)
    expect(count(shown)).toBe(ALL)
  })

  test('the last snatch card leaves an empty place', () => {
    const last = { ...base, seats: [{ seat: ME, left: 1, total: 0 }] }
    expect(show([ahead({ t: 'work', card: '6h', src: 'snatch', to: 1 })], last).view.mine?.snatch).toBeNull()
  })

  test('its public part seen, the count is not taken down twice and the card is not in the middle twice', () => {
    const counted = { ...base, seats: [{ seat: ME, left: 4, total: 0 }] }
    const worked = show([ahead({ t: 'work', card: '6h', src: 'snatch', to: 1 }, true)], counted)
    expect(worked.view.seats[0]?.left).toBe(4)
    expect(worked.view.mine?.work[1]).toEqual(['7s', '6h'])
    const landed = { ...base, middle: [{ id: 1, top: [{ card: '5h', seat: ME }] }] }
    const placed = show([ahead({ t: 'middle', card: '5h', src: 'work', work: 2 }, true)], landed)
    expect(placed.flights).toEqual([])
    expect(placed.view.mine?.work[2]).toEqual([])
  })

  test('three taps on the stock turn two backs and then the pile over', () => {
    const turn = (): Ahead => ahead({ t: 'turn' })
    const two = show([turn(), turn()])
    expect(two.view.mine?.turned).toEqual(['5s', 'Kd', BACK, BACK])
    expect(two.view.mine?.stock).toBe(0)
    const three = show([turn(), turn(), turn()])
    expect(three.view.mine).toMatchObject({ turned: [], stock: 4 })
    expect(count(three)).toBe(ALL)
  })

  test('an undo ahead of its answer brings back what the move before it changed', () => {
    const shown = show([ahead({ t: 'work', card: '6h', src: 'snatch', to: 1 }), ahead({ t: 'undo' })])
    expect(shown.view.mine).toMatchObject({ snatch: '6h', work: base.mine?.work, undo: false })
    expect(shown.view.seats[0]?.left).toBe(5)
  })

  test('an undo of a confirmed move shows at once from what is remembered', () => {
    const mine = { ...base.mine!, undo: true, turned: ['5s', 'Kd', '2c'], stock: 1 }
    const shown = show([ahead({ t: 'undo' })], { ...base, mine }, { mine: base.mine!, back: 0 })
    expect(shown.view.mine).toMatchObject({ stock: 2, turned: ['5s', 'Kd'], undo: false })
  })

  test('without a memory an undo waits for the engine and is not asked for twice', () => {
    const mine = { ...base.mine!, undo: true }
    const shown = show([ahead({ t: 'undo' }), ahead({ t: 'undo' })], { ...base, mine })
    expect(shown.view.mine).toEqual({ ...mine, undo: false })
  })

  test('a move whose card is no longer there shows nothing', () => {
    const shown = show([ahead({ t: 'middle', card: '5h', src: 'work', work: 2 })], { ...base, mine: { ...base.mine!, work: [[], [], [], []] } })
    expect(shown.flights).toEqual([])
    expect(shown.view.mine?.work).toEqual([[], [], [], []])
  })

  test('a move onto a pile that it no longer fits is not shown', () => {
    const changed = { ...base, mine: { ...base.mine!, work: [['9d'], ['2s'], ['5h'], []] } }
    expect(show([ahead({ t: 'work', card: '6h', src: 'snatch', to: 1 })], changed).view.mine?.work[1]).toEqual(['2s'])
  })

  test('of two cards flicked one after the other the second counts on the first (case 20)', () => {
    const first = ahead({ t: 'middle', card: '5h', src: 'work', work: 2 })
    const one = show([first])
    expect(landing('6h', tops(one.view, one.flights))).toBe(1)
    const both = show([first, ahead({ t: 'middle', card: '6h', src: 'snatch' })])
    expect(both.flights.map((f) => [f.card, f.pile])).toEqual([
      ['5h', 1],
      ['6h', 1],
    ])
    expect(both.view.mine?.snatch).toBe(BACK)
    expect(count(both, 1)).toBe(ALL)
  })

  test('after the undo of a run’s move a part of it moves by itself (case 33)', () => {
    const runs = { ...base, mine: { ...base.mine!, work: [['Td', '9s', '8h', '7s', '6h'], ['Jc'], ['8d'], []] } }
    const moved = ahead({ t: 'work', card: 'Td', src: 'work', work: 0, to: 1 })
    expect(show([moved], runs).view.mine?.work).toEqual([[], ['Jc', 'Td', '9s', '8h', '7s', '6h'], ['8d'], []])
    const part = ahead({ t: 'work', card: '7s', src: 'work', work: 0, to: 2 })
    expect(show([moved, ahead({ t: 'undo' }), part], runs).view.mine?.work).toEqual([['Td', '9s', '8h'], ['Jc'], ['8d', '7s', '6h'], []])
  })

  test('an undo behind a snatch card’s move of which only the public part has come brings the card back counted', () => {
    const moved: View = { ...base, seats: base.seats.map((s) => (s.seat === ME ? { ...s, left: 4 } : s)) }
    const pending = [ahead({ t: 'work', card: '6h', src: 'snatch', to: 1 }, true), ahead({ t: 'undo' })]
    expect(show(pending, moved).view.mine?.snatch).toBe('6h')
    expect(count(show(pending, moved))).toBe(ALL)
  })

  test('an undo of a turn, which has no public part, leaves the count that a later move’s public part has set', () => {
    const mine = { ...base.mine!, undo: true, turned: ['5s', 'Kd', '2c'], stock: 1 }
    const later: View = { ...base, mine, seats: base.seats.map((s) => (s.seat === ME ? { ...s, left: 4 } : s)) }
    const pending = [ahead({ t: 'undo' }), ahead({ t: 'work', card: '6h', src: 'snatch', to: 1 }, true)]
    const shown = show(pending, later, { mine: base.mine!, back: 0 })
    expect(shown.view.mine).toMatchObject({ snatch: BACK, stock: 2, turned: ['5s', 'Kd'] })
    expect(shown.view.seats[0]?.left).toBe(4)
    expect(count(shown)).toBe(ALL)
  })

  test('a back can’t be played', () => {
    expect(landing(BACK, tops(base, []))).toBeUndefined()
    expect(show([ahead({ t: 'middle', card: BACK, src: 'snatch' })]).flights).toEqual([])
  })

  test('two aces in flight open two piles, each by itself (case 21)', () => {
    const aces = { ...base, mine: { ...base.mine!, work: [['Ah'], ['Ad'], [], []] } }
    const shown = show([ahead({ t: 'middle', card: 'Ah', src: 'work', work: 0 }), ahead({ t: 'middle', card: 'Ad', src: 'work', work: 1 })], aces)
    expect(shown.flights.map((f) => f.pile)).toEqual([null, null])
    expect(landing('2d', tops(shown.view, shown.flights))).toBeNull()
  })
})
