/** What a game sounds and feels like on this device, as far as its player wants that. */
import type { Ear } from '../lib/ear'
import type { AnyEvent, AnyMove, No } from '../lib/wire'
import { BUZZES, pageBuzzer } from './buzz'
import { ofEvent, ofMove, ofRefusal, type Cue } from './cues'
import { Settings } from './settings.svelte'
import { Speaker } from './speaker'

export class Feel implements Ear {
  #buzz: ((pattern: readonly number[]) => void) | null = null

  constructor(
    readonly settings: Settings = new Settings(),
    private readonly speaker: Pick<Speaker, 'wake' | 'play'> = new Speaker(),
    private readonly hidden: () => boolean = () => document.hidden,
  ) {}

  /** At the start of a page. */
  begin(page: EventTarget = window, buzz = pageBuzzer()): void {
    this.settings.begin()
    this.#buzz = buzz
    const touched = (): void => {
      if (this.settings.sound) this.speaker.wake()
    }
    // Before the table's own handlers, so that the first card is heard already. Safari counts a finger
    // only when it leaves the screen.
    for (const kind of ['pointerdown', 'pointerup', 'touchend', 'click', 'keydown']) page.addEventListener(kind, touched, { capture: true, passive: true })
  }

  /** There is something to switch off. */
  get canBuzz(): boolean {
    return this.#buzz !== null
  }

  moved(move: AnyMove): void {
    this.#give(ofMove(move))
  }
  heard(event: AnyEvent, me: number | null): void {
    this.#give(ofEvent(event, me))
  }
  refused(no: No): void {
    this.#give(ofRefusal(no))
  }
  /** One number of the countdown. */
  tick(): void {
    this.#give({ name: 'tick' })
  }

  /** So that the switch itself says what it does. */
  trySound(): void {
    this.speaker.wake()
    this.speaker.play({ name: 'land', rank: 4 })
  }
  tryBuzz(): void {
    this.#buzz?.(BUZZES.land ?? [])
  }

  #give(cue: Cue | null): void {
    if (!cue || this.hidden()) return
    if (this.settings.sound) this.speaker.play(cue)
    const pattern = BUZZES[cue.name]
    if (this.settings.vibration && pattern) this.#buzz?.(pattern)
  }
}

/** This page's. */
export const feel = new Feel()
