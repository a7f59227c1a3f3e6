import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { snapshot, Twin } from '../testing/twin'

let twin: Twin

beforeEach(() => {
  vi.useFakeTimers()
  twin = new Twin()
})
afterEach(() => {
  vi.useRealTimers()
})

test('a page older than the servers loads itself anew, but only once the hand is over', () => {
  twin.begin()
  twin.connect()
  twin.socket.die()
  vi.advanceTimersByTime(300)
  twin.open('newer')
  twin.socket.say(snapshot(20))
  expect(twin.reloads).toBe(0)
  twin.table([{ t: 'scores', over: false }])
  expect(twin.reloads).toBe(1)
  twin.table([{ t: 'dealing', hand: 2 }])
  expect(twin.reloads).toBe(1)
})

describe('a page of another release than the servers', () => {
  const scores = (): void => twin.table([{ t: 'scores', over: false }])
  const comesBack = (build: string): void => {
    twin.socket.die()
    vi.advanceTimersByTime(300)
    twin.open(build)
  }

  test('that stood open at home while they were renewed is found out by its first socket', () => {
    twin.build = 'older'
    twin.begin()
    twin.open('newer')
    expect(twin.reloads).toBe(1)
  })

  test('that missed the end of the hand loads itself anew at the scores it comes back to', () => {
    twin.begin()
    twin.connect()
    comesBack('newer')
    const shot = snapshot(20)
    twin.socket.say({ ...shot, table: { ...shot.table, phase: 'scores' } })
    expect(twin.reloads).toBe(1)
  })

  test('waits for what is on its way', () => {
    twin.begin()
    twin.connect()
    comesBack('newer')
    twin.socket.say(snapshot(20))
    twin.session.move({ t: 'turn' })
    scores()
    expect(twin.reloads).toBe(0)
    twin.socket.say({ t: 'answer', id: 1, no: { code: 'not_live' } })
    expect(twin.reloads).toBe(1)
  })

  test('loads itself anew once for each of their builds, also when it meets the older ones again', () => {
    twin.build = 'older'
    twin.begin()
    twin.open('newer')
    for (let times = 0; times < 5; times += 1) {
      comesBack(times % 2 ? 'newer' : 'older')
    }
    expect(twin.reloads).toBe(1)
    comesBack('newest')
    expect(twin.reloads).toBe(2)
  })

  test('is one whose version is not spoken: it loads itself anew once, then says so', () => {
    twin.begin()
    twin.connect()
    twin.socket.say({ t: 'error', code: 'bad_version' })
    twin.socket.onclose?.({ code: 4004 })
    expect([twin.reloads, twin.session.status, twin.keep.here()]).toEqual([1, 'open', 'BCDFG'])
    twin.begin()
    twin.socket.say({ t: 'error', code: 'bad_version' })
    expect([twin.reloads, twin.session.status]).toEqual([1, 'gone'])
    expect(twin.session.why).toBe('This page is out of date. Load it again.')
  })
})

test('a page that can keep nothing is not thrown out of its room by a reload', () => {
  twin.build = 'older'
  vi.spyOn(twin.keep, 'lasts', 'get').mockReturnValue(false)
  twin.begin()
  twin.open('newer')
  expect(twin.reloads).toBe(0)
})
