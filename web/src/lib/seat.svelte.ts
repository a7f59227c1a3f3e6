/**
 * A player's seat at a table: what is shown of it and told, and the own moves.
 *
 * What is shown is the engine's view with the own moves that are on their way on top of it
 * (`games/…/ahead.ts`); every frame makes it anew. How messages come and go is the session's.
 */
import { showAhead, type Flight } from '../games/snatch_solitaire/ahead'
import { nothing } from '../games/snatch_solitaire/apply'
import { Landings } from '../games/snatch_solitaire/landings.svelte'
import { happened, pausedSpoken } from '../games/snatch_solitaire/spoken'
import { words } from '../messages/words.svelte'
import { errorOf } from './api'
import { Farewell } from './farewell'
import { Moves } from './moves'
import type { Pending } from './outbox'
import { isGameMove, isTableEvent } from './reduce'
import { Screen } from './screen.svelte'
import { Telling } from './telling.svelte'
import type { AnyEvent, AnyMove, No, SeatFrame, Snapshot, Step, TableEvent, TableFrame } from './wire'

export abstract class Seat extends Screen {
  /** Own cards on their way to the middle. */
  flights = $state.raw<Flight[]>([])
  /** It was this player's leaving, as the host, that ended the last game. */
  endedIt = $state(false)

  /** For players who look: what lands in the middle just now. */
  readonly landings = new Landings()
  /** For players who listen: what happened, in sentences. */
  readonly telling = new Telling((n) => words.told.more(n))

  protected readonly moves: Moves
  protected readonly farewell = new Farewell()

  constructor(now: () => number) {
    super(now)
    this.moves = new Moves({
      say: (move) => this.send(move),
      settled: (move, no) => this.#settled(move?.m ?? null, no),
      seen: (move) => isGameMove(move.m) && this.seen(move),
      now,
    })
  }

  /** Says it to the servers. False: there is no socket that takes it. */
  protected abstract send(move: Pending): boolean

  /** What became of an own move of the game is about to be shown; told again of its second half. */
  protected abstract seen(move: Pending): void

  /** The table's phase is another, or a move less waits for its answer. */
  protected abstract changed(): void

  protected make(m: AnyMove): void {
    if (!this.table || !this.moves.make(m, this.seq)) return
    this.ear?.moved(m)
    if (isGameMove(m)) this.show()
  }

  protected override takeSnapshot(snapshot: Snapshot): void {
    const fresh = this.table?.table !== snapshot.table.table
    this.landings.clear()
    super.takeSnapshot(snapshot)
    this.endedIt = false
    this.moves.begin(snapshot.answered ?? 0, fresh)
    if (!this.moves.has('leave')) this.farewell.over()
    this.changed()
    this.show()
  }

  protected takeFrame(frame: TableFrame | SeatFrame): void {
    if (!this.table) return
    this.seq = frame.seq
    for (const step of frame.steps) this.#step(step, frame.t === 'seat')
    this.show()
  }

  protected override dropTable(): void {
    super.dropTable()
    this.flights = []
    this.moves.forget()
    this.farewell.over()
  }

  #step(step: Step, own: boolean): void {
    const mine = step.id != null && (own ? step.by == null || step.by === this.mySeat : step.by === this.mySeat)
    for (const event of step.ev ?? []) this.takeEvent(event as AnyEvent)
    if (!this.table) return
    if (mine && step.id != null) this.moves.decided(step.id, step.no ?? null, own)
    else if (step.no) this.news.snatched(step.no, this.table)
  }

  protected override takeEvent(event: AnyEvent): void {
    const before = this.confirmed
    super.takeEvent(event)
    if (isTableEvent(event)) return this.#tellOf(event)
    if (event.t === 'placed') this.landings.take(event, before?.middle ?? [])
    else if (event.t === 'dealt') this.landings.clear()
    const what = happened(event, before ?? nothing(), this.confirmed ?? nothing(), this.mySeat, (seat) => this.nameOf(seat))
    if (what) this.telling.hear(what)
  }

  /** News says the rest of what the table does. */
  #tellOf(event: TableEvent): void {
    if (event.t === 'paused') this.telling.say(pausedSpoken(event.by, this.mySeat, (seat) => this.nameOf(seat)))
    else if (event.t === 'resumed' && event.by === this.mySeat) this.telling.say(words.told.resumed)
    else if (event.t === 'scores' || event.t === 'setup' || event.t === 'closed') this.telling.hush()
  }

  protected override tableChanged(event: TableEvent): void {
    if (event.t === 'closed') {
      this.endedIt = event.why === 'host_left' && this.moves.has('leave')
      this.dropTable()
    }
    this.changed()
  }

  #settled(move: AnyMove | null, no: No | null): void {
    if (move?.t === 'leave') this.farewell.over()
    if (no && this.table) this.#refused(move, no)
    this.changed()
  }

  /** Only a race lost, a card with no pile, and a host's button say something; the rest come home quietly. */
  #refused(move: AnyMove | null, no: No): void {
    this.ear?.refused(no)
    if (no.code === 'snatched' && this.table) {
      this.news.snatched(no, this.table)
      const by = no.by ?? -1
      this.news.toast(words.table.snatchedBy(this.nameOf(by)), 'snatched', this.colourOf(by))
    } else if (no.code === 'no_pile') {
      this.news.toast(words.table.noPile, 'no')
    } else if (move && !isGameMove(move) && no.code === 'not_host') {
      this.news.toast(errorOf(no.code).message, 'error')
    } else if (move && isGameMove(move)) {
      this.telling.say(words.told.cameBack)
    }
  }

  protected show(): void {
    if (!this.confirmed) {
      this.view = null
      this.flights = []
      return
    }
    const shown = showAhead(this.confirmed, this.before, this.mySeat, this.moves.ahead)
    this.view = shown.view
    this.flights = shown.flights
  }
}
