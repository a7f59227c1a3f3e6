import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { hand, ME, RIVAL, snapshot, Twin } from '../testing/twin'
import { DOUBT_AFTER, OPEN_WITHIN, OPEN_WITHIN_LEAST, PONG_WITHIN } from './link'
import { STALE_AFTER } from './outbox'

let twin: Twin
beforeEach(() => {
  vi.useFakeTimers()
  twin = new Twin()
})
afterEach(() => {
  vi.useRealTimers()
})

const toMiddle = { t: 'middle', card: '5h', src: 'work', work: 2 } as const
const toWork = { t: 'work', card: '6h', src: 'snatch', to: 1 } as const
const turn = { t: 'turn' } as const

describe('coming in', () => {
  test('a tab that was in a room says hello with its token and number, and shows the snapshot', () => {
    twin.begin()
    expect(twin.session.status).toBe('connecting')
    twin.connect()
    expect(twin.socket.sent[0]).toMatchObject({ t: 'hello', v: 1, token: 'token', tab: twin.keep.tab() })
    expect(twin.session.status).toBe('open')
    expect(twin.session.view?.mine?.snatch).toBe('6h')
    expect(twin.session.isHost).toBe(true)
  })

  test('an address with a room that this browser doesn’t know leads home, with the code filled in', () => {
    twin.session.begin('/r/zzzzz')
    expect(twin.session.status).toBe('home')
    expect(twin.session.invited).toBe('ZZZZZ')
    expect(twin.sockets).toHaveLength(0)
  })

  test('a snapshot’s countdown ends at the page’s own time', () => {
    twin.begin()
    twin.open()
    twin.time = 500
    const shot = snapshot(1)
    shot.table.phase = 'countdown'
    shot.table.countdown = 1200
    twin.socket.say(shot)
    expect(twin.session.ends).toBe(1700)
  })
})

describe('a host who leaves a table', () => {
  let left: boolean
  const leave = (): void => void twin.session.leave().then(() => (left = true))
  beforeEach(() => {
    left = false
    twin.begin()
    twin.connect()
    twin.socket.say({ t: 'lobby', room: 'BCDFG', rev: 1, host: 'p0', players: [] })
  })

  test('comes to the lobby, with everybody', async () => {
    leave()
    await vi.advanceTimersByTimeAsync(2000)
    expect(twin.session.table).not.toBeNull()
    twin.table([{ t: 'closed', why: 'host_left' }], { by: ME, id: 1 })
    await vi.advanceTimersByTimeAsync(0)
    expect([twin.session.status, twin.session.table, left]).toEqual(['open', null, true])
  })

  test('is told so of the game that ended by it, until there is another', async () => {
    leave()
    twin.table([{ t: 'closed', why: 'host_left' }], { by: ME, id: 1 })
    expect(twin.session.endedIt).toBe(true)
    twin.socket.say(snapshot(20, 0, hand(), 't2'))
    expect(twin.session.endedIt).toBe(false)
    twin.table([{ t: 'closed', why: 'host_left' }])
    expect(twin.session.endedIt).toBe(false)
  })

  test('asks twice, and both are answered', async () => {
    leave()
    const second = twin.session.leave()
    twin.table([{ t: 'closed', why: 'host_left' }], { by: ME, id: 1 })
    await second
    expect([twin.session.status, left]).toEqual(['open', true])
  })

  test('goes home when the line turns out to be dead', async () => {
    leave()
    twin.socket.die()
    await vi.advanceTimersByTimeAsync(0)
    expect([twin.session.status, left]).toEqual(['home', true])
  })

  test('goes home soon when there was no line', async () => {
    twin.socket.die()
    leave()
    expect(twin.session.status).toBe('reconnecting')
    await vi.advanceTimersByTimeAsync(1500)
    expect([twin.session.status, left]).toEqual(['home', true])
  })
})

