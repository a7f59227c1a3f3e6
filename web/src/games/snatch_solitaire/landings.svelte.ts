/** What lands in the middle just now, for those who show how: a card flies in, a pile with its king is seen before it leaves. */
import type { GameEvent, Pile } from '../../lib/wire'
import { SHOWN } from './apply'
import type { Card } from './fits'

/** How long a pile with its king on top is still seen. */
export const KING_MS = 1100

export class Landings {
  /** Piles that their king has finished: they are in the view no more. */
  finished = $state.raw<Pile[]>([])
  /** What came by an event of its own. Whatever else lies in the middle came all at once, and doesn't fly. */
  readonly #seen = new Set<string>()
  #era = 0

  /** `middle`: as it was before. */
  take(event: Extract<GameEvent, { t: 'placed' }>, middle: readonly Pile[]): void {
    const { card, seat, pile } = event
    this.#seen.add(`${pile} ${card}`)
    if (!event.done) return
    const under = middle.find((p) => p.id === pile)?.top ?? []
    this.finished = [...this.finished, { id: pile, top: [...under, { card, seat }].slice(-SHOWN) }]
    const era = this.#era
    setTimeout(() => {
      if (era === this.#era) this.finished = this.finished.filter((p) => p.id !== pile)
    }, KING_MS)
  }

  /** Another hand, or a snapshot: nothing is on its way. */
  clear(): void {
    this.#era += 1
    this.#seen.clear()
    this.finished = []
  }

  /** Did it come just now? Once: what is drawn anew doesn't land again. */
  landed(pile: number, card: Card): boolean {
    return this.#seen.delete(`${pile} ${card}`)
  }
}
