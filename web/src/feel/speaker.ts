/**
 * Plays recipes on the page's audio. A browser lets none begin before a finger has touched the page,
 * and takes it away for a call: `wake` is called at every touch, and costs nothing when all is well.
 *
 * A recipe is played once into a buffer, on the audio's own thread; from then on a sound is one node.
 * Made of its dozen parts each time, eight players' cards took a phone more time than what it draws for them.
 * From the first touch on they are made one by one, before they are wanted: a slow phone made a sound's
 * first time too late to be heard.
 */
import type { Cue } from './cues'
import { REPERTOIRE, soundOf, type Voice } from './sounds'

/** The same cue again so soon is one: after a bad line everything comes at once. */
const APART = 0.04
/** A sound that took longer to make is too late to be heard this time. */
const LATE = 0.15
/** Between two that are made in advance: what is seen and touched meanwhile comes first. */
const PAUSE_MS = 60
const VOLUME = 0.9
/** A band of noise is but a little of it. */
const NOISE_GAIN = 2.6
const NOISE_SECONDS = 0.5
const SILENT = 0.0001
/** Of its loudness, when a voice fades out for good. */
const FADED = 0.03
const ATTACK = 0.004
const RELEASE = 0.012

export class Speaker {
  #audio: AudioContext | null = null
  #out: AudioNode | null = null
  #noise: AudioBuffer | null = null
  #last = new Map<string, number>()
  /** By name and rank. */
  #sounds = new Map<string, AudioBuffer>()
  /** What it comes to; null: it can't be made. */
  #making = new Map<string, Promise<AudioBuffer | null>>()

  /** `open`: null where a browser has no audio. `repertoire`: what is made in advance. */
  constructor(
    private readonly open: () => AudioContext | null = pageAudio,
    private readonly offline = (length: number, rate: number): OfflineAudioContext => new OfflineAudioContext(1, length, rate),
    private readonly repertoire: readonly Cue[] = REPERTOIRE,
  ) {}

  /** At a touch or a key. */
  wake(): void {
    if (!this.#audio) {
      this.#audio = this.open()
      if (this.#audio) void this.#rehearse(this.#audio)
    }
    // `interrupted` is Safari's, after a call.
    if (this.#audio && this.#audio.state !== 'running') this.#audio.resume().catch(() => undefined)
  }

  play(cue: Cue): void {
    const audio = this.#audio
    if (audio?.state !== 'running') return
    const now = audio.currentTime
    if (now - (this.#last.get(cue.name) ?? -1) < APART) return
    this.#last.set(cue.name, now)
    const sound = this.#sounds.get(keyOf(cue))
    if (sound) return this.#start(audio, sound)
    void this.#make(audio, cue).then((made) => {
      if (made && audio.currentTime - now < LATE) this.#start(audio, made)
    })
  }

  async #rehearse(audio: AudioContext): Promise<void> {
    for (const cue of this.repertoire) {
      await this.#make(audio, cue)
      await new Promise((next) => setTimeout(next, PAUSE_MS))
    }
  }

  /** Once; null where it can't be. */
  #make(audio: AudioContext, cue: Cue): Promise<AudioBuffer | null> {
    const key = keyOf(cue)
    let making = this.#making.get(key)
    if (!making) {
      // Not in the handler of the touch that wants it: what is seen comes first.
      making = new Promise<void>((next) => setTimeout(next, 0))
        .then(() => this.#rendered(audio, soundOf(cue)))
        .then(
          (made) => (this.#sounds.set(key, made), made),
          () => null,
        )
      this.#making.set(key, making)
    }
    return making
  }

  #start(audio: AudioContext, sound: AudioBuffer): void {
    const source = audio.createBufferSource()
    source.buffer = sound
    source.connect((this.#out ??= this.#made(audio)))
    source.start()
  }

  /** Many at once are pressed together, not cut off. */
  #made(audio: AudioContext): AudioNode {
    const volume = audio.createGain()
    volume.gain.value = VOLUME
    const press = audio.createDynamicsCompressor()
    volume.connect(press)
    press.connect(audio.destination)
    return volume
  }

  async #rendered({ sampleRate }: AudioContext, voices: readonly Voice[]): Promise<AudioBuffer> {
    const seconds = Math.max(...voices.map((voice) => voice.at + voice.for))
    const studio = this.offline(Math.ceil(seconds * sampleRate), sampleRate)
    for (const voice of voices) this.#voice(studio, voice)
    return studio.startRendering()
  }

  #voice(studio: OfflineAudioContext, voice: Voice): void {
    const { at } = voice
    const end = at + voice.for
    const gain = studio.createGain()
    gain.gain.setValueAtTime(SILENT, at)
    const loud = voice.gain * (voice.kind === 'noise' ? NOISE_GAIN : 1)
    gain.gain.exponentialRampToValueAtTime(loud, at + ATTACK)
    gain.gain.exponentialRampToValueAtTime(loud * FADED, end - RELEASE)
    gain.gain.linearRampToValueAtTime(0, end)
    gain.connect(studio.destination)
    if (voice.kind === 'tone') {
      const source = studio.createOscillator()
      source.type = voice.shape
      slide(source.frequency, voice, at, end)
      source.connect(gain)
      source.start(at)
      source.stop(end)
    } else {
      const band = studio.createBiquadFilter()
      band.type = 'bandpass'
      band.Q.value = voice.q
      slide(band.frequency, voice, at, end)
      band.connect(gain)
      const source = studio.createBufferSource()
      source.buffer = this.#noise ??= noiseFor(studio)
      source.connect(band)
      source.start(at, Math.random() * (NOISE_SECONDS - voice.for))
      source.stop(end)
    }
  }
}

const keyOf = (cue: Cue): string => `${cue.name} ${cue.rank ?? ''}`

function slide(param: AudioParam, voice: Voice, at: number, end: number): void {
  param.setValueAtTime(voice.from, at)
  param.exponentialRampToValueAtTime(voice.to, end)
}

function noiseFor(audio: BaseAudioContext): AudioBuffer {
  const buffer = audio.createBuffer(1, audio.sampleRate * NOISE_SECONDS, audio.sampleRate)
  const samples = buffer.getChannelData(0)
  for (let i = 0; i < samples.length; i++) samples[i] = Math.random() * 2 - 1
  return buffer
}

function pageAudio(): AudioContext | null {
  try {
    return new AudioContext({ latencyHint: 'interactive' })
  } catch {
    return null
  }
}
