/**
 * Every sound of the game, as a recipe: tones and bursts of noise, none from a file.
 *
 * Cards are noise through a band that slides, as paper sounds; what tells who got the spot is a tone.
 * All short, and soft enough to play over each other.
 */
import type { Cue, CueName } from './cues'

interface Part {
  /** Seconds after the cue. */
  at: number
  /** Seconds that it lasts. */
  for: number
  /** 0 to 1, at its loudest. */
  gain: number
  /** Hz, from and to. */
  from: number
  to: number
}

export interface Tone extends Part {
  kind: 'tone'
  shape: OscillatorType
}
export interface Noise extends Part {
  kind: 'noise'
  /** How narrow the band is. */
  q: number
}
export type Voice = Tone | Noise

const tone = (at: number, length: number, from: number, gain: number, to = from, shape: OscillatorType = 'sine'): Tone => ({
  kind: 'tone',
  at,
  for: length,
  from,
  to,
  gain,
  shape,
})
const noise = (at: number, length: number, from: number, to: number, gain: number, q = 1): Noise => ({
  kind: 'noise',
  at,
  for: length,
  from,
  to,
  gain,
  q,
})

/** Five notes to the octave, from D4: whatever two piles play together is no discord. */
const STEPS = [0, 2, 4, 7, 9, 12, 14, 16, 19, 21, 24, 26, 28]
const pitch = (rank: number): number => 293.66 * 2 ** ((STEPS[rank] ?? 0) / 12)

/** A card that lands: a knock on wood, and the note of its rank. */
const landing = (rank: number, loud: number): Voice[] => [
  noise(0, 0.035, 2400, 900, 0.45 * loud, 0.8),
  tone(0, 0.07, 190, 0.5 * loud, 110),
  tone(0.004, 0.16, pitch(rank), 0.4 * loud, pitch(rank), 'triangle'),
  tone(0.004, 0.09, pitch(rank) * 2, 0.07 * loud),
]
const chord = (notes: readonly number[], step: number, length: number, gain: number): Voice[] =>
  notes.flatMap((rank, i) => [
    tone(i * step, length, pitch(rank), gain, pitch(rank), 'triangle'),
    tone(i * step, length * 0.6, pitch(rank) * 2, gain * 0.3),
  ])

const RECIPES: Record<CueName, (rank: number) => Voice[]> = {
  turn: () => [noise(0, 0.07, 1500, 4200, 0.5, 1.4), noise(0.055, 0.03, 2600, 1300, 0.4, 0.9)],
  over: () => [0, 0.035, 0.07, 0.105].map((at) => noise(at, 0.04, 3000 - at * 9000, 1500, 0.2, 1.2)),
  lay: () => [noise(0, 0.045, 2000, 700, 0.5, 0.8), tone(0, 0.06, 150, 0.5, 90)],
  send: () => [noise(0, 0.09, 900, 4600, 0.6, 1.6)],
  undo: () => [noise(0, 0.1, 4200, 900, 0.45, 1.5)],
  land: (rank) => landing(rank, 1),
  theirs: (rank) => landing(rank, 0.3),
  king: () => [...landing(12, 0.6), ...chord([7, 9, 10, 12], 0.055, 0.2, 0.13)],
  snatched: () => [
    noise(0, 0.08, 4800, 1200, 0.3, 1.2),
    tone(0.03, 0.12, 466, 0.24, 440, 'triangle'),
    tone(0.13, 0.2, 349, 0.24, 311, 'triangle'),
  ],
  home: () => [tone(0, 0.07, 165, 0.32, 140), tone(0.09, 0.09, 147, 0.3, 120)],
  tick: () => [tone(0, 0.07, 587, 0.4, 587, 'triangle'), noise(0, 0.03, 3000, 2000, 0.12)],
  go: () => [noise(0, 0.16, 700, 5200, 0.26, 1.1), ...chord([5, 7, 10], 0.012, 0.3, 0.17)],
  ended: () => chord([5, 4, 2], 0.11, 0.26, 0.18),
  won: () => chord([5, 7, 9, 10, 12], 0.085, 0.34, 0.17),
  stuck: () => [tone(0, 0.16, 196, 0.2, 185, 'triangle'), tone(0.18, 0.22, 185, 0.2, 174, 'triangle')],
  riffle: () => [0, 1, 2, 3, 4, 5].map((i) => noise(i * 0.038, 0.035, 1700 + i * 320, 2600 + i * 320, 0.22, 1.3)),
  pause: () => [tone(0, 0.1, 440, 0.18, 440, 'triangle'), tone(0.1, 0.14, 330, 0.18, 330, 'triangle')],
  resume: () => [tone(0, 0.1, 330, 0.18, 330, 'triangle'), tone(0.1, 0.14, 440, 0.18, 440, 'triangle')],
}

export const soundOf = (cue: Cue): Voice[] => RECIPES[cue.name](cue.rank ?? 0)

const RANKS = Array.from({ length: 13 }, (_, rank) => rank)
const named = (...names: CueName[]): Cue[] => names.map((name) => ({ name }))

/** Every sound there is, those of a hand's first moments first. */
export const REPERTOIRE: readonly Cue[] = [
  ...named('tick', 'go', 'turn', 'lay', 'send'),
  ...RANKS.flatMap((rank): Cue[] => [
    { name: 'land', rank },
    { name: 'theirs', rank },
  ]),
  ...named('snatched', 'home', 'undo', 'over', 'king', 'pause', 'resume', 'stuck', 'riffle', 'ended', 'won'),
]
