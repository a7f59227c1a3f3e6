/**
 * The own moves that no answer has come for.
 *
 * Ids count up from 1 in each tab without gaps: the engine takes `answered + 1` and
 * nothing else. So a move that the gateway threw out leaves its id free, and those
 * behind it move up.
 *
 * An id that was given to a socket is that move's for as long as the socket lives: the
 * gateway keeps what it was sent, so another move of the same id would be taken for a
 * repetition. Only a new hello makes sure that nothing above `answered` is decided any more.
 */
import type { AnyMove } from './wire'

export interface Pending {
  /** Names the move in this page, whatever its id becomes. */
  readonly key: number
  id: number
  /** The `seq` that was shown when it was made. */
  readonly basis: number
  readonly m: AnyMove
  /** When it was made, in the session's milliseconds. */
  readonly at: number
  /** Its public part has been applied, its own part is still to come. */
  half: boolean
  /** It was said on the socket that is open now: its answer decides, however old it is. */
  sent: boolean
}

/** Nobody wants a flick of so long ago carried out, if no server has it yet. */
export const STALE_AFTER = 10_000

export class Outbox {
  pending: Pending[] = []
  #next = 1
  #keys = 0

  add(m: AnyMove, basis: number, at: number): Pending {
    const move: Pending = { key: ++this.#keys, id: this.#next++, basis, m, at, half: false, sent: false }
    this.pending.push(move)
    return move
  }

  /** The socket is gone, and with it all that its gateway kept. */
  unsent(): void {
    for (const p of this.pending) p.sent = false
  }

  /**
   * A snapshot: what is up to `answered` is settled by it. What was sent on this socket keeps its
   * id; the rest is numbered from there on, without what is too old. All is to be sent again.
   * `fresh`: another table, where none of it means anything.
   */
  rebase(answered: number, now: number, fresh: boolean): Pending[] {
    const open = fresh ? [] : this.pending.filter((p) => p.id > answered)
    const kept = open.filter((p) => p.sent)
    const others = open.filter((p) => !p.sent && now - p.at < STALE_AFTER)
    const first = Math.max(answered, kept.at(-1)?.id ?? 0) + 1
    others.forEach((p, i) => (p.id = first + i))
    this.pending = [...kept, ...others]
    this.#next = first + others.length
    for (const p of this.pending) p.half = false
    return this.pending
  }

  /** The public part of an own move has been shown. */
  half(id: number): void {
    const move = this.find(id)
    if (move) move.half = true
  }

  find(id: number): Pending | null {
    return this.pending.find((p) => p.id === id) ?? null
  }

  /** This one has its answer. */
  settle(id: number): Pending | null {
    const move = this.find(id)
    if (move) this.pending = this.pending.filter((p) => p !== move)
    return move
  }

  /** Decided in order: an answer to `id` in the seat's own frames means that those before it have theirs. */
  settleBelow(id: number): void {
    this.pending = this.pending.filter((p) => p.id >= id)
  }

  /** Thrown out undecided: its id is free. Gives the moves behind it, renumbered, to be sent again. */
  drop(id: number): Pending[] {
    const at = this.pending.findIndex((p) => p.id === id)
    if (at < 0) return []
    this.pending = this.pending.filter((_, i) => i !== at)
    const behind = this.pending.slice(at)
    behind.forEach((p, i) => (p.id = id + i))
    this.#next = id + behind.length
    return behind
  }

  /** The engine wants `id` next. */
  from(id: number): Pending[] {
    return this.pending.filter((p) => p.id >= id)
  }

  clear(): void {
    this.pending = []
  }
}
