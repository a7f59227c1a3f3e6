/**
 * How cards move that no style's transition can move: from where an element never was.
 * Transforms alone, by the browser's own animations, which a busy page doesn't hold up.
 */
import { prefersReducedMotion } from 'svelte/motion'
import type { Point } from './layout'

const EASE = 'cubic-bezier(0.2, 0.8, 0.3, 1)'
const THROW = 'cubic-bezier(0.3, 0.2, 0.2, 1)'
const FLY_MS = 300
const LAND_MS = 180
const FLIP_MS = 180
const BEGIN_MS = 240
/** So far a card turns that nobody knows yet, and waits: its back is seen, and that it is on its way. */
const BEGUN = 118
const FACE_DOWN = 180

/** How far from its place the middle of a card is, and how large it is there, of its size here. */
export interface Start extends Point {
  scale: number
}

/** Its player wants nothing to move. */
export const still = (): boolean => prefersReducedMotion.current

/** A card comes flying from there; `tilt` in degrees, as it was thrown. */
export function fly(node: HTMLElement, from: Start, tilt: number, then: () => void): void {
  if (still()) return then()
  const flight = node.animate(
    [
      { transform: `translate(${from.x}px, ${from.y}px) scale(${from.scale}) rotate(${tilt}deg)` },
      { transform: 'translate(0, 0) scale(1.08) rotate(0deg)', offset: 0.85 },
      { transform: 'none' },
    ],
    { duration: FLY_MS, easing: THROW },
  )
  ended(flight, then)
}

/** The last bit of a way that has been seen already. */
export function land(node: HTMLElement, from: Start, then: () => void): void {
  if (still()) return then()
  const start = `translate(${from.x}px, ${from.y}px) scale(${from.scale})`
  ended(node.animate([{ transform: start }, { transform: 'none' }], { duration: LAND_MS, easing: EASE }), then)
}

/** The top of a pile goes beneath it, out at its side. */
export function under(node: HTMLElement, height: number, then: () => void): void {
  const out = `translate(0, ${-height * 0.55}px) rotate(-5deg)`
  ended(node.animate([{ transform: 'none' }, { transform: out, offset: 0.45 }, { transform: 'none' }], { duration: 420, easing: 'ease-in-out' }), then)
}

/** A finger asked for what can't be: the card says no. */
export function shake(node: Element): void {
  if (still()) return
  const way = [0, -5, 5, -4, 0].map((x) => ({ translate: `${x}px 0` }))
  node.animate(way, { duration: 200, easing: 'ease-in-out' })
}

/** A card that turns about its upright axis: 0 shows its face, 180 its back. Not for who wants it still. */
export class Turn {
  #now: Animation | null = null
  #way: [number, number] = [0, 0]

  constructor(private readonly node: HTMLElement) {}

  /** Off its pile, and round as far as may be without being known. `slide`: how far it comes from. */
  begin(slide: number): void {
    this.#go(FACE_DOWN, BEGUN, slide, BEGIN_MS, 'forwards')
  }

  /** From wherever it is to its face, or, never begun, from its back. */
  show(slide: number, then: () => void): void {
    this.#go(this.#now ? this.#angle() : FACE_DOWN, 0, this.#now ? 0 : slide, FLIP_MS, 'none', then)
  }

  /** From its face to its back, while it goes elsewhere. */
  hide(to: number, then: () => void): void {
    this.#go(0, FACE_DOWN, 0, FLIP_MS, 'forwards', then, to)
  }

  #go(from: number, to: number, slide: number, duration: number, fill: FillMode, then?: () => void, end = 0): void {
    this.#now?.cancel()
    this.#way = [from, to]
    const pose = (angle: number, x: number): Keyframe => ({ transform: `translateX(${x}px) perspective(700px) rotateY(${angle}deg)` })
    this.#now = this.node.animate([pose(from, slide), pose(to, end)], { duration, easing: EASE, fill })
    const mine = this.#now
    if (then) ended(mine, () => mine === this.#now && then())
  }

  #angle(): number {
    const [from, to] = this.#way
    return from + (to - from) * (this.#now?.effect?.getComputedTiming().progress ?? 1)
  }
}

/** However it ends: a page that is hidden, or an element that is gone, may not wait for ever. */
function ended(animation: Animation, then: () => void): void {
  animation.finished.then(then, then)
}
