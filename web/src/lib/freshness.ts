/**
 * Whether this page is of the servers' release; one that isn't loads itself anew, never in a hand.
 *
 * Once for each build that it meets: while servers of two releases run side by side, a page may
 * be of the one and speak to the other, and no reload would help.
 */
import type { Keep } from './keep'
import { VERSION, type Phase } from './wire'

export interface FreshnessPorts {
  keep: Keep
  /** The servers' build when this page was loaded; null: not known (yet). */
  build(): string | null
  /** Load the page anew: the servers are newer than it. */
  reload(): void
}

const IN_A_HAND = new Set<Phase | undefined>(['dealing', 'countdown', 'live'])

export class Freshness {
  #mine: string | null = null
  #theirs: string | null = null

  constructor(readonly ports: FreshnessPorts) {}

  /** A server says which build it is. */
  met(build: string): void {
    this.#mine ??= this.ports.build() ?? build
    this.#theirs = build
  }

  /** Loads the page anew if it is of another release, there is no hand and nothing is on its way. */
  renew(phase: Phase | undefined, waiting: number): void {
    if (this.#theirs === null || this.#theirs === this.#mine || waiting || IN_A_HAND.has(phase)) return
    this.#once(this.#theirs)
  }

  /** The servers don't speak this page's version, so nothing can be lost. False: it was loaded anew for that already. */
  unspoken(): boolean {
    return this.#once(`not ${VERSION}`)
  }

  #once(why: string): boolean {
    const keep = this.ports.keep
    // Without a lasting store a page that is loaded anew would be out of its room, and know of no first time.
    if (!keep.lasts || keep.renewedFor() === why) return false
    keep.setRenewedFor(why)
    this.ports.reload()
    return true
  }
}
