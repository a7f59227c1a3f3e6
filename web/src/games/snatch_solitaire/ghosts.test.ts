import { expect, test, vi } from 'vitest'
import type { View } from '../../lib/wire'
import { hand } from '../../testing/twin'
import { BACK } from './fits'
import { leaving } from './ghosts'
import { KING_MS, Landings } from './landings.svelte'

const having = (mine: Partial<NonNullable<View['mine']>>, view: Partial<View> = {}): View => ({ ...hand(), ...view, mine: { ...hand().mine!, ...mine } })

test('an undone turn, and the turned pile turned over, are seen going into the stock', () => {
  expect(leaving(having({ stock: 2, turned: ['Kd', '3c'] }), having({ stock: 3, turned: ['Kd'] }))).toEqual({ card: '3c', to: 'stock' })
  expect(leaving(having({ stock: 2, turned: [BACK] }), having({ stock: 3, turned: [] }))).toEqual({ card: null, to: 'stock' })
  expect(leaving(having({ stock: 0, turned: ['Kd', '3c'] }), having({ stock: 2, turned: [] }))).toEqual({ card: '3c', to: 'stock' })
})

test('a snatch pile that turns lets its top go beneath', () => {
  expect(leaving(having({ snatch: '6h' }), having({ snatch: '9c' }, { turns: 1 }))).toEqual({ card: '6h', to: 'beneath' })
})

test('cards that are played leave no ghost, nor does a new hand', () => {
  expect(leaving(having({ turned: ['Kd', '3c'] }), having({ turned: ['Kd'] }))).toBeNull()
  expect(leaving(having({ stock: 2, turned: ['Kd'] }), having({ stock: 35, turned: [] }, { hand: 2 }))).toBeNull()
  expect(leaving(null, hand())).toBeNull()
})

test('a pile with its king is seen for a while, and what lands is said once', () => {
  vi.useFakeTimers()
  const landings = new Landings()
  const under = { id: 4, top: ['Jh', 'Qh'].map((card) => ({ card, seat: 1 })) }
  landings.take({ t: 'placed', seat: 0, card: 'Kh', pile: 4, src: 'snatch', left: 3, done: true }, [under])
  expect(landings.finished).toEqual([{ id: 4, top: [...under.top, { card: 'Kh', seat: 0 }] }])
  expect(landings.landed(4, 'Kh')).toBe(true)
  expect(landings.landed(4, 'Kh')).toBe(false)
  expect(landings.landed(4, 'Qh')).toBe(false)
  vi.advanceTimersByTime(KING_MS)
  expect(landings.finished).toEqual([])
  vi.useRealTimers()
})