describe('a room that was asked for and comes late', () => {
  let come: (room: string) => Promise<void>
  beforeEach(() => {
    const asked: ((room: string) => void)[] = []
    twin.fetch = () =>
      new Promise((resolve) => asked.push((room) => resolve(new Response(JSON.stringify({ room, player: 'p0', token: `of ${room}` })))))
    come = async (room) => {
      asked.shift()?.(room)
      await vi.advanceTimersByTimeAsync(0)
    }
  })

  test('is entered', async () => {
    void twin.session.host('Ann')
    await come('CCCCC')
    expect(twin.session.room).toBe('CCCCC')
  })

  test('is not, when the player went home meanwhile', async () => {
    void twin.session.host('Ann')
    await twin.session.leave()
    await come('CCCCC')
    expect([twin.session.status, twin.session.room, twin.session.lastRoom()]).toEqual(['home', null, 'BCDFG'])
  })

  test('takes nobody out of the one that was asked for after it', async () => {
    void twin.session.host('Ann')
    void twin.session.join('DDDDD', 'Ann')
    await come('CCCCC')
    expect(twin.session.room).toBeNull()
    await come('DDDDD')
    expect(twin.session.room).toBe('DDDDD')
  })
})

test('a countdown that is held keeps what it had left', () => {
  twin.begin()
  twin.connect()
  twin.table([{ t: 'countdown', hand: 2, ms: 3000 }])
  twin.time = 1000
  twin.table([{ t: 'paused', by: -1 }])
  expect(twin.session.ends).toBeNull()
  twin.time = 9000
  twin.table([{ t: 'resumed', by: -1 }])
  expect(twin.session.ends).toBe(11_000)
})

describe('moves and their answers', () => {
  beforeEach(() => {
    twin.begin()
    twin.connect()
  })

  test('ids count up from 1 with the basis that is shown', () => {
    twin.session.move(turn)
    twin.table([{ t: 'left', seat: RIVAL, left: 8 }])
    twin.session.move(turn)
    const sent = twin.socket.sent.filter((m) => m['t'] === 'move')
    expect(sent.map((m) => [m['id'], m['basis']])).toEqual([
      [1, 10],
      [2, 11],
    ])
  })

  test('a card for the middle flies until the table shows it, and is never in two places', () => {
    twin.session.move(toMiddle)
    expect(twin.session.flights.map((f) => f.card)).toEqual(['5h'])
    twin.table([{ t: 'placed', seat: ME, card: '5h', pile: 1, src: 'work', left: 5 }], { by: ME, id: 1 })
    expect(twin.session.flights).toEqual([])
    expect(twin.session.view?.middle[0]?.top.at(-1)?.card).toBe('5h')
    expect(twin.session.view?.mine?.work[2]).toEqual([])
    twin.seat([{ t: 'your_placed', card: '5h', src: 'work', work: 2 }], { id: 1 })
    expect(twin.session.view?.mine?.work[2]).toEqual([])
    twin.session.move(turn)
    expect(twin.socket.moves().map(([id]) => id)).toEqual([1, 2])
  })

  test('an own-cards move from the snatch pile takes its number down once', () => {
    twin.session.move(toWork)
    const left = (): number | undefined => twin.session.view?.seats[0]?.left
    expect(left()).toBe(4)
    twin.table([{ t: 'left', seat: ME, left: 4 }], { by: ME, id: 1 })
    expect(left()).toBe(4)
    expect(twin.session.view?.mine?.work[1]).toEqual(['7s', '6h'])
    twin.seat([{ t: 'worked', cards: ['6h'], src: 'snatch', to: 1, snatch: '2c' }], { id: 1 })
    expect(left()).toBe(4)
    expect(twin.session.view?.mine).toMatchObject({ snatch: '2c', undo: true })
    twin.session.move({ t: 'undo' })
    expect(twin.session.view?.mine).toMatchObject({ snatch: '6h', undo: false })
    expect(left()).toBe(5)
  })

  test('Snatched!: the card is home, the screen says by whom, and the pile lights up in their colour', () => {
    twin.session.move(toMiddle)
    twin.table([{ t: 'placed', seat: RIVAL, card: '5h', pile: 1, src: 'snatch', left: 8 }])
    expect(twin.session.flights).toHaveLength(1)
    twin.seat([], { id: 1, no: { code: 'snatched', by: RIVAL, pile: 1 } })
    expect(twin.session.flights).toEqual([])
    expect(twin.session.view?.mine?.work[2]).toEqual(['5h'])
    expect(twin.session.toasts.map((t) => [t.text, t.colour])).toEqual([['Snatched! by Bo', RIVAL]])
    expect(twin.session.flashes.map((f) => [f.pile, f.colour])).toEqual([[1, RIVAL]])
  })

  test('a refused move never comes back by itself, also when it would fit a moment later (case 17)', () => {
    twin.session.move({ t: 'middle', card: '6h', src: 'snatch' })
    twin.seat([], { id: 1, no: { code: 'no_pile' } })
    expect(twin.session.toasts.map((t) => t.text)).toEqual(['No pile for that'])
    twin.table([{ t: 'placed', seat: RIVAL, card: '5h', pile: 1, src: 'snatch', left: 8 }])
    twin.socket.die()
    vi.advanceTimersByTime(300)
    twin.connect(1)
    expect(twin.socket.moves()).toEqual([])
    expect(twin.session.view?.mine?.snatch).toBe('6h')
    expect(twin.session.flights).toEqual([])
  })

  test('a stale move comes home quietly', () => {
    twin.session.move(toMiddle)
    twin.seat([], { id: 1, no: { code: 'stale' } })
    expect(twin.session.toasts).toEqual([])
    expect(twin.session.view?.mine?.work[2]).toEqual(['5h'])
  })

  test('others’ steps and their ids settle nothing of one’s own', () => {
    twin.session.move(toMiddle)
    twin.table([{ t: 'placed', seat: RIVAL, card: 'As', pile: 2, src: 'work', left: 9 }], { by: RIVAL, id: 1 })
    expect(twin.session.flights).toHaveLength(1)
  })

  test('a turn shows a back until its card comes', () => {
    twin.session.move(turn)
    expect(twin.session.view?.mine?.turned).toEqual(['Kd', '??'])
    twin.seat([{ t: 'turned', card: '9c' }], { id: 1 })
    expect(twin.session.view?.mine?.turned).toEqual(['Kd', '9c'])
    expect(twin.session.view?.mine?.stock).toBe(1)
  })
})

