/**
 * What a screen reader is told of the game: sentences, paced so that they can be listened to.
 *
 * Own doings are told at once; what others do is gathered meanwhile, since a full table does
 * more in a second than anybody can hear.
 */

/** One thing that happened. */
export interface Happened {
  text: string
  own: boolean
  /** A later one about the same takes its place while it waits. */
  about: string
}

/** A line of the log that is read out. `id` grows. */
export interface Line {
  id: number
  text: string
}

/** A move's public and private parts come in two frames: one sentence. */
export const OWN_MS = 80
/** Between two lines about others. */
export const OTHERS_MS = 1500
/** So many of others' doings in one line; of the rest only how many there were. */
const MOST_OTHERS = 4
const MOST_LINES = 6

export class Telling {
  lines = $state.raw<Line[]>([])
  #ids = 0
  #own: string[] = []
  #others = new Map<string, string>()
  #ownTimer: ReturnType<typeof setTimeout> | null = null
  #othersTimer: ReturnType<typeof setTimeout> | null = null

  /** `more`: says how many doings of others were left out. */
  constructor(private readonly more: (n: number) => string) {}

  hear(happened: Happened): void {
    if (happened.own) {
      this.#own.push(happened.text)
      this.#ownTimer ??= setTimeout(() => this.#tellOwn(), OWN_MS)
    } else {
      this.#others.delete(happened.about)
      this.#others.set(happened.about, happened.text)
      this.#othersTimer ??= setTimeout(() => this.#tellOthers(), OTHERS_MS)
    }
  }

  /** This now, before anything that waits. */
  say(text: string): void {
    this.lines = [...this.lines, { id: ++this.#ids, text }].slice(-MOST_LINES)
  }

  /** Another place: what waits is of the one before. */
  hush(): void {
    if (this.#ownTimer !== null) clearTimeout(this.#ownTimer)
    if (this.#othersTimer !== null) clearTimeout(this.#othersTimer)
    this.#ownTimer = this.#othersTimer = null
    this.#own = []
    this.#others.clear()
  }

  #tellOwn(): void {
    this.#ownTimer = null
    this.say(this.#own.join('. '))
    this.#own = []
  }

  #tellOthers(): void {
    this.#othersTimer = null
    const all = [...this.#others.values()]
    this.#others.clear()
    const newest = all.slice(-MOST_OTHERS)
    const left = all.length - newest.length
    this.say([...newest, ...(left > 0 ? [this.more(left)] : [])].join('. '))
  }
}
