import { expect, test } from 'vitest'
import { hand } from '../../testing/twin'
import { BACK } from './fits'
import { Elements, items } from './items'
import { grid, layout } from './layout'

const l = layout(390, 796)
const middle = { grid: grid(1, l.middle.w, l.middle.h), slots: [1] }
const mine = hand().mine!

test('a back and the card that turns up there are one element, which can flip', () => {
  const elements = new Elements()
  const key = (turned: string[], card: string | null): string | undefined =>
    elements.name(items({ ...mine, turned }, [], l, middle)).find((item) => item.card === card)?.key
  const back = key(['Kd', BACK], null)
  expect(back).toBeDefined()
  expect(key(['Kd', '3c'], '3c')).toBe(back)
  // Played, and another one turned in its place: that one is new.
  expect(key(['Kd', BACK], null)).not.toBe(back)
})

test('two backs, one after the other, become the cards that lie there', () => {
  const elements = new Elements()
  const draw = (turned: string[]) => elements.name(items({ ...mine, turned }, [], l, middle)).filter((item) => item.place.startsWith('turned'))
  const backs = draw([BACK, BACK]).map((item) => item.key)
  expect(draw(['3c', BACK]).map((item) => item.key)).toEqual(backs)
  expect(draw(['3c', '4d']).map((item) => item.key)).toEqual(backs)
})

test('a card that comes back from the middle is its own element again, not the one of the back that it covers', () => {
  const elements = new Elements()
  const first = elements.name(items({ ...mine, snatch: '6h' }, [], l, middle)).find((item) => item.card === '6h')
  const flight = [{ key: 1, card: '6h', pile: 1 }]
  elements.name(items({ ...mine, snatch: BACK }, flight, l, middle))
  const home = elements.name(items({ ...mine, snatch: '6h' }, [], l, middle)).find((item) => item.card === '6h')
  expect(home?.key).toBe(first?.key)
})

test('what lies as it lay is the same object, so that nothing of it is drawn anew', () => {
  const elements = new Elements()
  const draw = (own: typeof mine) => new Map(elements.name(items(own, [], l, middle)).map((item) => [item.key, item]))
  const before = draw({ ...mine, turned: [BACK] })
  const after = draw({ ...structuredClone(mine), turned: ['3c'] })
  const anew = [...after].filter(([key, item]) => before.get(key) !== item).map(([, item]) => item.card)
  expect(anew).toEqual(['3c'])
})

test('whatever moves, elements keep their order, for one that is moved in the page jumps', () => {
  const elements = new Elements()
  const order = (own: typeof mine, flights: { key: number; card: string; pile: number | null }[] = []): string[] =>
    elements.name(items(own, flights, l, middle)).map((item) => item.key)
  const before = order(mine)
  const [head, ...others] = mine.work
  const sent = order({ ...mine, work: [head!, ...others.map((pile) => (pile[0] === '5h' ? [] : pile))] }, [{ key: 1, card: '5h', pile: 1 }])
  expect(sent).toEqual(before)
  expect(order(mine)).toEqual(before)
})