describe('a socket that drops', () => {
  beforeEach(() => {
    twin.begin()
    twin.connect()
  })

  test('comes back with back-off up to 5 s, and what is shown stays', () => {
    twin.socket.die()
    expect(twin.session.status).toBe('reconnecting')
    expect(twin.session.view).not.toBeNull()
    const waits: number[] = []
    for (let i = 0; i < 7; i++) {
      const before = twin.sockets.length
      let waited = 0
      while (twin.sockets.length === before) {
        vi.advanceTimersByTime(100)
        waited += 100
      }
      waits.push(waited)
      twin.socket.die()
    }
    expect(waits).toEqual([200, 400, 800, 1600, 3200, 5000, 5000])
  })

  test('comes back at once when the network does', () => {
    twin.socket.die()
    twin.session.wake()
    expect(twin.sockets).toHaveLength(2)
  })

  test('is noticed when it says nothing any more', () => {
    vi.advanceTimersByTime(10_900)
    expect(twin.session.status).toBe('open')
    expect(twin.socket.sent.filter((m) => m['t'] === 'ping').length).toBeGreaterThan(2)
    vi.advanceTimersByTime(200)
    expect(twin.session.status).toBe('reconnecting')
    expect(twin.sockets[0]?.closed).toBe(4000)
  })

  test('is not given up for its silence while the page is in the background (case 13)', () => {
    twin.hidden = true
    vi.advanceTimersByTime(120_000)
    expect(twin.session.status).toBe('open')
    expect(twin.sockets).toHaveLength(1)
    twin.hidden = false
    twin.session.wake()
    vi.advanceTimersByTime(2600)
    expect(twin.session.status).toBe('reconnecting')
  })

  test('moves without an answer are sent again, those that the snapshot covers are not (case 19)', () => {
    twin.session.move(toWork)
    twin.session.move(turn)
    twin.session.move(toMiddle)
    twin.socket.die()
    vi.advanceTimersByTime(300)
    const after = hand()
    after.mine = { snatch: '2c', work: [['9d', '8s'], ['7s', '6h'], ['5h'], []], stock: 2, turned: ['Kd'], undo: true }
    after.seats[0] = { seat: ME, left: 4, total: 0 }
    twin.connect(1, after)
    expect(twin.socket.moves()).toEqual([
      [2, turn],
      [3, toMiddle],
    ])
    expect(twin.session.view?.mine).toMatchObject({ snatch: '2c', turned: ['Kd', '??'] })
    expect(twin.session.flights).toHaveLength(1)
  })

  test('a move made while it is down waits for the snapshot, and then the engine’s state is shown (case 18)', () => {
    twin.socket.die()
    twin.session.move(toMiddle)
    expect(twin.session.flights).toHaveLength(1)
    vi.advanceTimersByTime(300)
    twin.open()
    expect(twin.socket.moves()).toEqual([])
    const taken = hand()
    taken.middle = [{ id: 1, top: [{ card: '4h', seat: RIVAL }, { card: '5h', seat: RIVAL }] }]
    twin.socket.say(snapshot(20, 0, taken))
    expect(twin.socket.moves()).toEqual([[1, toMiddle]])
    twin.seat([], { id: 1, no: { code: 'snatched', by: RIVAL, pile: 1 } })
    expect(twin.session.view?.middle).toEqual(taken.middle)
    expect(twin.session.view?.mine?.work[2]).toEqual(['5h'])
    expect(twin.session.flights).toEqual([])
  })

  test('a flick from long ago is not carried out', () => {
    twin.socket.die()
    twin.session.move(toMiddle)
    twin.time += STALE_AFTER + 1
    vi.advanceTimersByTime(300)
    twin.connect()
    expect(twin.socket.moves()).toEqual([])
    expect(twin.session.view?.mine?.work[2]).toEqual(['5h'])
    twin.session.move(turn)
    expect(twin.socket.moves()).toEqual([[1, turn]])
  })

  test('after a reload ids go on where the engine is', () => {
    twin.socket.say(snapshot(12, 41))
    twin.session.move(turn)
    expect(twin.socket.moves()).toEqual([[42, turn]])
  })

  test('a new table starts anew: moves of the old one are dropped', () => {
    twin.session.move(turn)
    twin.socket.die()
    vi.advanceTimersByTime(300)
    twin.open()
    twin.socket.say(snapshot(0, 0, hand(), 't2'))
    expect(twin.socket.moves()).toEqual([])
    expect(twin.session.view?.mine?.turned).toEqual(['Kd'])
  })
})

