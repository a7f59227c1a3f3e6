import { describe, expect, it } from 'vitest'
import { backPattern } from './backs'
import { words } from '../messages/words.svelte'
import { SHAPES, colourIndex, colourName } from './colours'
import { RANKS, SUITS, cardName, indexAt } from './faces'

describe('cards', () => {
  it('every rank and suit is drawn, each in its own way', () => {
    const ranks = [...'A23456789TJQK'].map((rank) => RANKS[rank as keyof typeof RANKS].d)
    expect(new Set(ranks).size).toBe(13)
    expect(new Set(Object.values(SUITS)).size).toBe(4)
  })

  it('of a card in a long run the index shows whole', () => {
    for (const bare of [0.31, 0.2, 0.12, 0.1]) {
      const { scale, y } = indexAt(bare)
      const lowest = y + scale * (30 + 3.2)
      expect(lowest).toBeLessThan(bare * 140)
    }
    expect(indexAt(1)).toEqual(indexAt(0.5))
  })

  it('a card is said as people say it', () => {
    expect(cardName('Td')).toBe('10 of diamonds')
    expect(cardName('As')).toBe('ace of spades')
  })
})

describe('the players’ colours', () => {
  it('no two share a shape', () => {
    expect(words.cards.colours).toHaveLength(8)
    expect(new Set(SHAPES).size).toBe(8)
    expect(new Set(words.cards.shapes).size).toBe(8)
  })

  it('any number is one of the eight', () => {
    expect([0, 7, 8, -1].map(colourIndex)).toEqual([0, 7, 0, 7])
    expect(colourName(9)).toBe('blue triangle')
  })

  it('a back’s pattern stays on the card', () => {
    for (const colour of SHAPES.keys()) {
      const corners = [...backPattern(colour).matchAll(/M(-?[\d.]+) (-?[\d.]+)/g)]
      expect(corners.length).toBeGreaterThan(40)
      for (const [, x, y] of corners) {
        expect(Number(x)).toBeGreaterThan(6)
        expect(Number(x)).toBeLessThan(94)
        expect(Number(y)).toBeGreaterThan(6)
        expect(Number(y)).toBeLessThan(134)
      }
    }
  })
})
