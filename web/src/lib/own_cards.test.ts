import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { leftOf } from '../games/snatch_solitaire/ahead'
import { BACK, fitsMiddle, fitsWork, known } from '../games/snatch_solitaire/fits'
import { OwnHand } from '../testing/own_hand'
import { ME, Twin } from '../testing/twin'
import type { AnyEvent, GameMove, Step, View } from './wire'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** The same row of numbers from 0 to 1 for the same seed. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** A player, an engine that decides several moves at once, and a line on which every message comes by itself. */
class Line {
  readonly twin = new Twin()
  readonly hand: OwnHand
  /** Said by the page, not decided yet. */
  #asked: [number, GameMove][] = []
  #heard = 0
  #coming: { t: 'table' | 'seat'; seq: number; steps: Step[] }[] = []
  #seq = 10
  #numbers = { table: 0, seat: 0 }
  #landed = new Set<string>()
  /** Where each card for the middle began, the last time. */
  #sources = new Map<string, string>()

  constructor(readonly random: () => number) {
    this.hand = new OwnHand(ME, random, () => random() < 0.2)
    this.twin.begin()
    this.twin.connect(0, this.hand.view())
  }

  get quiet(): boolean {
    return this.#asked.length === 0 && this.#coming.length === 0
  }

  /** One move of those that the page offers. */
  move(): void {
    const { view, flights } = this.twin.session
    const all = view ? offered(view, flights.length > 0) : []
    const m = all[Math.floor(this.random() * all.length)]
    if (!m) return
    if (m.t === 'middle') this.#sources.set(m.card, m.src)
    this.twin.session.move(m)
  }

  /** One record: its public part is a message, and its own part is another. */
  decide(most: number): void {
    const sent = this.twin.socket.moves()
    this.#asked.push(...sent.slice(this.#heard))
    this.#heard = sent.length
    const table: Step[] = []
    const seat: Step[] = []
    for (const [id, m] of this.#asked.splice(0, most)) {
      this.#seq += 1
      const { shown, own, no } = this.hand.decide(m)
      if (shown.length > 0) table.push({ ev: shown, by: ME, id })
      if (own.length > 0 || shown.length === 0) seat.push({ ev: own, id, no })
    }
    if (table.length > 0) this.#coming.push({ t: 'table', seq: this.#seq, steps: table })
    if (seat.length > 0) this.#coming.push({ t: 'seat', seq: this.#seq, steps: seat })
  }

  deliver(): void {
    const message = this.#coming.shift()
    if (!message) return
    const events = message.steps.flatMap(({ ev }) => (ev ?? []) as AnyEvent[])
    for (const event of events) if (event.t === 'placed') this.#landed.add(event.card)
    this.twin.socket.say({ ...message, n: ++this.#numbers[message.t] })
  }

  /** What is wrong with the cards that are shown; null: each of the 52 lies in one place. */
  fault(): string | null {
    const { view, flights } = this.twin.session
    const mine = view?.mine
    if (!view || !mine) return 'no cards'
    const shown = [mine.snatch, ...mine.turned, ...mine.work.flat(), ...flights.map((f) => f.card), ...this.#landed].filter(known)
    if (new Set(shown).size !== shown.length) return `twice: ${shown.filter((card, i) => shown.indexOf(card) !== i).join(' ')}`
    const counted = flights.filter((f) => this.#sources.get(f.card) === 'snatch').length
    const all = leftOf(view, ME) + mine.stock + mine.turned.length + mine.work.flat().length + flights.length - counted + this.#landed.size
    return all === 52 ? null : `${all} cards`
  }
}

/** Undo waits for a card on its way. */
function offered({ middle, mine }: View, flying: boolean): GameMove[] {
  if (!mine) return []
  const all: GameMove[] = []
  if (mine.stock > 0 || mine.turned.length > 0) all.push({ t: 'turn' })
  if (mine.undo && !flying) all.push({ t: 'undo' }, { t: 'undo' })
  const tops = [
    { src: 'snatch', card: mine.snatch } as const,
    { src: 'turned', card: mine.turned.at(-1) ?? null } as const,
    ...mine.work.map((pile, work) => ({ src: 'work', card: pile.at(-1) ?? null, work }) as const),
  ]
  for (const { card, ...from } of tops) {
    if (card === null || card === BACK) continue
    if ([null, ...middle.map((pile) => pile.top.at(-1)?.card ?? null)].some((top) => fitsMiddle(card, top))) all.push({ t: 'middle', card, ...from })
    mine.work.forEach((pile, to) => {
      if (fitsWork(card, pile.at(-1) ?? null)) all.push({ t: 'work', card, ...from, to })
    })
  }
  return all
}

/** Ms: on a quiet one all seeds take a second. */
const ON_A_BUSY_MACHINE = 60_000

test('whatever parts of whatever moves have come, each of the 52 cards lies in one place, and at rest as the engine has it', () => {
  let made = 0
  for (let seed = 1; seed <= 60; seed++) {
    const random = numbers(seed)
    const line = new Line(random)
    const faults: string[] = []
    const look = (): void => {
      const fault = line.fault()
      if (fault !== null) faults.push(fault)
    }
    for (let i = 0; i < 200; i++) {
      const what = random()
      if (what < 0.45) line.move()
      else if (what < 0.6) line.decide(1 + Math.floor(random() * 4))
      else line.deliver()
      look()
    }
    do {
      line.decide(4)
      line.deliver()
      look()
    } while (!line.quiet)
    expect([seed, faults]).toEqual([seed, []])
    expect(line.twin.session.view?.mine).toMatchObject(line.hand.view().mine ?? {})
    made += line.twin.socket.moves().length
  }
  expect(made).toBeGreaterThan(1000)
}, ON_A_BUSY_MACHINE)
