/**
 * What a player's hands do at the table: taps, drags and the undo button become moves.
 * All that it decides is where a card was let go; whether it may stay there is the engine's.
 */
import type { Session } from '../../lib/session.svelte'
import type { GameMove } from '../../lib/wire'
import type { Card } from './fits'
import { Gestures, type Held } from './gestures'
import { fanStep, overlap, workRect, type Layout, type Point, type Rect } from './layout'
import { cardsAt, dropOnMiddle, dropOnWork, spotName, tap, type Spot } from './taps'
import type { Middle } from './items'

/** What a finger is on: a place, and the cards that lay there when it came down. */
export interface Grip {
  spot: Spot
  cards: Card[]
  /** Where its first card lay. */
  home: Point
}

export interface Place {
  layout: Layout
  /** Where the middle is drawn. */
  middle: Rect
  grid: Middle
}

/** The second tap of a double tap is not a move: on the same place, so soon, on what the first one bared. */
export const DOUBLE_TAP_MS = 300
/** So much of a card must lie over a pile, or the middle, to be dropped there. */
const ENOUGH = 0.12

export class Work {
  /** The cards under fingers. */
  held = $state.raw<Held<Grip>[]>([])
  /** An undo that waits until no own card is on its way to the middle. */
  undoWaits = $state(false)

  readonly gestures: Gestures<Grip>
  #last: { spot: string; cards: Card[]; at: number } = { spot: '', cards: [], at: -Infinity }

  constructor(
    private readonly session: () => Session,
    private readonly place: () => Place,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.gestures = new Gestures<Grip>({
      tap: (grip) => this.tap(grip),
      grab: (grip) => this.#free(grip),
      changed: () => (this.held = this.gestures.dragging.map((held) => ({ ...held }))),
      drop: (held) => this.#drop(held),
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

  tap(grip: Grip): void {
    const { view, flights } = this.session()
    if (!this.open || !view?.mine) return
    const spot = spotName(grip.spot)
    const now = this.now()
    if (spot !== 'stock') {
      if (!this.#same(grip) || grip.cards.length === 0) return
      // Nor on a card that is still gliding away from under the finger.
      const again = this.#last.spot === spot || this.#last.cards.includes(grip.cards[0] ?? '')
      if (again && now - this.#last.at < DOUBLE_TAP_MS) return
    }
    const move = tap(view, flights, grip.spot)
    if (!move) return
    this.#last = { spot, cards: grip.cards, at: now }
    this.#move(move)
  }

  undo(): void {
    const { view, flights } = this.session()
    if (!this.open || !view?.mine?.undo) return
    if (flights.length > 0) this.undoWaits = true
    else this.#move({ t: 'undo' })
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
      if (view?.mine?.undo) this.#move({ t: 'undo' })
    }
  }

  #move(move: GameMove): void {
    this.session().move(move)
  }

  #same(grip: Grip): boolean {
    const mine = this.session().view?.mine
    return mine != null && cardsAt(mine, grip.spot).join() === grip.cards.join()
  }

  #free(grip: Grip): boolean {
    if (!this.open || grip.cards.length === 0 || !this.#same(grip)) return false
    return !this.gestures.dragging.some((held) => held.on.cards.some((card) => grip.cards.includes(card)))
  }

  #drop(held: Held<Grip>): void {
    const move = this.open && this.#same(held.on) ? this.aim(held)?.move : null
    if (move) this.#move(move)
  }

  /** Where these held cards would go if they were let go now. */
  aim(held: Held<Grip>): { move: GameMove; middle: boolean; pile: number | null; work: number | null } | null {
    const mine = this.session().view?.mine
    if (!mine) return null
    const { layout: l, middle, grid } = this.place()
    const { spot, cards, home } = held.on
    const card: Rect = { x: home.x + held.dx, y: home.y + held.dy, w: l.cw, h: l.ch }
    const run: Rect = { ...card, h: l.ch + fanStep(mine.work[spot.at === 'work' ? spot.pile : 0]?.length ?? 1, l) * (cards.length - 1) }
    const least = l.cw * l.ch * ENOUGH
    let best: { move: GameMove; work: number; area: number } | null = null
    mine.work.forEach((pile, i) => {
      const area = overlap(run, workRect(l, i, pile.length))
      const move = area >= least && area > (best?.area ?? 0) ? dropOnWork(mine, spot, i) : null
      if (move) best = { move, work: i, area }
    })
    const over = overlap(card, middle)
    const found = best as { move: GameMove; work: number; area: number } | null
    if (over >= least * 2 && over > (found?.area ?? 0)) {
      const pile = this.#pileUnder(card, middle, grid)
      const move = dropOnMiddle(mine, spot, pile)
      if (move) return { move, middle: true, pile, work: null }
    }
    return found && { move: found.move, middle: false, pile: null, work: found.work }
  }

  /** The pile that the card covers most, if it covers one at all. */
  #pileUnder(card: Rect, middle: Rect, { grid, slots }: Middle): number | null {
    let best: { id: number; area: number } | null = null
    for (const [i, id] of slots.entries()) {
      const at = grid.slots[i]
      if (id === null || !at) continue
      const area = overlap(card, { x: middle.x + at.x, y: middle.y + at.y, w: grid.cw, h: grid.ch })
      if (area > grid.cw * grid.ch * 0.2 && area > (best?.area ?? 0)) best = { id, area }
    }
    return best?.id ?? null
  }
}
