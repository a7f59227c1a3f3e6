/**
 * The own moves on their way: said on the socket that is open, and settled by what comes back.
 *
 * It shows nothing and tells nobody. `settled` hears of each move that has its answer, once; of null
 * where the answer is to none that this page knows of.
 */
import type { Ahead } from '../games/snatch_solitaire/ahead'
import { Outbox, type Pending } from './outbox'
import { hasOwnPart, isGameMove } from './reduce'
import type { AnyMove, No } from './wire'

export interface MovesPorts {
  /** False: the socket takes nothing now. */
  say(move: Pending): boolean
  settled(move: Pending | null, no: No | null): void
  /** What became of one is known, or the half of it that everybody sees. */
  seen(move: Pending): void
  now(): number
}

/** So many wait for a socket; more would only be a surprise later. */
const MOST_UNSENT = 24
const SLOW_DOWN_MS = 400

export class Moves {
  #outbox = new Outbox()
  #live = false

  constructor(private readonly ports: MovesPorts) {}

  /** A snapshot has come on this socket: moves may be sent. */
  get live(): boolean {
    return this.#live
  }

  get waiting(): number {
    return this.#outbox.pending.length
  }

  /** One was said on this socket, and has no answer. */
  get owed(): boolean {
    return this.#outbox.pending.some((p) => p.sent)
  }

  /** Those of the game, in order, to be shown before their answers. */
  get ahead(): Ahead[] {
    return this.#outbox.pending.flatMap((p) => (isGameMove(p.m) ? [{ key: p.key, m: p.m, half: p.half }] : []))
  }

  has(kind: AnyMove['t']): boolean {
    return this.#outbox.pending.some((p) => p.m.t === kind)
  }

  /** `basis`: the `seq` that is shown. False: too many wait already, and this one is not made. */
  make(m: AnyMove, basis: number): boolean {
    if (!this.#live && this.waiting >= MOST_UNSENT) return false
    const move = this.#outbox.add(m, basis, this.ports.now())
    if (this.#live) this.#send(move)
    return true
  }

  // ---- the socket ----

  /** A snapshot settles what is up to `answered`; the rest is said again. `fresh`: of another table. */
  begin(answered: number, fresh: boolean): void {
    this.#live = true
    this.#sendAll(this.#outbox.rebase(answered, this.ports.now(), fresh))
  }

  /** Nothing is said until the next snapshot. */
  hold(): void {
    this.#live = false
  }

  /** The socket is gone, and with it all that its gateway kept. */
  down(): void {
    this.#live = false
    this.#outbox.unsent()
  }

  /** Opened elsewhere: none of them will be heard. */
  giveUp(): void {
    this.#live = false
    this.#outbox.clear()
  }

  /** There is no table any more: the next one counts from 1. */
  forget(): void {
    this.#outbox = new Outbox()
  }

  // ---- what comes back ----

  answered(id: number, no: No | null): void {
    const move = this.#outbox.settle(id)
    if (move) this.ports.seen(move)
    this.ports.settled(move, no)
  }

  /** By a step of a frame: everybody's, or the `own` seat's, which comes second. */
  decided(id: number, no: No | null, own: boolean): void {
    const move = this.#outbox.find(id)
    if (own) this.#outbox.settleBelow(id)
    if (!own && move && !no && hasOwnPart(move.m)) {
      this.#outbox.half(id)
      this.ports.seen(move)
    } else this.answered(id, no)
  }

  /** The engine wants this one next. */
  expected(id: number): void {
    this.#sendAll(this.#outbox.from(id))
  }

  /** The gateway took none of these: too many at once. */
  slowDown(): void {
    setTimeout(() => this.#live && this.#sendAll(this.#outbox.pending), SLOW_DOWN_MS)
  }

  /** Thrown out by the gateway, undecided; those behind it move up. */
  thrownOut(id: number): void {
    this.#sendAll(this.#outbox.drop(id))
  }

  #sendAll(moves: readonly Pending[]): void {
    for (const move of moves) this.#send(move)
  }

  #send(move: Pending): void {
    if (this.ports.say(move)) move.sent = true
  }
}
