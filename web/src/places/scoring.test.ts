import { describe, expect, test } from 'vitest'
import type { Outcome } from '../lib/wire'
import { whoEmptied, whoWon, type Who } from './scoring'

const NAMES = ['Ann', 'Bo', 'Cleo']
const who: Who = { memberOf: () => null, nameOf: (seat) => NAMES[seat] ?? '?', colourOf: (seat) => seat }
const won = (...winners: number[]): Outcome => ({ winners, places: [] })

describe('what is said at the end', () => {
  test('of a hand: who emptied, to that player “you”, and nobody where the host ended it', () => {
    const result = (by: number | null) => ({ by, scores: [] })
    expect(whoEmptied(result(1), who, 0)).toBe('Bo emptied their pile')
    expect(whoEmptied(result(0), who, 0)).toBe('You emptied your pile')
    expect(whoEmptied(result(0), who)).toBe('Ann emptied their pile')
    expect(whoEmptied(result(null), who, 0)).toBe('The host ended the hand')
    expect(whoEmptied(null, who)).toBe('')
  })

  test('of a game: the winner, to that player “you”, and all who share it', () => {
    expect(whoWon(won(1), who, 0)).toBe('Bo wins!')
    expect(whoWon(won(0), who, 0)).toBe('You win!')
    expect(whoWon(won(0), who)).toBe('Ann wins!')
    expect(whoWon(won(0, 1, 2), who, 0)).toBe('Ann, Bo and Cleo share the win')
    expect(whoWon(won(), who)).toBe('Final standings')
  })
})