describe('ids without gaps', () => {
  beforeEach(() => {
    twin.begin()
    twin.connect()
    twin.session.move(turn)
    twin.session.move(toWork)
    twin.session.move(toMiddle)
  })

  test('expect rewinds to the id that is asked for', () => {
    twin.socket.say({ t: 'expect', id: 2 })
    expect(twin.socket.moves().slice(3)).toEqual([
      [2, toWork],
      [3, toMiddle],
    ])
  })

  test('a move thrown out as bad leaves its id to the next', () => {
    twin.socket.say({ t: 'error', code: 'bad_message', id: 2 })
    expect(twin.socket.moves().slice(3)).toEqual([[2, toMiddle]])
    expect(twin.session.view?.mine).toMatchObject({ snatch: '6h' })
    twin.session.move(turn)
    expect(twin.socket.moves().at(-1)).toEqual([3, turn])
  })

  test('the stored answer to a repeated move settles it', () => {
    twin.socket.say({ t: 'answer', id: 3, no: { code: 'no_pile' } })
    expect(twin.session.flights).toEqual([])
    expect(twin.session.view?.mine?.work[2]).toEqual(['5h'])
  })

  test('an answer in the own frames settles what came before it', () => {
    twin.seat([], { id: 3, no: { code: 'no_pile' } })
    expect(twin.session.view?.mine).toEqual(hand().mine)
  })

  test('too fast: the same moves go out again a little later', () => {
    twin.socket.say({ t: 'error', code: 'slow_down', id: 2 })
    expect(twin.socket.moves()).toHaveLength(3)
    vi.advanceTimersByTime(500)
    expect(twin.socket.moves().slice(3).map(([id]) => id)).toEqual([1, 2, 3])
  })
})

