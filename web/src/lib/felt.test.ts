import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ME, snapshot, Twin } from '../testing/twin'
import { Felt, FELT_MS, LONGEST_MS } from './felt'

const EVERY = 30
const turn = { t: 'turn' } as const
const toMiddle = { t: 'middle', card: '5h', src: 'work', work: 2 } as const

/** So many moves in the bucket of so many ms. */
function took(...ms: number[]): number[] {
  const counts = Array<number>(FELT_MS.length + 1).fill(0)
  for (const one of ms) {
    const at = FELT_MS.findIndex((bound) => one <= bound)
    counts[at < 0 ? FELT_MS.length : at]! += 1
  }
  return counts
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('a page that is asked what it felt', () => {
  let twin: Twin
  const reports = (): unknown[] => twin.socket.sent.filter((m) => m['t'] === 'felt')
  /** So long that a report is due; the server gives signs of life meanwhile. */
  const later = async (): Promise<void> => {
    for (let s = 0; s <= 1.25 * EVERY; s += 5) {
      await vi.advanceTimersByTimeAsync(5000)
      if (twin.socket.closed === null) twin.socket.say({ t: 'pong', at: twin.time })
    }
  }
  const come = (felt = EVERY): void => {
    twin.open('x', felt)
    twin.socket.say(snapshot(twin.seq))
  }
  beforeEach(() => {
    twin = new Twin()
    twin.begin()
  })

  test('says how long a move took from the touch to what became of it, once, whatever it was', async () => {
    come()
    twin.session.move(turn)
    twin.time = 44
    twin.seat([], { id: 1 })
    twin.session.move(toMiddle)
    twin.time = 164
    twin.table([], { by: ME, id: 2 })
    twin.time = 900
    twin.seat([], { id: 2, no: { code: 'no_pile' } })
    await later()
    expect(reports()).toEqual([{ t: 'felt', moves: took(44, 120), ms: 164 }])
    await later()
    expect(reports()).toHaveLength(1)
  })

  test('says that it had to come back', async () => {
    come()
    twin.socket.die()
    await vi.advanceTimersByTimeAsync(1000)
    come()
    await later()
    expect(reports()).toEqual([{ t: 'felt', reconnects: 1 }])
  })

  test('says how many errors its scripts had, and not a word of them', async () => {
    come()
    twin.session.scriptFailed()
    twin.session.scriptFailed()
    await later()
    expect(reports()).toEqual([{ t: 'felt', errors: 2 }])
  })

  test('keeps what nobody takes until somebody does', async () => {
    come()
    twin.session.scriptFailed()
    twin.socket.die()
    const dead = reports()
    await later()
    come()
    await later()
    expect([dead, reports()]).toEqual([[], [{ t: 'felt', reconnects: 1, errors: 1 }]])
  })

  test('says nothing to a server of the release before, which doesn’t ask', async () => {
    come(0)
    twin.session.scriptFailed()
    twin.session.move(turn)
    twin.seat([], { id: 1 })
    await later()
    expect(reports()).toEqual([])
  })

  test('says nothing to a server that has not asked yet: it may be one of the release before', async () => {
    come()
    twin.session.scriptFailed()
    for (let s = 0; s < 36; s += 4) {
      await vi.advanceTimersByTimeAsync(4000)
      twin.socket.say({ t: 'pong', at: twin.time })
    }
    twin.socket.die()
    await vi.advanceTimersByTimeAsync(1000)
    twin.socket.onopen?.({})
    await vi.advanceTimersByTimeAsync(1000)
    expect([twin.sockets.length, reports()]).toEqual([2, []])
  })

  test('says nothing any more when it was opened elsewhere', async () => {
    come()
    twin.session.scriptFailed()
    twin.socket.die(4001)
    await later()
    expect(reports()).toEqual([])
  })

  test('doesn’t count what nobody looked at', async () => {
    come()
    twin.session.move(turn)
    twin.hidden = true
    twin.seat([], { id: 1 })
    twin.hidden = false
    twin.session.move(turn)
    twin.time = LONGEST_MS + 1
    twin.seat([], { id: 2 })
    await later()
    expect(reports()).toEqual([])
  })
})

test('a page that slept between an answer and the paint counts nothing', () => {
  let time = 0
  let paint = (): void => undefined
  const said: object[] = []
  const felt = new Felt((report) => said.push(report) > 0, {
    now: () => time,
    random: () => 0,
    hidden: () => false,
    painted: (then) => (paint = then),
  })
  felt.asked(1)
  felt.seen({ at: 0 })
  time = 5000
  paint()
  vi.advanceTimersByTime(1000)
  expect(said).toEqual([])
  felt.seen({ at: 4990 })
  time = 5040
  paint()
  vi.advanceTimersByTime(1000)
  expect(said).toEqual([{ t: 'felt', moves: took(50), ms: 50 }])
})

test('whatever befalls a page, it says no more than a server believes', () => {
  const said: Record<string, unknown>[] = []
  const felt = new Felt((report) => said.push({ ...report }) > 0, {
    now: () => 7,
    random: () => 0,
    hidden: () => false,
    painted: (then) => then(),
  })
  felt.asked(1)
  for (let i = 0; i < 1000; i += 1) {
    felt.seen({ at: 0 })
    felt.failed()
    felt.reconnected()
  }
  vi.advanceTimersByTime(1000)
  expect(said).toEqual([{ t: 'felt', moves: took(...Array<number>(600).fill(7)), ms: 4200, reconnects: 60, errors: 60 }])
})
