/** The TV: what a table shows to a room full of people. It only listens. */
import { apply, nothing } from '../games/snatch_solitaire/apply'
import { en } from '../messages/en'
import { tidyCode } from './api'
import { Ends } from './ends.svelte'
import { browserPorts, Link, type LinkPorts } from './link'
import { News, type Banner, type Flash, type Toast } from './news.svelte'
import { isTableEvent, reduceTable } from './reduce'
import { asView, VERSION } from './wire'
import type { AnyEvent, Lobby, Member, Message, TableView, View } from './wire'

/** `ask`: no code yet, or `why` says what was wrong with it. `lobby`: nothing is played (yet). */
export type TvStatus = 'ask' | 'connecting' | 'lobby' | 'table' | 'reconnecting' | 'waiting'

export interface TvPorts extends LinkPorts {
  url: string
  address(room: string | null): void
}

function pagePorts(): TvPorts {
  return {
    ...browserPorts,
    url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/tv`,
    address: (room) => history.replaceState(null, '', location.pathname + (room ? `?code=${room}` : '')),
  }
}

export class TvSession {
  status = $state<TvStatus>('ask')
  why = $state<string | null>(null)
  room = $state<string | null>(null)
  lobby = $state.raw<Lobby | null>(null)
  table = $state.raw<TableView | null>(null)
  view = $state.raw<View | null>(null)
  /** `performance.now()` at which the countdown ends or the standings follow, or null. */
  get ends(): number | null {
    return this.#ends.at
  }
  set ends(at: number | null) {
    this.#ends.at = at
  }

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

  #ports: TvPorts
  #ends: Ends
  #link: Link | null = null

  constructor(ports: TvPorts = pagePorts()) {
    this.#ports = ports
    this.#ends = new Ends(ports.now)
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

  /** Watches a room by its code, as typed. */
  watch(code: string): void {
    const room = tidyCode(code)
    if (!room) {
      this.why = en.errors.no_room
      return
    }
    this.stop()
    this.room = room
    this.why = null
    this.status = 'connecting'
    this.#ports.address(room)
    this.#link = new Link(
      this.#ports.url,
      {
        hello: () => ({ t: 'watch', v: VERSION, room }),
        message: (message) => this.#hear(message),
        down: () => {
          if (this.status !== 'connecting') this.status = 'reconnecting'
        },
        ended: () => this.#ask(en.errors.no_room),
        latency: () => undefined,
      },
      this.#ports,
    )
    this.#link.start()
  }

  stop(): void {
    this.#link?.stop()
    this.#link = null
    this.lobby = this.table = this.view = this.room = null
    this.#ends.in(null)
    this.status = 'ask'
  }

  #ask(why: string): void {
    this.stop()
    this.#ports.address(null)
    this.why = why
  }

  wake(): void {
    this.#link?.kick()
  }

  #hear(message: Message): void {
    switch (message.t) {
      case 'lobby':
        this.lobby = message
        if (this.status === 'connecting' && !message.table) this.status = 'lobby'
        return
      case 'no_table':
        this.#lobby()
        return
      case 'snapshot':
        this.table = message.table
        this.view = asView(message.view)
        this.#ends.in(message.table.countdown)
        if (message.table.paused_by != null) this.#ends.hold()
        this.status = 'table'
        return
      case 'table':
        for (const step of message.steps) {
          for (const event of step.ev ?? []) this.#event(event as AnyEvent)
          if (step.no && this.table) this.news.snatched(step.no, this.table)
        }
        return
      case 'waiting':
        this.status = 'waiting'
        return
      case 'error':
        if (message.code === 'no_room' || message.code === 'bad_version') {
          this.#ask(message.code === 'no_room' ? en.errors.no_room : en.errors.bad_version)
        }
        return
    }
  }

  #lobby(): void {
    this.table = this.view = null
    this.#ends.in(null)
    this.status = 'lobby'
  }

  #event(event: AnyEvent): void {
    if (!this.table) return
    if (!isTableEvent(event)) {
      this.view = apply(this.view ?? nothing(), event)
      this.news.hear(event, this.table, null)
      return
    }
    const table = reduceTable(this.table, event)
    this.news.hear(event, table, null)
    if (event.t === 'closed') return this.#lobby()
    if (event.t === 'seated' || event.t === 'setup') this.view = null
    if (event.t === 'countdown' || event.t === 'scores') this.#ends.in(event.ms)
    if (event.t === 'paused') this.#ends.hold()
    if (event.t === 'resumed') this.#ends.go()
    if (event.t === 'live' || event.t === 'standings') this.#ends.in(null)
    this.table = table
  }
}
