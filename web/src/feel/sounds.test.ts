import { describe, expect, it } from 'vitest'
import type { CueName } from './cues'
import { REPERTOIRE, soundOf } from './sounds'

const CUES: CueName[] = ['turn', 'over', 'lay', 'send', 'undo', 'land', 'theirs', 'king', 'snatched', 'home', 'tick', 'go']
const MOMENTS: CueName[] = ['ended', 'won', 'stuck', 'riffle', 'pause', 'resume']

describe('sounds', () => {
  it('a card’s is over before the next could be played', () => {
    for (const name of CUES) {
      for (const voice of soundOf({ name, rank: 12 })) expect(voice.at + voice.for, name).toBeLessThan(0.45)
    }
    for (const name of MOMENTS) {
      for (const voice of soundOf({ name })) expect(voice.at + voice.for, name).toBeLessThan(0.8)
    }
  })

  it('can be played: what slides never touches 0, which no exponential reaches', () => {
    for (const name of [...CUES, ...MOMENTS]) {
      for (const voice of soundOf({ name, rank: 0 })) {
        expect(Math.min(voice.from, voice.to, voice.gain, voice.for), name).toBeGreaterThan(0)
        expect(voice.gain, name).toBeLessThanOrEqual(0.6)
      }
    }
  })

  it('are all made in advance, those of a rank for every rank', () => {
    expect(new Set(REPERTOIRE.map((cue) => cue.name))).toEqual(new Set([...CUES, ...MOMENTS]))
    expect(REPERTOIRE.filter((cue) => cue.name === 'theirs').map((cue) => cue.rank)).toEqual([...Array(13).keys()])
  })

  it('a pile that grows climbs, from ace to king', () => {
    const notes = [...Array(13).keys()].map((rank) =>
      Math.max(...soundOf({ name: 'land', rank }).flatMap((voice) => (voice.kind === 'tone' ? [voice.from] : []))),
    )
    expect(notes).toEqual([...notes].sort((a, b) => a - b))
    expect(new Set(notes).size).toBe(13)
  })
})
