/**
 * What a player's hands do at the table: taps, drags and the undo button become moves.
 * All that it decides is where a card was let go; whether it may stay there is the engine's.
 */
import type { Session } from '../../lib/session.svelte'
import type { GameMove } from '../../lib/wire'
import { aim, release, targets, type Aim, type Grip, type Place, type Targets } from './aim'
import type { Card } from './fits'
import { Gestures, type Held, type Speed } from './gestures'
import type { Point } from './layout'
import { cardsAt, spotName, tap, type Spot } from './taps'

/** The second tap of a double tap is not a move: on the same place, so soon, on what the first one bared. */
export const DOUBLE_TAP_MS = 300

export class Work {
  /** The cards under fingers that are dragged. */
  held = $state.raw<Held<Grip>[]>([])
  /** Those that a finger is on without having moved yet. */
  pressed = $state.raw<Grip[]>([])
  /** An undo that waits until no own card is on its way to the middle. */
  undoWaits = $state(false)

  readonly gestures: Gestures<Grip>
  #last: { spot: string; cards: Card[]; at: number } = { spot: '', cards: [], at: -Infinity }

  constructor(
    private readonly session: () => Session,
    private readonly place: () => Place,
    /** A tap asked for what no card can do from there. */
    private readonly nowhere: (spot: Spot) => void = () => undefined,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.gestures = new Gestures<Grip>({
      tap: ({ beneath, ...grip }) => {
        const meant = beneath === undefined ? grip : beneath
        if (meant) this.tap(meant)
      },
      grab: (grip) => this.#free(grip),
      changed: () => {
        const all = [...this.gestures.held.values()]
        this.held = all.filter((held) => held.dragging).map((held) => ({ ...held }))
        this.pressed = all.filter((held) => !held.dragging && this.#same(held.on)).map((held) => held.on)
      },
      drop: (held, speed) => this.#drop(held, speed),
    })
  }

  /** Cards move only in a live hand that isn't paused. */
  get open(): boolean {
    const { table, view } = this.session()
    return table?.phase === 'live' && table.paused_by == null && view?.mine != null && view.result == null
  }

  grip(spot: Spot, home: Point): Grip {
    const mine = this.session().view?.mine
    return { spot, cards: mine ? cardsAt(mine, spot) : [], home }
  }

  /** Says whether a move came of it. `sure`: no finger's second tap that only came along. */
  tap(grip: Grip, sure = false): boolean {
    const { view, flights } = this.session()
    if (!this.open || !view?.mine) return false
    const spot = spotName(grip.spot)
    const now = this.now()
    if (spot !== 'stock') {
      if (!this.#same(grip) || grip.cards.length === 0) return false
      // Nor on a card that is still gliding away from under the finger.
      const again = this.#last.spot === spot || this.#last.cards.includes(grip.cards[0] ?? '')
      if (!sure && again && now - this.#last.at < DOUBLE_TAP_MS) return false
    }
    const move = tap(view, flights, grip.spot)
    if (!move) {
      this.nowhere(grip.spot)
      return false
    }
    this.#last = { spot, cards: grip.cards, at: now }
    this.move(move)
    return true
  }

  undo(): void {
    const { view, flights } = this.session()
    if (!this.open || !view?.mine?.undo) return
    if (flights.length > 0) this.undoWaits = true
    else this.move({ t: 'undo' })
  }

  /** After every change of what is shown: lets go what is no longer there, and does what waited. */
  settle(): void {
    if (!this.open) {
      this.gestures.release()
      this.undoWaits = false
      return
    }
    for (const held of [...this.gestures.held.values()]) {
      if (held.dragging && !this.#same(held.on)) this.gestures.cancel(held.pointer)
    }
    const { view, flights } = this.session()
    if (this.undoWaits && flights.length === 0) {
      this.undoWaits = false
      if (view?.mine?.undo) this.move({ t: 'undo' })
    }
  }

  move(move: GameMove): void {
    if (this.open) this.session().move(move)
  }

  /** Where these held cards would go if they were let go now. */
  aim(held: Held<Grip>): Aim | null {
    const mine = this.session().view?.mine
    return mine ? aim(mine, held.on, heldAt(held), this.place()) : null
  }

  /** Where they may be let go at all. */
  targets(grip: Grip): Targets | null {
    const { view, flights } = this.session()
    return view?.mine ? targets(view, flights, grip) : null
  }

  #same(grip: Grip): boolean {
    const mine = this.session().view?.mine
    return mine != null && cardsAt(mine, grip.spot).join() === grip.cards.join()
  }

  #free(grip: Grip): boolean {
    if (!this.open || grip.cards.length === 0 || !this.#same(grip)) return false
    return !this.gestures.dragging.some((held) => held.on.cards.some((card) => grip.cards.includes(card)))
  }

  #drop(held: Held<Grip>, speed: Speed): void {
    const { view, flights } = this.session()
    if (!view || !this.#same(held.on)) return
    const move = release(view, flights, held.on, heldAt(held), speed, this.place())
    if (move) this.move(move)
  }
}

/** Where the first of the held cards is. */
export const heldAt = (held: Held<Grip>): Point => ({ x: held.on.home.x + held.dx, y: held.on.home.y + held.dy })
