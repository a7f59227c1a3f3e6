import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { hand, memory, RIVAL, snapshot, TwinSocket } from '../testing/twin'
import { Keep } from './keep'
import { DOUBT_AFTER, PONG_WITHIN, SILENCE } from './link'
import { ENDING_MS, TvSession } from './tv.svelte'

const sockets: TwinSocket[] = []
let tv: TvSession
let address: string | null
let reloads: number
let still: boolean

beforeEach(() => {
  vi.useFakeTimers()
  sockets.length = 0
  address = null
  reloads = 0
  still = false
  tv = new TvSession({
    open: () => {
      const socket = new TwinSocket()
      sockets.push(socket)
      return socket
    },
    now: () => 0,
    random: () => 1,
    hidden: () => false,
    url: 'ws://twin/tv',
    address: (room) => (address = room),
    still: () => still,
    keep: new Keep(memory(), memory()),
    build: () => 'old',
    reload: () => (reloads += 1),
  })
})
afterEach(() => {
  vi.useRealTimers()
})

const socket = (): TwinSocket => {
  const last = sockets.at(-1)
  if (!last) throw new Error('no socket was opened')
  return last
}
function watch(): void {
  tv.watch(' bcd-fg ')
  socket().onopen?.({})
}
const table = () => {
  const shot = snapshot(5)
  return { ...shot, you: undefined, view: { ...hand(), mine: undefined } }
}

