import { describe, expect, test } from 'vitest'
import applyText from '../../../../games/snatch_solitaire/golden/apply.json?raw'
import fitsText from '../../../../games/snatch_solitaire/golden/fits.json?raw'
import type { GameEvent, View } from '../../lib/wire'
import { apply } from './apply'
import { fitsMiddle, fitsWork } from './fits'

interface Fit {
  top: string | null
  card: string
  fits: boolean
}
const fits = JSON.parse(fitsText) as {
  middle: Fit[]
  work: Fit[]
  run: { pile: string[]; from: number; top: string | null; fits: boolean }[]
}
const golden = JSON.parse(applyText) as {
  events: { name: string; audience: number | null; before: View; event: GameEvent; after: View }[]
  hands: { audience: number | null; start: View; events: GameEvent[]; end: View }[]
}

/** As the wire has it: what is at its default is left out. */
function plain(view: View): unknown {
  const bare = (value: object, defaults: Record<string, unknown>): object =>
    Object.fromEntries(Object.entries(value).filter(([key, v]) => !(key in defaults && defaults[key] === v)))
  return bare(
    {
      ...view,
      seats: view.seats.map((seat) => bare(seat, { total: 0 })),
      mine: view.mine ? bare(view.mine, { undo: false, stuck: false }) : null,
    },
    { turns: 0, all_stuck: false, end_offered: false, result: null, mine: null },
  )
}

describe('the kernel’s golden cases', () => {
  test('a card fits in the middle where the kernel says so', () => {
    expect(fits.middle.length).toBeGreaterThan(50)
    for (const { top, card, fits: right } of fits.middle) expect([top, card, fitsMiddle(card, top)]).toEqual([top, card, right])
  })

  test('a card, and a run by its first card, fits on a work pile where the kernel says so', () => {
    expect(fits.work.length).toBeGreaterThan(50)
    for (const { top, card, fits: right } of fits.work) expect([top, card, fitsWork(card, top)]).toEqual([top, card, right])
    for (const { pile, from, top, fits: right } of fits.run) expect([pile, from, top, fitsWork(pile[from] ?? '', top)]).toEqual([pile, from, top, right])
  })

  test.each(golden.events.map((one) => [`${one.name}, seen by ${one.audience ?? 'the TV'}`, one] as const))('%s', (_, one) => {
    const before = JSON.stringify(one.before)
    expect(plain(apply(one.before, one.event))).toEqual(plain(one.after))
    expect(JSON.stringify(one.before)).toBe(before)
  })

  test.each(golden.hands.map((hand) => [String(hand.audience ?? 'the TV'), hand] as const))('a whole hand as seen by %s', (_, hand) => {
    expect(hand.events.length).toBeGreaterThan(20)
    expect(plain(hand.events.reduce(apply, hand.start))).toEqual(plain(hand.end))
  })
})