test('who comes back to a room that filled up meanwhile is told so, and waits', () => {
  twin.begin()
  twin.connect()
  twin.socket.say({ t: 'error', code: 'full' })
  expect(twin.session.toasts.map((t) => t.text)).toEqual(['The room is full.'])
  expect(twin.session.status).toBe('open')
})

describe('the ends of a session', () => {
  beforeEach(() => {
    twin.begin()
    twin.connect()
  })

  test.each([
    ['a message', () => twin.socket.say({ t: 'taken_over' })],
    ['close code 4001', () => twin.socket.die(4001)],
  ])('opened elsewhere, by %s: it says so, doesn’t fight back, and plays here only when asked (case 3)', (_, how) => {
    twin.session.move(turn)
    how()
    expect(twin.session.status).toBe('taken_over')
    vi.advanceTimersByTime(60_000)
    twin.session.wake()
    expect(twin.sockets).toHaveLength(1)
    twin.session.move(turn)
    twin.session.resume()
    expect(twin.sockets).toHaveLength(2)
    twin.connect()
    expect(twin.socket.moves()).toEqual([])
  })

  test('removed by the host: home, with the reason, and no way back by the old token', () => {
    twin.socket.die(4003)
    expect(twin.session.status).toBe('gone')
    expect(twin.session.why).toContain('removed')
    expect(twin.keep.ticket('BCDFG')).toBeNull()
  })

  test('too slow: closed with 1013, back to a snapshot', () => {
    twin.socket.die(1013)
    expect(twin.session.status).toBe('reconnecting')
    vi.advanceTimersByTime(300)
    expect(twin.sockets).toHaveLength(2)
  })

  test('the host’s × brings everyone back to the room, and the others’ screens say why', () => {
    twin.table([{ t: 'host', seat: RIVAL }])
    twin.socket.say({ t: 'lobby', room: 'BCDFG', rev: 3, host: 'p0', players: [] })
    expect(twin.session.table).not.toBeNull()
    twin.table([{ t: 'closed', why: 'host_left' }])
    expect(twin.session.table).toBeNull()
    expect(twin.session.lobby?.rev).toBe(3)
    expect(twin.session.banner?.text).toBe('The host left')
  })

  test('waiting for the table shows until its snapshot', () => {
    twin.socket.say({ t: 'waiting' })
    expect(twin.session.status).toBe('waiting')
    twin.session.move(turn)
    expect(twin.socket.moves()).toEqual([])
    twin.socket.say(snapshot(11))
    expect(twin.session.status).toBe('open')
    expect(twin.socket.moves()).toEqual([[1, turn]])
  })
})

describe('ids that a socket was given', () => {
  beforeEach(() => {
    twin.begin()
    twin.connect()
  })

  test('stay their moves’ after waiting, however old those are; what was only kept and is old is dropped', () => {
    twin.session.move(toWork)
    twin.session.move(turn)
    twin.socket.say({ t: 'waiting' })
    twin.session.move(turn)
    twin.time = 1
    twin.session.move(toMiddle)
    twin.time = STALE_AFTER
    twin.socket.say(snapshot(twin.seq))
    expect(twin.socket.moves()).toEqual([
      [1, toWork],
      [2, turn],
      // and once more:
      [1, toWork],
      [2, turn],
      [3, toMiddle],
    ])
    twin.session.move(turn)
    expect(twin.socket.moves().at(-1)).toEqual([4, turn])
  })

  test('are never another move’s, also when a snapshot has decided some of them', () => {
    for (const m of [toWork, turn, toMiddle]) twin.session.move(m)
    twin.socket.say({ t: 'waiting' })
    twin.time = STALE_AFTER + 1
    twin.socket.say(snapshot(twin.seq, 1))
    twin.session.move(turn)
    const byId = new Map<number, Set<string>>()
    for (const [id, m] of twin.socket.moves()) byId.set(id, (byId.get(id) ?? new Set()).add(JSON.stringify(m)))
    expect([...byId.values()].map((moves) => moves.size)).toEqual([1, 1, 1, 1])
    expect(twin.socket.moves().at(-1)).toEqual([4, turn])
  })

  test('are free after a new hello: old moves are dropped, the rest is numbered from what was answered', () => {
    twin.session.move(toWork)
    twin.time = STALE_AFTER
    twin.session.move(toMiddle)
    twin.socket.die()
    vi.advanceTimersByTime(300)
    twin.connect()
    expect(twin.socket.moves()).toEqual([[1, toMiddle]])
  })
})

