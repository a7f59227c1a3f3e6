/**
 * How it was for who plays, told to operators now and then: how long moves took until they were
 * seen done, how often the connection was had again, how many errors the scripts had.
 *
 * Counts, and nothing else: no text, no card, no name. It is told only to a server that asks for it.
 */
import type { Felt as Report } from '../generated/client_in'

export interface FeltPorts {
  /** Milliseconds, never going back. */
  now(): number
  /** 0 to 1. */
  random(): number
  /** Nobody sees the page. */
  hidden(): boolean
  /** Calls `then` once what was changed is on the screen. */
  painted(then: () => void): void
}

/** Upper bounds of what a move took, in ms; one count more is of those that took longer. */
export const FELT_MS = [10, 20, 30, 50, 75, 100, 150, 250, 500, 1000, 2500, 5000, 10_000]
/** What took longer was not waited for: the page slept, or the phone lay in a pocket. */
export const LONGEST_MS = 60_000
/** So many of each are told at once, at most: what is more than that is a fault of ours, and known by then. */
const MOST_MOVES = 600
const MOST_EVENTS = 60

/** No screen takes so long to show something: meanwhile nobody looked. */
const ASLEEP_MS = 2000

type Timer = ReturnType<typeof setTimeout>

export const browserFelt = {
  painted: (then: () => void): void => void requestAnimationFrame(() => setTimeout(then)),
}

export class Felt {
  #moves: number[] = []
  #ms = 0
  #reconnects = 0
  #errors = 0
  #seen = new WeakSet<object>()
  #timer: Timer | null = null

  constructor(
    private readonly say: (report: Report) => boolean,
    private readonly ports: FeltPorts,
  ) {}

  /** A server has welcomed us, which wants to be told every so many seconds; 0: not at all. */
  asked(every: number): void {
    this.stop()
    if (every > 0) this.#next(every * 1000)
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }

  /** What became of an own move stands on the page from the next paint on. Each counts once. */
  seen(move: { readonly at: number }): void {
    if (this.#seen.has(move)) return
    this.#seen.add(move)
    const known = this.ports.now()
    if (this.ports.hidden()) return
    this.ports.painted(() => {
      const now = this.ports.now()
      if (now - known < ASLEEP_MS) this.#took(now - move.at)
    })
  }

  reconnected(): void {
    this.#reconnects = Math.min(MOST_EVENTS, this.#reconnects + 1)
  }

  failed(): void {
    this.#errors = Math.min(MOST_EVENTS, this.#errors + 1)
  }

  #took(time: number): void {
    const ms = Math.round(time)
    if (ms < 0 || ms > LONGEST_MS || this.ports.hidden()) return
    if (!this.#moves.length) this.#moves = Array<number>(FELT_MS.length + 1).fill(0)
    if (this.#moves.reduce((all, n) => all + n) >= MOST_MOVES) return
    const at = FELT_MS.findIndex((bound) => ms <= bound)
    this.#moves[at < 0 ? FELT_MS.length : at]! += 1
    this.#ms += ms
  }

  /** Not all pages at once: those that a server's end brought to another one came together. */
  #next(every: number): void {
    this.#timer = setTimeout(
      () => {
        this.#tell()
        this.#next(every)
      },
      every * (1 + this.ports.random() / 4),
    )
  }

  /** What isn't taken is told next time. */
  #tell(): void {
    const report: Report = { t: 'felt' }
    if (this.#moves.length) Object.assign(report, { moves: this.#moves, ms: this.#ms })
    if (this.#reconnects) report.reconnects = this.#reconnects
    if (this.#errors) report.errors = this.#errors
    if (Object.keys(report).length === 1 || !this.say(report)) return
    this.#moves = []
    this.#ms = this.#reconnects = this.#errors = 0
  }
}
