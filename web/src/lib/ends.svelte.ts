/** A countdown on the page's own clock. What is held keeps what it had left. */
export class Ends {
  /** In the page's milliseconds, or null when nothing runs. */
  at = $state<number | null>(null)
  #left: number | null = null

  constructor(private readonly now: () => number) {}

  in(ms: number | null | undefined): void {
    this.at = ms ? this.now() + ms : null
    this.#left = null
  }
  hold(): void {
    if (this.at === null) return
    this.#left = Math.max(0, this.at - this.now())
    this.at = null
  }
  go(): void {
    if (this.#left !== null) this.in(this.#left)
  }
}
