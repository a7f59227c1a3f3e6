/** Requests to the lobby that wait for their `done` or `error`. */
import { errorOf, type ActError } from './api'

interface Waiting {
  done(): void
  failed(error: ActError): void
}

/** Longer than the gateway waits for rooms (7 s for a start, 3 s else): its own answer comes first if there is one. */
const GIVE_UP_MS = 8000

export class Asked {
  #last = 0
  readonly #waiting = new Map<number, Waiting>()

  /** Sends with a fresh number; resolves when it is done. Rejects with ActError. */
  ask(send: (req: number) => boolean): Promise<void> {
    const req = ++this.#last
    if (!send(req)) return Promise.reject(errorOf('offline'))
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.answer(req, errorOf('lobby_away')), GIVE_UP_MS)
      this.#waiting.set(req, {
        done: () => (clearTimeout(timer), resolve()),
        failed: (error) => (clearTimeout(timer), reject(error)),
      })
    })
  }

  get waiting(): boolean {
    return this.#waiting.size > 0
  }

  answer(req: number, error: ActError | null): void {
    const waiting = this.#waiting.get(req)
    this.#waiting.delete(req)
    if (error) waiting?.failed(error)
    else waiting?.done()
  }

  /** The socket is down: whether they were done is not known. */
  failAll(): void {
    for (const waiting of this.#waiting.values()) waiting.failed(errorOf('offline'))
    this.#waiting.clear()
  }
}
