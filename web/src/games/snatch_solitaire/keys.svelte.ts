/**
 * The table without a pointer. Arrows go about among the own cards, Enter is a tap; a space lifts
 * a card, and then arrows go about among the places where it may be put. The number keys do both:
 *
 *     1 2 3 4   the work piles      5   the snatch pile    6   the turned pile    7   the stock
 *     a number: a tap there, or the lifted card goes there       0   it goes into the middle
 *     Shift and a number: lifts the card there                  Esc   puts it down
 */
import type { Session } from '../../lib/session.svelte'
import type { GameMove, Mine } from '../../lib/wire'
import type { Aim, Grip } from './aim'
import type { Layout } from './layout'
import { cardsAt, dropOnMiddle, dropOnWork, sameSpot, type Spot } from './taps'
import type { Work } from './work.svelte'

const HOME = { x: 0, y: 0 }
const NUMBER = /^(?:Digit|Numpad)([0-7])$/

export type Way = 'left' | 'right' | 'up' | 'down'
const WAYS: Readonly<Record<string, Way>> = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' }

export interface Press {
  key: string
  code: string
  shiftKey: boolean
  repeat: boolean
}

export class Keys {
  /** Where the arrows have gone. */
  cursor = $state.raw<Spot>({ at: 'snatch' })
  /** The cards that were lifted, to be put elsewhere. */
  lifted = $state.raw<Grip | null>(null)
  #chosen = $state(0)

  constructor(
    private readonly session: () => Session,
    private readonly work: Work,
    private readonly shape: () => Layout['shape'],
  ) {}

  /** Where the lifted cards may be put: onto piles of the middle, then onto work piles. */
  get choices(): Aim[] {
    const mine = this.session().view?.mine
    const { lifted } = this
    const open = lifted && this.work.targets(lifted)
    if (!mine || !lifted || !open) return []
    const piles: (number | null)[] = open.piles.length > 0 ? open.piles : open.fits ? [null] : []
    const into = piles.map((pile) => aimed(dropOnMiddle(mine, lifted.spot, pile), { middle: true, pile, work: null }))
    const onto = open.work.map((work) => aimed(dropOnWork(mine, lifted.spot, work), { middle: false, pile: null, work }))
    return [...into, ...onto].filter((aim) => aim !== null)
  }

  /** The one of them that Enter would take. */
  get choice(): Aim | null {
    const all = this.choices
    return all[Math.min(this.#chosen, all.length - 1)] ?? null
  }

  /** Whether the table has a use for this key; a key that is held down goes about, and does nothing else. */
  press({ key, code, shiftKey, repeat }: Press): boolean {
    const mine = this.session().view?.mine
    if (!mine || !this.work.open) return false
    const way = WAYS[key]
    const number = NUMBER.exec(code)?.[1]
    if (way) this.#go(mine, way)
    else if (number !== undefined) return repeat || this.#number(mine, Number(number), shiftKey)
    else if (key === 'Enter') repeat || this.#enter()
    else if (key === ' ') repeat || this.#space()
    else if (key === 'Escape' && this.lifted) this.lifted = null
    else return false
    return true
  }

  /** After every change of what is shown: the cursor stays on something, and nothing lifted is elsewhere. */
  settle(): void {
    const mine = this.session().view?.mine
    if (!mine) return
    const there = within(mine, this.cursor)
    if (!sameSpot(there, this.cursor)) this.cursor = there
    const { lifted } = this
    if (lifted && (!this.work.open || cardsAt(mine, lifted.spot).join() !== lifted.cards.join())) this.lifted = null
  }

  #go(mine: Mine, way: Way): void {
    const all = this.choices
    if (!this.lifted) this.cursor = step(mine, this.shape(), within(mine, this.cursor), way)
    else if (all.length > 0) this.#chosen = (this.#chosen + (way === 'left' || way === 'up' ? all.length - 1 : 1)) % all.length
  }

  #enter(): void {
    if (this.lifted) this.#put(this.choice?.move ?? null)
    else this.work.tap(this.work.grip(this.cursor, HOME), true)
  }

  #space(): void {
    if (this.lifted) this.#put(this.choice?.move ?? null)
    else this.#lift(this.cursor)
  }

  #number(mine: Mine, n: number, lift: boolean): boolean {
    const { lifted } = this
    if (n === 0) {
      if (!lifted) return false
      this.#put(dropOnMiddle(mine, lifted.spot, null))
    } else if (lifted && n <= 4 && !lift) {
      this.#put(dropOnWork(mine, lifted.spot, n - 1))
    } else {
      this.cursor = within(mine, PLACES[n - 1] ?? this.cursor)
      if (lift) this.#lift(this.cursor)
      else {
        this.lifted = null
        this.work.tap(this.work.grip(this.cursor, HOME), true)
      }
    }
    return true
  }

  #lift(spot: Spot): void {
    const grip = this.work.grip(spot, HOME)
    this.lifted = grip.cards.length > 0 ? grip : null
    this.#chosen = 0
  }

  #put(move: GameMove | null): void {
    this.lifted = null
    if (move) this.work.move(move)
  }
}

const aimed = (move: GameMove | null, where: Omit<Aim, 'move'>): Aim | null => move && { move, ...where }

/** What the number keys name; a work pile by its last card. */
const PLACES: readonly Spot[] = [
  ...[0, 1, 2, 3].map((pile): Spot => ({ at: 'work', pile, index: Infinity })),
  { at: 'snatch' },
  { at: 'turned' },
  { at: 'stock' },
]

/** The same place as it is now: a work pile has so many cards; -1 is the empty one. */
export function within(mine: Mine, spot: Spot): Spot {
  if (spot.at !== 'work') return spot
  const last = (mine.work[spot.pile]?.length ?? 0) - 1
  return { at: 'work', pile: spot.pile, index: Math.max(Math.min(0, last), Math.min(spot.index, last)) }
}

/** One step of an arrow, by where things lie. */
export function step(mine: Mine, shape: Layout['shape'], from: Spot, way: Way): Spot {
  const top = (pile: number): Spot => within(mine, { at: 'work', pile, index: Infinity })
  if (from.at === 'work' && (way === 'up' || way === 'down')) {
    const to = within(mine, { ...from, index: Math.max(0, from.index + (way === 'up' ? -1 : 1)) })
    if (way === 'up' || shape === 'wide' || !sameSpot(to, from)) return to
    return from.pile < 2 ? { at: 'snatch' } : from.pile === 2 ? { at: 'turned' } : { at: 'stock' }
  }
  if (way === 'up') return shape === 'wide' ? from : top({ snatch: 0, turned: 2, stock: 3, work: 0 }[from.at])
  if (way === 'down') return from
  const rows: Spot[][] =
    shape === 'wide'
      ? [[{ at: 'snatch' }, top(0), top(1), top(2), top(3), { at: 'turned' }, { at: 'stock' }]]
      : [
          [top(0), top(1), top(2), top(3)],
          [{ at: 'snatch' }, { at: 'turned' }, { at: 'stock' }],
        ]
  const same = (a: Spot): boolean => a.at === from.at && (a.at !== 'work' || from.at !== 'work' || a.pile === from.pile)
  const row = rows.find((one) => one.some(same)) ?? []
  return row[row.findIndex(same) + (way === 'left' ? -1 : 1)] ?? from
}
