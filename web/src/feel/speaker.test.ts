import { describe, expect, it, vi } from 'vitest'
import type { Cue } from './cues'
import { Speaker } from './speaker'

const param = { value: 0, setValueAtTime: () => undefined, exponentialRampToValueAtTime: () => undefined, linearRampToValueAtTime: () => undefined }

/** What a page's audio and the one that renders have in common; it counts what was started on it. */
class TwinNodes {
  currentTime = 0
  sampleRate = 100
  destination = {}
  started = 0
  #node = () => ({ gain: param, frequency: param, Q: param, connect: () => undefined, start: () => this.started++, stop: () => undefined })
  createGain = this.#node
  createDynamicsCompressor = this.#node
  createOscillator = this.#node
  createBiquadFilter = this.#node
  createBufferSource = this.#node
  createBuffer = (_: number, length: number) => ({ getChannelData: () => new Float32Array(length) })
}

class TwinAudio extends TwinNodes {
  state: AudioContextState = 'suspended'
  resumed = 0
  resume(): Promise<void> {
    this.resumed++
    this.state = 'running'
    return Promise.resolve()
  }
}

/** Renders when it is told to. */
class TwinStudio extends TwinNodes {
  finish = (): void => undefined
  fail = (): void => undefined
  startRendering = () =>
    new Promise<object>((resolve, reject) => {
      this.finish = () => resolve({})
      this.fail = () => reject(new Error('no memory'))
    })
}

function speaker(repertoire: readonly Cue[] = []) {
  const audio = new TwinAudio()
  const studios: TwinStudio[] = []
  let opened = 0
  const made = new Speaker(
    () => {
      opened++
      return audio as unknown as AudioContext
    },
    () => {
      const studio = new TwinStudio()
      studios.push(studio)
      return studio as unknown as OfflineAudioContext
    },
    repertoire,
  )
  return { audio, made, studios, opened: () => opened }
}

/** Whatever was promised has been told. */
const told = () => new Promise<void>((resolve) => setTimeout(resolve, 0))

describe('the speaker', () => {
  it('asks for no audio before the page was touched, and once', async () => {
    const { made, opened, audio, studios } = speaker()
    made.play({ name: 'lay' })
    await told()
    expect([opened(), studios.length]).toEqual([0, 0])
    made.wake()
    made.wake()
    made.play({ name: 'lay' })
    await told()
    expect([opened(), audio.resumed, studios.length]).toEqual([1, 1, 1])
  })

  it('makes a sound of its parts once, and from then on starts one thing', async () => {
    const { made, audio, studios } = speaker()
    made.wake()
    made.play({ name: 'land', rank: 3 })
    await told()
    expect(studios[0]?.started).toBeGreaterThan(1)
    studios[0]?.finish()
    await told()
    expect(audio.started).toBe(1)
    audio.currentTime += 1
    made.play({ name: 'land', rank: 3 })
    expect([audio.started, studios.length]).toEqual([2, 1])
    audio.currentTime += 1
    made.play({ name: 'land', rank: 4 })
    await told()
    expect(studios.length).toBe(2)
  })

  it('a sound that was long in the making is not heard late, but the next time', async () => {
    const { made, audio, studios } = speaker()
    made.wake()
    made.play({ name: 'go' })
    await told()
    audio.currentTime += 2
    studios[0]?.finish()
    await told()
    expect(audio.started).toBe(0)
    made.play({ name: 'go' })
    expect(audio.started).toBe(1)
  })

  it('from the first touch on, sounds are made one by one before they are wanted, and then heard at once', async () => {
    vi.useFakeTimers()
    const { made, audio, studios } = speaker([{ name: 'turn' }, { name: 'lay' }])
    await vi.advanceTimersByTimeAsync(1000)
    expect(studios.length).toBe(0)
    made.wake()
    await vi.advanceTimersByTimeAsync(1000)
    expect(studios.length).toBe(1)
    studios[0]?.finish()
    await vi.advanceTimersByTimeAsync(1000)
    expect([studios.length, audio.started]).toEqual([2, 0])
    made.play({ name: 'turn' })
    expect(audio.started).toBe(1)
    // One that is being made meanwhile is not made twice.
    made.play({ name: 'lay' })
    await vi.advanceTimersByTimeAsync(0)
    studios[1]?.finish()
    await vi.advanceTimersByTimeAsync(1000)
    expect([studios.length, audio.started]).toEqual([2, 2])
    vi.useRealTimers()
  })

  it('a sound that cannot be made is silent, no more', async () => {
    const { made, audio, studios } = speaker()
    made.wake()
    made.play({ name: 'go' })
    await told()
    studios[0]?.fail()
    await told()
    audio.currentTime += 2
    made.play({ name: 'go' })
    await told()
    expect([audio.started, studios.length]).toEqual([0, 1])
  })

  it('a call takes the audio away, and the next touch brings it back', async () => {
    const { made, audio, studios } = speaker()
    made.wake()
    audio.state = 'interrupted' as AudioContextState
    made.play({ name: 'lay' })
    await told()
    expect(studios.length).toBe(0)
    made.wake()
    made.play({ name: 'lay' })
    await told()
    studios[0]?.finish()
    await told()
    expect(audio.started).toBe(1)
  })

  it('what comes at once, as after a bad line, is heard once', async () => {
    const { made, audio, studios } = speaker()
    made.wake()
    made.play({ name: 'theirs', rank: 3 })
    made.play({ name: 'theirs', rank: 4 })
    await told()
    expect(studios.length).toBe(1)
    audio.currentTime += 0.1
    made.play({ name: 'theirs', rank: 5 })
    await told()
    expect(studios.length).toBe(2)
  })

  it('a browser without audio is silent, no more', () => {
    const mute = new Speaker(() => null)
    mute.wake()
    expect(() => mute.play({ name: 'go' })).not.toThrow()
  })
})
