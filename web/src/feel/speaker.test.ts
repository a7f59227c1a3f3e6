import { describe, expect, it } from 'vitest'
import { Speaker } from './speaker'

/** An audio that counts what was started on it. */
class TwinAudio {
  state: AudioContextState = 'suspended'
  currentTime = 0
  sampleRate = 100
  destination = {}
  started = 0
  resumed = 0
  resume(): Promise<void> {
    this.resumed++
    this.state = 'running'
    return Promise.resolve()
  }
  #node = () => {
    const param = { value: 0, setValueAtTime: () => undefined, exponentialRampToValueAtTime: () => undefined, linearRampToValueAtTime: () => undefined }
    return { gain: param, frequency: param, Q: param, connect: () => undefined, start: () => this.started++, stop: () => undefined }
  }
  createGain = this.#node
  createDynamicsCompressor = this.#node
  createOscillator = this.#node
  createBiquadFilter = this.#node
  createBufferSource = this.#node
  createBuffer = (_: number, length: number) => ({ getChannelData: () => new Float32Array(length) })
}

function speaker() {
  const audio = new TwinAudio()
  let opened = 0
  const made = new Speaker(() => {
    opened++
    return audio as unknown as AudioContext
  })
  return { audio, made, opened: () => opened }
}

describe('the speaker', () => {
  it('asks for no audio before the page was touched, and once', () => {
    const { made, opened, audio } = speaker()
    made.play({ name: 'lay' })
    expect([opened(), audio.started]).toEqual([0, 0])
    made.wake()
    made.wake()
    made.play({ name: 'lay' })
    expect([opened(), audio.resumed]).toEqual([1, 1])
    expect(audio.started).toBeGreaterThan(0)
  })

  it('a call takes the audio away, and the next touch brings it back', () => {
    const { made, audio } = speaker()
    made.wake()
    audio.state = 'interrupted' as AudioContextState
    made.play({ name: 'lay' })
    expect(audio.started).toBe(0)
    made.wake()
    made.play({ name: 'lay' })
    expect(audio.started).toBeGreaterThan(0)
  })

  it('what comes at once, as after a bad line, is heard once', () => {
    const { made, audio } = speaker()
    made.wake()
    made.play({ name: 'theirs', rank: 3 })
    const one = audio.started
    made.play({ name: 'theirs', rank: 4 })
    expect(audio.started).toBe(one)
    audio.currentTime += 0.1
    made.play({ name: 'theirs', rank: 5 })
    expect(audio.started).toBe(2 * one)
  })

  it('a browser without audio is silent, no more', () => {
    const mute = new Speaker(() => null)
    mute.wake()
    expect(() => mute.play({ name: 'go' })).not.toThrow()
  })
})
