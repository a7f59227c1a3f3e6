/**
 * What a screen has been told of a table, by snapshots and frames. A player's session
 * and the TV's are both one; only a player has cards and moves of their own.
 */
import { remembered, type Before } from '../games/snatch_solitaire/ahead'
import { apply, nothing } from '../games/snatch_solitaire/apply'
import type { Ear } from './ear'
import { Ends } from './ends.svelte'
import { News, type Banner, type Flash, type Toast } from './news.svelte'
import { isTableEvent, reduceTable } from './reduce'
import { asView } from './wire'
import type { AnyEvent, GameEvent, Lobby, Member, Snapshot, TableEvent, TableView, View, You } from './wire'

export abstract class Screen {
  room = $state<string | null>(null)
  lobby = $state.raw<Lobby | null>(null)
  /** Not null: the game screen is shown, in the place that `table.phase` says. */
  table = $state.raw<TableView | null>(null)
  /** What to show: confirmed by the engine; a player's own moves on their way are on top. */
  view = $state.raw<View | null>(null)
  /** Null on a TV. */
  you = $state.raw<You | null>(null)
  /** The engine's sequence number that is shown. */
  seq = $state(0)

  /** The own member number at the table. */
  readonly mySeat: number | null = $derived(this.you?.seat ?? null)
  /** No cards in this game: sees what the TV sees. */
  readonly watching: boolean = $derived(this.you?.watching ?? true)

  readonly news = new News()
  get toasts(): Toast[] {
    return this.news.toasts
  }
  get banner(): Banner | null {
    return this.news.banner
  }
  get flashes(): Flash[] {
    return this.news.flashes
  }

  /** Hears what happens, as it happens. */
  ear: Ear | null = null

  protected confirmed: View | null = null
  /** The own cards before the last own-cards move. */
  protected before: Before | null = null
  #ends: Ends

  constructor(now: () => number) {
    this.#ends = new Ends(now)
  }

  /** In the page's milliseconds, when the countdown ends or the standings follow, or null. */
  get ends(): number | null {
    return this.#ends.at
  }
  set ends(at: number | null) {
    this.#ends.at = at
  }

  memberOf(seat: number): Member | null {
    return this.table?.members.find((m) => m.seat === seat) ?? null
  }
  nameOf(seat: number): string {
    return this.memberOf(seat)?.name ?? '?'
  }
  colourOf(seat: number): number {
    return this.memberOf(seat)?.colour ?? 0
  }

  /** The table has changed. */
  protected abstract tableChanged(event: TableEvent): void

  protected takeSnapshot(snapshot: Snapshot): void {
    this.table = snapshot.table
    this.you = snapshot.you ?? null
    this.seq = snapshot.seq
    this.confirmed = asView(snapshot.view)
    this.before = null
    this.#ends.in(snapshot.table.countdown)
    if (snapshot.table.paused_by != null) this.#ends.hold()
  }

  protected dropTable(): void {
    this.table = this.view = this.you = this.confirmed = this.before = null
    this.seq = 0
    this.#ends.in(null)
  }

  protected takeEvent(event: AnyEvent): void {
    if (!this.table) return
    this.ear?.heard(event, this.mySeat)
    if (isTableEvent(event)) this.#tableEvent(this.table, event)
    else this.#gameEvent(this.table, event)
  }

  #gameEvent(table: TableView, event: GameEvent): void {
    const view = this.confirmed ?? nothing()
    this.before = remembered(this.before, view, this.mySeat, event)
    this.confirmed = apply(view, event)
    this.news.hear(event, table, this.mySeat)
  }

  #tableEvent(before: TableView, event: TableEvent): void {
    const table = reduceTable(before, event)
    this.news.hear(event, table, this.mySeat)
    switch (event.t) {
      case 'seated':
        if (this.you) this.you = { ...this.you, watching: !event.seats.includes(this.you.seat) }
        this.confirmed = null
        break
      case 'setup':
        if (this.you) this.you = { ...this.you, watching: true }
        this.confirmed = null
        break
      case 'countdown':
      case 'scores':
        this.#ends.in(event.ms)
        break
      case 'paused':
        this.#ends.hold()
        break
      case 'resumed':
        this.#ends.go()
        break
      case 'live':
      case 'standings':
        this.#ends.in(null)
        break
    }
    this.table = event.t === 'closed' ? null : table
    this.tableChanged(event)
  }
}
