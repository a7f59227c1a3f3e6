/** The TV: what a table shows to a room full of people. It only listens. */
import { Landings } from '../games/snatch_solitaire/landings.svelte'
import { words } from '../messages/words.svelte'
import { tidyCode } from './api'
import { Freshness, type FreshnessPorts } from './freshness'
import { browserPorts, Link, type LinkPorts } from './link'
import { pageFreshness } from './ports'
import { Screen } from './screen.svelte'
import { VERSION } from './wire'
import type { AnyEvent, Message, TableEvent } from './wire'

/** `ask`: no code yet, or `why` says what was wrong with it. `lobby`: nothing is played (yet). */
export type TvStatus = 'ask' | 'connecting' | 'lobby' | 'table' | 'reconnecting' | 'waiting'

export interface TvPorts extends LinkPorts, FreshnessPorts {
  url: string
  address(room: string | null): void
  /** Nothing should move: its user wants it so, or nobody sees it. */
  still(): boolean
}

/** How long the table is still seen once a snatch pile is empty, before the scores. */
export const ENDING_MS = 1800

function pagePorts(): TvPorts {
  return {
    ...browserPorts,
    ...pageFreshness(),
    url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/tv`,
    address: (room) => history.replaceState(null, '', location.pathname + (room ? `?code=${room}` : '')),
    still: () => document.hidden || matchMedia('(prefers-reduced-motion: reduce)').matches,
  }
}

export class TvSession extends Screen {
  status = $state<TvStatus>('ask')
  why = $state<string | null>(null)
  /** A hand has just ended: its last card lands, its winner is seen. */
  ending = $state(false)
  readonly landings = new Landings()

  #ports: TvPorts
  #link: Link | null = null
  #freshness: Freshness

  constructor(ports: TvPorts = pagePorts()) {
    super(ports.now)
    this.#ports = ports
    this.#freshness = new Freshness(ports)
  }

  /** Watches a room by its code, as typed. */
  watch(code: string): void {
    const room = tidyCode(code)
    if (!room) {
      this.why = words.errors.no_room
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
        owed: () => this.table?.phase === 'live',
        ended: () => this.#ask(words.errors.no_room),
        latency: () => undefined,
      },
      this.#ports,
    )
    this.#link.start()
  }

  stop(): void {
    this.#link?.stop()
    this.#link = null
    this.dropTable()
    this.landings.clear()
    this.lobby = this.room = null
    this.status = 'ask'
  }

  /** Somebody wants another room shown. */
  leave(): void {
    this.stop()
    this.#ports.address(null)
  }

  /** The network, or the page, is back. */
  wake(): void {
    this.#link?.kick()
  }

  #ask(why: string): void {
    this.stop()
    this.#ports.address(null)
    this.why = why
  }

  #hear(message: Message): void {
    switch (message.t) {
      case 'welcome':
        this.#freshness.met(message.build)
        this.#renew()
        return
      case 'lobby':
        this.lobby = message
        if (!this.table && message.table == null) this.status = 'lobby'
        return
      case 'no_table':
        this.dropTable()
        this.status = 'lobby'
        return
      case 'snapshot':
        this.takeSnapshot(message)
        this.view = this.confirmed
        this.landings.clear()
        this.ending = false
        this.status = 'table'
        this.#renew()
        return
      case 'table':
        this.seq = message.seq
        for (const step of message.steps) {
          for (const event of step.ev ?? []) this.#take(event as AnyEvent)
          if (step.no && this.table) this.news.snatched(step.no, this.table)
        }
        this.view = this.confirmed
        return
      case 'waiting':
        this.status = 'waiting'
        return
      case 'error':
        if (message.code === 'no_room') this.#ask(words.errors.no_room)
        else if (message.code === 'bad_version') {
          if (this.#freshness.unspoken()) this.#link?.stop()
          else this.#ask(words.errors.bad_version)
        }
        return
    }
  }

  #take(event: AnyEvent): void {
    const before = this.confirmed
    this.takeEvent(event)
    if (event.t === 'placed') this.landings.take(event, before?.middle ?? [])
    else if (event.t === 'dealt') this.landings.clear()
    else if (event.t === 'hand_ended') this.#end()
  }

  #end(): void {
    if (this.#ports.still()) return
    this.ending = true
    setTimeout(() => (this.ending = false), ENDING_MS)
  }

  protected override tableChanged(event: TableEvent): void {
    if (event.t === 'closed') {
      this.dropTable()
      this.status = 'lobby'
    }
    this.#renew()
  }

  #renew(): void {
    this.#freshness.renew(this.table?.phase, 0)
  }
}
