import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Twin } from '../testing/twin'
import { en } from '../messages/en'
import { createRoom, errorOf, joinRoom, type ActError } from './api'
import { Asked } from './asked'

const failure = (promise: Promise<unknown>): Promise<ActError> =>
  promise.then(
    () => Promise.reject(new Error('it went well')),
    (error: ActError) => error,
  )

describe('a lobby that can’t', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('says so in words as soon as the gateway does, and works when it is asked again', async () => {
    const asked = new Asked()
    const first = failure(asked.ask((req) => req === 1))
    asked.answer(1, errorOf('lobby_away'))
    expect((await first).message).toBe(en.errors.lobby_away)
    const second = asked.ask((req) => req === 2)
    asked.answer(2, null)
    await expect(second).resolves.toBeUndefined()
  })

  test('is given up for after 8 s, after the gateway’s own 7 s for a start', async () => {
    const asked = new Asked()
    let said: ActError | null = null
    void failure(asked.ask(() => true)).then((error) => (said = error))
    await vi.advanceTimersByTimeAsync(7500)
    expect(said).toBeNull()
    await vi.advanceTimersByTimeAsync(500)
    expect(said).toMatchObject({ code: 'lobby_away', message: en.errors.lobby_away })
  })

  test('is shown to be away until it is back', () => {
    const twin = new Twin()
    twin.begin()
    twin.connect()
    twin.socket.say({ t: 'lobby_away' })
    expect(twin.session.lobbyAway).toBe(true)
    twin.socket.say({ t: 'lobby_away', away: false })
    expect(twin.session.lobbyAway).toBe(false)
  })

  test('no table that can be opened is said in words too', () => {
    expect(errorOf('engine_away').message).toBe(en.errors.engine_away)
  })
})

describe('hosting and joining while the lobby is away', () => {
  const away = () => Promise.resolve(new Response(JSON.stringify({ error: 'lobby_away', text: '' }), { status: 503 }))

  test('says so at once, and goes well when it is back', async () => {
    expect(await failure(createRoom(away, 'Ann'))).toMatchObject({ code: 'lobby_away', message: en.errors.lobby_away })
    expect(await failure(joinRoom(away, 'BCDFG', 'Bo', null))).toMatchObject({ code: 'lobby_away' })
    const entry = { room: 'BCDFG', player: 'p1', token: 'token' }
    const back = () => Promise.resolve(new Response(JSON.stringify(entry)))
    expect(await createRoom(back, 'Ann')).toMatchObject(entry)
  })

  test('a gateway that gives no answer is asked once more for the same room', async () => {
    const asked: string[] = []
    const silent = (_: string, init: RequestInit) => {
      asked.push(String(init.body))
      return Promise.reject(new DOMException('timed out', 'TimeoutError'))
    }
    expect(await failure(createRoom(silent, 'Ann'))).toMatchObject({ code: 'offline' })
    expect(asked).toHaveLength(2)
    expect(asked[0]).toBe(asked[1])
  })
})
