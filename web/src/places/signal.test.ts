import { expect, test } from 'vitest'
import { bars } from './signal'

test('a connection has fewer bars the longer a ping takes, and none without an answer', () => {
  expect([null, 0, 30, 180, 181, 450, 451, 4000].map(bars)).toEqual([0, 3, 3, 3, 2, 2, 1, 1])
})
