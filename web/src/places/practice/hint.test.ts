import { describe, expect, it } from 'vitest'
import type { Mine, View } from '../../lib/wire'
import { hint } from './hint'

const NOTHING: Mine = { snatch: null, work: [[], [], [], []], stock: 0, turned: [] }

function table(mine: Partial<Mine>, middle: string[] = []): View {
  return {
    hand: 1,
    seats: [{ seat: 0, left: 5, total: 0 }],
    middle: middle.map((card, id) => ({ id, top: [{ card, seat: 0 }] })),
    mine: { ...NOTHING, ...mine },
  }
}
const advice = (mine: Partial<Mine>, middle: string[] = []) => hint(table(mine, middle), [])

describe('the hint of the practice deal', () => {
  it('sends the snatch card to the middle before anything else', () => {
    const found = advice({ snatch: '5h', turned: ['5s'], work: [['6s'], [], [], []], stock: 3 }, ['4s', '4h'])
    expect(found).toMatchObject({ kind: 'middle', spot: { at: 'snatch' }, card: '5h', on: '4h' })
  })

  it('says of an ace that it opens a pile', () => {
    expect(advice({ turned: ['Ac'], stock: 3 })).toMatchObject({ kind: 'ace', card: 'Ac', on: null })
  })

  it('brings the snatch card onto a work pile before it brings the turned one', () => {
    const found = advice({ snatch: '6h', turned: ['6d'], work: [['7s'], ['2c'], ['2s'], ['Kd']], stock: 3 })
    expect(found).toMatchObject({ kind: 'snatch', card: '6h', on: '7s' })
  })

  it('frees a pile whose head fits elsewhere', () => {
    const found = advice({ snatch: '2h', work: [['9d', '8s'], ['7h', '6c'], ['2c'], ['2s']], stock: 3 })
    expect(found).toMatchObject({ kind: 'frees_pile', spot: { at: 'work', pile: 1, index: 0 }, card: '7h', on: '8s' })
  })

  it('moves part of a run only for what that opens to the middle', () => {
    const work = [['9s', '8h', '7s'], ['Kc', 'Qh', 'Js', 'Td', '9c', '8d'], ['2c'], ['3s']]
    expect(advice({ snatch: 'Kd', work, stock: 3 })?.kind).toBe('turn')
    expect(advice({ snatch: 'Kd', work, stock: 3 }, ['7h'])).toMatchObject({ kind: 'frees_card', card: '7s', on: '8d' })
  })

  it('never says to spend an empty pile on the turned card', () => {
    expect(advice({ turned: ['9d'], work: [['2c'], [], ['2s'], ['3s']], stock: 3 })).toMatchObject({ kind: 'turn' })
  })

  it('turns the stock when nothing fits, and over when it is empty', () => {
    expect(advice({ turned: ['9d'], stock: 1 })?.kind).toBe('turn')
    expect(advice({ turned: ['9d', '4c'], work: [['2c'], ['2d'], ['2s'], ['2h']] })?.kind).toBe('turn_over')
  })

  it('says nothing when there is nothing to be done', () => {
    expect(advice({ snatch: '9d', work: [['2c'], ['2d'], ['2s'], ['2h']] })).toBeNull()
    expect(hint({ ...table({}), mine: null }, [])).toBeNull()
  })

  it('counts a card that is on its way as landed', () => {
    const view = table({ snatch: '6h', work: [['2c'], ['2d'], ['2s'], ['2h']], stock: 4 }, ['4h'])
    expect(hint(view, [])?.kind).toBe('turn')
    expect(hint(view, [{ key: 1, card: '5h', pile: 0 }])).toMatchObject({ kind: 'middle', card: '6h', on: '5h' })
  })

  it('names only cards that can be seen', () => {
    expect(advice({ snatch: '??', turned: ['??'], stock: 3 })?.kind).toBe('turn')
  })
})