describe('a server that stands still', () => {
  beforeEach(() => {
    twin.begin()
    twin.connect()
  })
  const pings = (): number => twin.socket.sent.filter((m) => m['t'] === 'ping').length

  test('is given up 5 s after a move that it doesn’t answer', () => {
    vi.advanceTimersByTime(100)
    const before = pings()
    twin.session.move(turn)
    vi.advanceTimersByTime(DOUBT_AFTER)
    expect(pings()).toBe(before + 1)
    vi.advanceTimersByTime(PONG_WITHIN - 1)
    expect(twin.session.status).toBe('open')
    vi.advanceTimersByTime(1)
    expect(twin.session.status).toBe('reconnecting')
    vi.advanceTimersByTime(300)
    twin.connect(0)
    expect(twin.socket.moves()).toEqual([[1, turn]])
  })

  test('is not doubted while anything is heard, though a move has no answer', () => {
    twin.session.move(turn)
    for (let i = 0; i < 20; i++) {
      vi.advanceTimersByTime(DOUBT_AFTER - 1)
      twin.table([{ t: 'left', seat: RIVAL, left: 8 }])
    }
    expect(twin.sockets).toHaveLength(1)
  })

  test('stays the server while it answers the pings that ask', () => {
    twin.session.move(turn)
    for (let i = 0; i < 20; i++) {
      vi.advanceTimersByTime(DOUBT_AFTER + PONG_WITHIN - 100)
      twin.socket.say({ t: 'pong', at: 0 })
    }
    expect(twin.sockets).toHaveLength(1)
  })

  test('has longer for its answer after each socket given up in vain, and as before once it is quick', () => {
    const given: number[] = []
    const give = (): void => {
      twin.session.move(turn)
      let waited = 0
      while (twin.session.status === 'open') {
        vi.advanceTimersByTime(100)
        waited += 100
      }
      given.push(waited)
      vi.advanceTimersByTime(300)
      twin.connect(twin.session.seq)
    }
    for (let i = 0; i < 4; i++) give()
    twin.socket.say({ t: 'pong', at: 0 })
    give()
    expect(given).toEqual([5000, 7000, 11_000, 11_000, 5000])
  })

  /** How long each of so many sockets that never open is given. */
  const given = (sockets: number): number[] => {
    const waits: number[] = []
    while (twin.socket.closed !== null) vi.advanceTimersByTime(50)
    for (let i = 0; i < sockets; i++) {
      const socket = twin.socket
      let waited = 0
      while (socket.closed === null) {
        vi.advanceTimersByTime(50)
        waited += 50
      }
      waits.push(waited)
      expect(twin.socket).not.toBe(socket) // the next one is tried at once
    }
    return waits
  }

  test('that takes a connection and serves nothing is given up after 1 s, and a slow one has longer next time', () => {
    twin.socket.die()
    expect(given(3)).toEqual([OPEN_WITHIN_LEAST, 1.5 * OPEN_WITHIN_LEAST, 2.25 * OPEN_WITHIN_LEAST])
  })

  test('is given 4 s as long as nobody knows how fast a socket opens here', () => {
    twin = new Twin()
    twin.begin()
    expect(given(3)).toEqual([OPEN_WITHIN, 1.5 * OPEN_WITHIN, 2.25 * OPEN_WITHIN])
  })

  test('is given longer where sockets have been slow to open', () => {
    twin.socket.die()
    vi.advanceTimersByTime(300)
    twin.time += 700
    twin.connect()
    twin.socket.die()
    expect(given(1)).toEqual([2800])
  })

  test('is left though it took the hello, when it says nothing to that', () => {
    twin.socket.die()
    vi.advanceTimersByTime(300)
    twin.socket.onopen?.({})
    vi.advanceTimersByTime(DOUBT_AFTER + PONG_WITHIN)
    expect(twin.socket.closed).toBe(4000)
  })
})
