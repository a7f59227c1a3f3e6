/** A leave that was said and not heard of yet: whoever leaves waits for it, but not for ever. */

/** An impatient one waits no longer than this. */
const LEAVE_MS = 1500

export class Farewell {
  #done: (() => void) | null = null

  /** Resolves when it was heard, or can't be. `patient`: as long as that takes. */
  async heard(patient: boolean): Promise<void> {
    const before = this.#done
    await new Promise<void>((resolve) => {
      this.#done = () => (before?.(), resolve())
      if (!patient) setTimeout(resolve, LEAVE_MS)
    })
    this.#done = null
  }

  over(): void {
    this.#done?.()
  }

  forget(): void {
    this.#done = null
  }
}
