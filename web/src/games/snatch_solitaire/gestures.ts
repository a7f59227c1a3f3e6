/**
 * Fingers and mouse on the table, told apart as taps and drags. It knows no cards:
 * whatever a finger landed on (`T`) is handed back.
 *
 * Each finger is on its own. What is interrupted (a call, the edge of the screen,
 * a new state) goes home; nothing sticks to a finger.
 */

/** So far may a tap slide, in CSS pixels. */
export const SLOP = 7

export interface Held<T> {
  readonly pointer: number
  readonly on: T
  readonly x: number
  readonly y: number
  dx: number
  dy: number
  dragging: boolean
}

export interface GestureHooks<T> {
  tap(on: T): void
  /** May this be dragged? Asked once, when the finger has moved far enough. */
  grab(on: T): boolean
  /** The held cards moved, or are held no longer: show it. */
  changed(): void
  drop(held: Held<T>): void
}

export class Gestures<T> {
  readonly held = new Map<number, Held<T>>()

  constructor(private readonly hooks: GestureHooks<T>) {}

  down(pointer: number, on: T, x: number, y: number): void {
    this.held.set(pointer, { pointer, on, x, y, dx: 0, dy: 0, dragging: false })
  }

  move(pointer: number, x: number, y: number): void {
    const held = this.held.get(pointer)
    if (!held) return
    held.dx = x - held.x
    held.dy = y - held.y
    if (!held.dragging) {
      if (Math.hypot(held.dx, held.dy) < SLOP) return
      if (!this.hooks.grab(held.on)) {
        // A slide over a card that can't move is no tap either.
        this.held.delete(pointer)
        return
      }
      held.dragging = true
    }
    this.hooks.changed()
  }

  up(pointer: number, x: number, y: number): void {
    this.move(pointer, x, y)
    const held = this.held.get(pointer)
    if (!held) return
    this.held.delete(pointer)
    if (held.dragging) {
      this.hooks.drop(held)
      this.hooks.changed()
    } else {
      this.hooks.tap(held.on)
    }
  }

  /** This finger is no longer ours. */
  cancel(pointer: number): void {
    if (this.held.delete(pointer)) this.hooks.changed()
  }

  /** All of them: a pause, the end of a hand, the window losing its focus. */
  release(): void {
    if (this.held.size === 0) return
    this.held.clear()
    this.hooks.changed()
  }

  get dragging(): Held<T>[] {
    return [...this.held.values()].filter((held) => held.dragging)
  }
}