describe('a TV', () => {
  test('of a live hand looks into a silence at once, and leaves a server that stands still', () => {
    watch()
    socket().say({ t: 'welcome', v: 1, build: 'old' })
    socket().say(table())
    vi.advanceTimersByTime(DOUBT_AFTER + PONG_WITHIN)
    expect(tv.status).toBe('reconnecting')
  })

  test('between hands waits out a silence', () => {
    watch()
    socket().say({ t: 'welcome', v: 1, build: 'old' })
    const shot = table()
    socket().say({ ...shot, table: { ...shot.table, phase: 'scores' } })
    vi.advanceTimersByTime(SILENCE - 1)
    expect(tv.status).toBe('table')
  })

  test('older than the servers loads itself anew between hands', () => {
    watch()
    socket().say({ t: 'welcome', v: 1, build: 'new' })
    expect(reloads).toBe(1)
  })

  test('does not do so while a hand is shown', () => {
    watch()
    socket().say({ t: 'welcome', v: 1, build: 'old' })
    socket().say(table())
    socket().die()
    vi.advanceTimersByTime(300)
    socket().onopen?.({})
    socket().say({ t: 'welcome', v: 1, build: 'new' })
    socket().say(table())
    expect(reloads).toBe(0)
    socket().say({ t: 'table', n: 1, seq: 6, steps: [{ ev: [{ t: 'scores', over: false }] }] })
    expect(reloads).toBe(1)
  })

  test('whose version is not spoken loads itself anew once, then says so', () => {
    watch()
    socket().say({ t: 'error', code: 'bad_version' })
    socket().onclose?.({ code: 4004 })
    expect([reloads, tv.why, address]).toEqual([1, null, 'BCDFG'])
    watch()
    socket().say({ t: 'error', code: 'bad_version' })
    expect([reloads, tv.why]).toEqual([1, 'This page is out of date. Load it again.'])
  })

  test('takes a code as typed and puts it into the address (case 8)', () => {
    watch()
    expect(socket().sent[0]).toEqual({ t: 'watch', v: 1, room: 'BCDFG' })
    expect(address).toBe('BCDFG')
  })

  test('says when there is no such room, and asks again', () => {
    watch()
    socket().say({ t: 'error', code: 'no_room' })
    expect(tv.status).toBe('ask')
    expect(tv.why).toContain('no room')
    expect(address).toBeNull()
    tv.watch('aeiou')
    expect(sockets).toHaveLength(1)
  })

  test('shows the lobby, then the table, then the lobby again', () => {
    watch()
    socket().say({ t: 'lobby', room: 'BCDFG', rev: 1, host: 'p0', players: [] })
    expect(tv.status).toBe('lobby')
    socket().say(table())
    expect(tv.status).toBe('table')
    expect(tv.view?.middle).toHaveLength(1)
    socket().say({ t: 'table', n: 1, seq: 6, steps: [{ ev: [{ t: 'closed', why: 'host_left' }] }] })
    expect(tv.status).toBe('lobby')
    expect(tv.banner?.text).toBe('The host left')
  })

  test('follows the race: a card lands, and a snatched pile lights up in the colour of who took it', () => {
    watch()
    socket().say(table())
    socket().say({
      t: 'table',
      n: 1,
      seq: 6,
      steps: [{ ev: [{ t: 'placed', seat: RIVAL, card: '5h', pile: 1, src: 'snatch', left: 8 }] }, { ev: [], by: 0, no: { code: 'snatched', by: RIVAL, pile: 1 } }],
    })
    expect(tv.view?.middle[0]?.top.map((c) => c.card)).toEqual(['4h', '5h'])
    expect(tv.view?.seats[1]?.left).toBe(8)
    expect(tv.flashes.map((f) => [f.pile, f.colour])).toEqual([[1, RIVAL]])
  })

  test('two things said in one frame are read one after the other', () => {
    watch()
    socket().say(table())
    socket().say({ t: 'table', n: 1, seq: 7, steps: [{ ev: [{ t: 'snatch_turn', turns: 1 }, { t: 'all_stuck', stuck: true }] }] })
    expect(tv.banner?.text).toBe('Snatch piles turn')
    vi.advanceTimersByTime(900)
    expect(tv.banner?.text).toBe('Everyone’s stuck')
    vi.advanceTimersByTime(1600)
    expect(tv.banner).toBeNull()
  })

  test('comes back to a snapshot by itself', () => {
    watch()
    socket().say(table())
    socket().die(1013)
    expect(tv.status).toBe('reconnecting')
    vi.advanceTimersByTime(250)
    expect(sockets).toHaveLength(2)
    socket().onopen?.({})
    socket().say(table())
    expect(tv.status).toBe('table')
  })

  const ends = { t: 'table', n: 1, seq: 6, steps: [{ ev: [{ t: 'hand_ended', result: { by: RIVAL, scores: [] } }, { t: 'scores', over: false }] }] } as const

  test('sees a hand end for a moment before the scores', () => {
    watch()
    socket().say(table())
    socket().say(ends)
    expect([tv.table?.phase, tv.ending]).toEqual(['scores', true])
    vi.advanceTimersByTime(ENDING_MS)
    expect(tv.ending).toBe(false)
  })

  test('shows the scores at once where nothing should move, and where they are already there', () => {
    still = true
    watch()
    socket().say(table())
    socket().say(ends)
    expect(tv.ending).toBe(false)
    still = false
    socket().say(ends)
    const shot = table()
    socket().say({ ...shot, table: { ...shot.table, phase: 'scores' } })
    expect(tv.ending).toBe(false)
  })

  test('sees a pile with its king for a moment, and a hand later nothing of it', () => {
    watch()
    socket().say(table())
    const king = { t: 'placed', seat: RIVAL, card: 'Kh', pile: 1, src: 'work', left: 8, done: true } as const
    socket().say({ t: 'table', n: 1, seq: 6, steps: [{ ev: [king] }] })
    expect(tv.view?.middle).toEqual([])
    expect(tv.landings.finished.map((pile) => pile.top.at(-1)?.card)).toEqual(['Kh'])
    expect(tv.landings.landed(1, 'Kh')).toBe(true)
    socket().say({ t: 'table', n: 2, seq: 7, steps: [{ ev: [{ t: 'dealt', seats: [0, 1] }] }] })
    expect(tv.landings.finished).toEqual([])
  })

  test('left for another room asks for its code, and is in the old one no more', () => {
    watch()
    socket().say(table())
    tv.leave()
    expect([tv.status, tv.room, tv.table, address]).toEqual(['ask', null, null, null])
  })

  test('lets nothing fly that a snapshot brought', () => {
    watch()
    socket().say(table())
    expect(tv.landings.landed(1, '4h')).toBe(false)
  })
})
