import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FIRST_MS, LONGEST_MS, Retry } from './retry'

let asked: number
let there: boolean
let reloads: number
let retry: Retry

beforeEach(() => {
  vi.useFakeTimers()
  asked = reloads = 0
  there = false
  retry = new Retry({
    reached: () => {
      asked += 1
      return Promise.resolve(there)
    },
    reload: () => (reloads += 1),
  })
  retry.start()
})
afterEach(() => {
  vi.useRealTimers()
})

test('a page without a connection asks again, less and less often', async () => {
  await vi.advanceTimersByTimeAsync(FIRST_MS)
  expect(asked).toBe(1)
  await vi.advanceTimersByTimeAsync(FIRST_MS)
  expect(asked).toBe(1)
  await vi.advanceTimersByTimeAsync(100_000)
  const before = asked
  await vi.advanceTimersByTimeAsync(LONGEST_MS)
  expect([asked, reloads]).toEqual([before + 1, 0])
})

test('it loads anew once the server is reached, and asks no more', async () => {
  there = true
  await vi.advanceTimersByTimeAsync(60_000)
  expect([asked, reloads]).toEqual([1, 1])
})

test('when the network is back it asks at once', async () => {
  there = true
  await retry.now()
  expect(reloads).toBe(1)
})

test('two wishes at once are one question', async () => {
  await Promise.all([retry.now(), retry.now()])
  expect(asked).toBe(1)
})

test('a page that is gone asks nothing', async () => {
  retry.stop()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked).toBe(0)
})
