import { describe, expect, it } from 'vitest'
import type { AnyEvent, AnyMove } from '../lib/wire'
import { memory } from '../testing/twin'
import type { Cue } from './cues'
import { Feel } from './feel'
import { Settings } from './settings.svelte'

const PLACED: AnyEvent = { t: 'placed', seat: 0, card: '5h', pile: 3, src: 'snatch', left: 4, done: false }
const LAY: AnyMove = { t: 'work', card: '5h', src: 'snatch', to: 1 }

/** A device: what it played, and how it shook. */
function device({ hidden = false, store = memory(), motor = true } = {}) {
  const played: Cue[] = []
  const shaken: (readonly number[])[] = []
  const page = new EventTarget()
  let woken = 0
  const speaker = { wake: () => void woken++, play: (cue: Cue) => void played.push(cue) }
  const settings = new Settings()
  const begin = settings.begin.bind(settings)
  settings.begin = () => begin(store)
  const feel = new Feel(settings, speaker, () => hidden)
  feel.begin(page, motor ? (pattern) => void shaken.push(pattern) : null)
  return { feel, played, shaken, page, woken: () => woken, store }
}

describe('what a game sounds and feels like', () => {
  it('an own move is heard at the touch, and its landing when it landed', () => {
    const { feel, played } = device()
    feel.moved({ t: 'middle', card: '5h', src: 'snatch' })
    feel.heard(PLACED, 0)
    expect(played).toEqual([{ name: 'send' }, { name: 'land', rank: 4 }])
  })

  it('other players’ cards are heard, not felt', () => {
    const { feel, played, shaken } = device()
    feel.heard(PLACED, 1)
    expect(played).toEqual([{ name: 'theirs', rank: 4 }])
    expect(shaken).toEqual([])
  })

  it('a king that finishes a pile, whoever’s, sounds like it', () => {
    const { feel, played } = device()
    feel.heard({ ...PLACED, card: 'Kh', done: true } as AnyEvent, 1)
    expect(played).toEqual([{ name: 'king' }])
  })

  it('a race lost and a card without a pile differ; what comes back in a pause is quiet', () => {
    const { feel, played, shaken } = device()
    feel.refused({ code: 'snatched', by: 1, pile: 3 })
    feel.refused({ code: 'no_pile' })
    feel.refused({ code: 'paused' })
    expect(played.map((cue) => cue.name)).toEqual(['snatched', 'home'])
    expect(shaken).toHaveLength(2)
  })

  it('the winner hears another end than the others', () => {
    const ends = [0, 1, null].map((me) => {
      const { feel, played } = device()
      feel.heard({ t: 'hand_ended', result: { by: 0, scores: [] } }, me)
      return played.map((cue) => cue.name)
    })
    expect(ends).toEqual([['won'], ['ended'], ['ended']])
  })

  it('sound and vibration are switched off each by itself, and stay off on this device', () => {
    const store = memory()
    const first = device({ store })
    first.feel.settings.choose('sound', false)
    first.feel.moved(LAY)
    expect([first.played.length, first.shaken.length]).toEqual([0, 1])

    const later = device({ store })
    later.feel.settings.choose('vibration', false)
    later.feel.moved(LAY)
    expect([later.played.length, later.shaken.length]).toEqual([0, 0])

    const muchLater = device({ store })
    muchLater.feel.settings.choose('sound', true)
    muchLater.feel.moved(LAY)
    expect([muchLater.played.length, muchLater.shaken.length]).toEqual([1, 0])
  })

  it('letters and digits do nothing where they are switched off, other keys as ever', () => {
    const { feel, store } = device()
    const keys = ['p', 'P', 'м', '7', '%', 'Dead', ' ', 'Enter', 'ArrowUp', 'Escape']
    const obeyed = (): string[] => keys.filter((key) => feel.settings.obeys(key))
    expect(obeyed()).toEqual(keys)
    feel.settings.choose('keys', false)
    expect(obeyed()).toEqual([' ', 'Enter', 'ArrowUp', 'Escape'])
    expect(device({ store }).feel.settings.keys).toBe(false)
  })

  it('audio is woken by a touch, but not where sound is off', () => {
    const { feel, page, woken } = device()
    page.dispatchEvent(new Event('pointerdown'))
    feel.settings.choose('sound', false)
    page.dispatchEvent(new Event('pointerdown'))
    expect(woken()).toBe(1)
  })

  it('a page in the background keeps still', () => {
    const { feel, played, shaken } = device({ hidden: true })
    feel.heard(PLACED, 0)
    expect([played, shaken]).toEqual([[], []])
  })

  it('without a motor there is nothing to switch', () => {
    expect(device({ motor: false }).feel.canBuzz).toBe(false)
    expect(device().feel.canBuzz).toBe(true)
  })
})
