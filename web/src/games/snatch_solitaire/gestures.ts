/**
 * Fingers and mouse on the table, told apart as taps and drags. It knows no cards:
 * whatever a finger landed on (`T`) is handed back.
 *
 * Each finger is on its own. What is interrupted (a call, the edge of the screen,
 * a new state) goes home; nothing sticks to a finger.
 */

/** So far may a tap slide, in CSS pixels. */
export const SLOP = 7
/** How fast a finger is, is told by its way in so many last milliseconds: one that rests before it lets go doesn't throw. */
const TRAIL_MS = 90
/** Two events may bear the same time; no finger is faster than this makes it. */
const LEAST_MS = 8

export interface Held<T> {
  readonly pointer: number
  readonly on: T
  readonly x: number
  readonly y: number
  dx: number
  dy: number
  dragging: boolean
}

/** In CSS pixels per millisecond. */
export interface Speed {
  x: number
  y: number
}

export interface GestureHooks<T> {
  tap(on: T): void
  /** May this be dragged? Asked once, when the finger has moved far enough. */
  grab(on: T): boolean
  /** A finger came down, the held cards moved, or are held no longer: show it. */
  changed(): void
  drop(held: Held<T>, speed: Speed): void
}

interface Sample {
  x: number
  y: number
  at: number
}

export class Gestures<T> {
  readonly held = new Map<number, Held<T>>()
  readonly #trails = new Map<number, Sample[]>()

  constructor(private readonly hooks: GestureHooks<T>) {}

  /** `at`: when, in milliseconds of any clock that all calls share. */
  down(pointer: number, on: T, x: number, y: number, at: number): void {
    this.held.set(pointer, { pointer, on, x, y, dx: 0, dy: 0, dragging: false })
    this.#trails.set(pointer, [{ x, y, at }])
    this.hooks.changed()
  }

  move(pointer: number, x: number, y: number, at: number): void {
    const held = this.held.get(pointer)
    if (!held) return
    const trail = this.#trails.get(pointer) ?? []
    trail.push({ x, y, at })
    while (at - (trail[0]?.at ?? at) > TRAIL_MS) trail.shift()
    held.dx = x - held.x
    held.dy = y - held.y
    if (!held.dragging) {
      if (Math.hypot(held.dx, held.dy) < SLOP) return
      // A slide over a card that can't move is no tap either.
      if (!this.hooks.grab(held.on)) return this.cancel(pointer)
      held.dragging = true
    }
    this.hooks.changed()
  }

  up(pointer: number, x: number, y: number, at: number): void {
    this.move(pointer, x, y, at)
    const held = this.held.get(pointer)
    if (!held) return
    const speed = this.#speed(pointer, { x, y, at })
    this.#forget(pointer)
    if (held.dragging) this.hooks.drop(held, speed)
    else this.hooks.tap(held.on)
    this.hooks.changed()
  }

  /** This finger is no longer ours. */
  cancel(pointer: number): void {
    if (!this.held.has(pointer)) return
    this.#forget(pointer)
    this.hooks.changed()
  }

  /** All of them: a pause, the end of a hand, the window losing its focus. */
  release(): void {
    if (this.held.size === 0) return
    this.held.clear()
    this.#trails.clear()
    this.hooks.changed()
  }

  get dragging(): Held<T>[] {
    return [...this.held.values()].filter((held) => held.dragging)
  }

  #forget(pointer: number): void {
    this.held.delete(pointer)
    this.#trails.delete(pointer)
  }

  #speed(pointer: number, end: Sample): Speed {
    const start = this.#trails.get(pointer)?.[0] ?? end
    const ms = Math.max(LEAST_MS, end.at - start.at)
    return { x: (end.x - start.x) / ms, y: (end.y - start.y) / ms }
  }
}
