/** Asks again and again whether the server can be reached, less and less often; then loads the page anew. */

export interface RetryPorts {
  reached(): Promise<boolean>
  reload(): void
}

export const FIRST_MS = 2000
export const LONGEST_MS = 15_000

export class Retry {
  #wait = FIRST_MS
  #timer: ReturnType<typeof setTimeout> | null = null
  #asking = false
  #ended = true

  constructor(readonly ports: RetryPorts) {}

  start(): void {
    this.#ended = false
    this.#next()
  }

  stop(): void {
    this.#ended = true
    if (this.#timer) clearTimeout(this.#timer)
  }

  /** Somebody asks for it, or the network is back: at once, and often again. */
  async now(): Promise<void> {
    this.#wait = FIRST_MS
    await this.#ask()
  }

  #next(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#ask(), this.#wait)
    this.#wait = Math.min(LONGEST_MS, this.#wait * 1.5)
  }

  async #ask(): Promise<void> {
    if (this.#asking || this.#ended) return
    this.#asking = true
    const reached = await this.ports.reached()
    this.#asking = false
    if (this.#ended) return
    if (reached) {
      this.stop()
      this.ports.reload()
    } else this.#next()
  }
}
