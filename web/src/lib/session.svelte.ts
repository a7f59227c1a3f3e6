/**
 * A player's session: the room, the lobby, the table and what is shown of it.
 *
 * Places read its fields (they are reactive) and call its actions; nothing else
 * talks to the network. What is shown is the engine's view with the own moves that
 * are on their way on top of it (`games/…/ahead.ts`); every frame makes it anew.
 */
import { showAhead, type Flight } from '../games/snatch_solitaire/ahead'
import { nothing } from '../games/snatch_solitaire/apply'
import { Landings } from '../games/snatch_solitaire/landings.svelte'
import { happened, pausedSpoken } from '../games/snatch_solitaire/spoken'
import { words } from '../messages/words.svelte'
import { createRoom, errorOf, joinRoom, tidyCode, type Entry } from './api'
import { Asked } from './asked'
import { Freshness } from './freshness'
import { Link } from './link'
import type { Toast } from './news.svelte'
import { Outbox, type Pending } from './outbox'
import { pagePorts, type SessionPorts } from './ports'
import { hasOwnPart, isGameMove, isTableEvent } from './reduce'
import { Screen } from './screen.svelte'
import { Telling } from './telling.svelte'
import { VERSION } from './wire'
import type { Act, AnyEvent, AnyMove, Message, No, Snapshot, Step, TableEvent } from './wire'

export { ActError } from './api'
export type { Banner, Flash, Toast } from './news.svelte'

/**
 * `home`: no room. `connecting`: the first time. `open`: all is well. `reconnecting`: the socket
 * is down, what is shown stays. `waiting`: the table's engine can't be reached just now.
 * `taken_over`: opened elsewhere, final. `gone`: removed, or the room is no more; `why` says it.
 */
export type Status = 'home' | 'connecting' | 'open' | 'reconnecting' | 'waiting' | 'taken_over' | 'gone'

/** The move `leave` is not waited for longer than this. */
const LEAVE_MS = 1500
const SLOW_DOWN_MS = 400
/** So many moves wait for a socket; more would only be a surprise later. */
const MOST_UNSENT = 24

export class Session extends Screen {
  status = $state<Status>('home')
  /** For `gone`, and on home after a game: what to tell, or null. */
  why = $state<string | null>(null)
  /** The lobby can’t be changed just now. */
  lobbyAway = $state(false)
  /** This player's id in the room (`LobbyPlayer.player`, `Member.player`). */
  player = $state<string | null>(null)
  /** Own cards on their way to the middle. */
  flights = $state.raw<Flight[]>([])
  /** Milliseconds to the gateway and back, the last ping's; null before the first. */
  latency = $state<number | null>(null)
  /** A room code in the page's address, for home. */
  invited = $state<string | null>(null)

  /** Host of the table when there is one, else of the lobby. */
  readonly isHost: boolean = $derived(
    this.table && this.you
      ? this.table.host === this.you.seat
      : this.lobby !== null && this.player !== null && this.lobby.host === this.player,
  )

  /** For players who look: what lands in the middle just now. */
  readonly landings = new Landings()
  /** For players who listen: what happened, in sentences. */
  readonly telling = new Telling((n) => words.told.more(n))

  #ports: SessionPorts
  #link: Link | null = null
  #token = ''
  #outbox = new Outbox()
  #asked = new Asked()
  /** A snapshot has come on this socket: moves may be sent. */
  #live = false
  #leaving: (() => void) | null = null
  /** Of where to be; the last one counts. */
  #wishes = 0
  #freshness: Freshness

  constructor(ports: SessionPorts = pagePorts()) {
    super(ports.now)
    this.#ports = ports
    this.#freshness = new Freshness(ports)
  }

  /** Shows a message for a few seconds. */
  say(text: string, kind: Toast['kind'] = 'info', colour: number | null = null): void {
    this.news.toast(text, kind, colour)
  }

  // ---- coming and going ----

  /** At the start of a page: back into the room that this tab, or its address, names. */
  begin(path: string): void {
    const code = tidyCode(/^\/r\/([^/]+)/.exec(path)?.[1] ?? '')
    this.invited = code
    const room = code ?? this.#ports.keep.here()
    const ticket = room ? this.#ports.keep.ticket(room) : null
    if (room && ticket) this.#enter({ room, ...ticket })
  }

  /** The last room this browser was in, to offer “back to room BCDFG” on home; null: none. */
  lastRoom(): string | null {
    return this.#ports.keep.lastRoom()
  }

  /** Opens a room and enters it. Throws ActError. */
  async host(name: string): Promise<void> {
    await this.#into(createRoom(this.#ports.fetch, name))
  }

  /** Enters a room by its code, as typed; comes back to the own seat when there is one. Throws ActError. */
  async join(code: string, name: string): Promise<void> {
    const room = tidyCode(code)
    if (!room) throw errorOf('no_room')
    const ticket = this.#ports.keep.ticket(room)
    await this.#into(joinRoom(this.#ports.fetch, room, name, ticket?.token ?? null))
  }

  /** A room that comes when another has been asked for, or the player went home, is not entered. */
  async #into(asked: Promise<Entry>): Promise<void> {
    const wish = ++this.#wishes
    const entry = await asked
    if (wish === this.#wishes) this.#enter(entry)
  }

  /** After `taken_over`: play here again. */
  resume(): void {
    if (this.room && this.player && this.status === 'taken_over') {
      this.#enter({ room: this.room, player: this.player, token: this.#token })
    }
  }

  /** From the lobby or the table to home. The host's leaving a table brings everyone to the lobby instead, if it is heard. */
  async leave(): Promise<void> {
    if (this.table) {
      const host = this.isHost
      const wish = ++this.#wishes
      const before = this.#leaving
      const told = new Promise<void>((resolve) => {
        this.#leaving = () => (before?.(), resolve())
        // A host waits for the lobby as long as there is a line to it.
        if (!host || !this.#live) setTimeout(resolve, LEAVE_MS)
      })
      this.move({ t: 'leave' })
      await told
      this.#leaving = null
      if (wish === this.#wishes && (this.table || !host)) this.#home(null)
    } else if (this.lobby) {
      const room = this.room
      await this.act({ t: 'leave' }).catch(() => undefined)
      if (room) this.#ports.keep.forget(room)
      this.#home(null)
    } else {
      this.#home(null)
    }
  }

  /** The network, or the page, is back. */
  wake(): void {
    this.#link?.kick()
  }

  #enter(entry: Entry): void {
    this.#link?.stop()
    this.#reset()
    this.#token = entry.token
    this.room = entry.room
    this.player = entry.player
    this.invited = null
    this.why = null
    this.status = 'connecting'
    this.#ports.keep.keepTicket(entry.room, entry)
    this.#ports.keep.setHere(entry.room)
    this.#ports.address(entry.room)
    const tab = this.#ports.keep.tab()
    const link = new Link(
      this.#ports.url,
      {
        hello: () => ({ t: 'hello', v: VERSION, token: this.#token, tab }),
        message: (message) => this.#hear(message),
        down: () => this.#down(),
        owed: () => this.#asked.waiting || this.#outbox.pending.some((p) => p.sent),
        ended: (code) => this.#ended(code),
        latency: (ms) => (this.latency = Math.round(ms)),
      },
      this.#ports,
    )
    this.#link = link
    link.start()
  }

  #home(why: string | null): void {
    this.#wishes += 1
    this.#link?.stop()
    this.#link = null
    this.#reset()
    this.#ports.keep.setHere(null)
    this.#ports.address(null)
    this.room = this.player = null
    this.why = why
    this.status = why ? 'gone' : 'home'
  }

  #reset(): void {
    this.lobby = null
    this.dropTable()
    this.#live = false
    this.latency = null
    this.#leaving = null
    this.#asked.failAll()
  }

  protected override dropTable(): void {
    super.dropTable()
    this.flights = []
    this.#outbox = new Outbox()
    this.#leaving?.()
  }

  #down(): void {
    this.#live = false
    this.#outbox.unsent()
    this.latency = null
    if (this.status !== 'connecting') this.status = 'reconnecting'
    this.#asked.failAll()
    this.#leaving?.()
  }

  #ended(code: number): void {
    if (code === 4001) {
      this.#takenOver()
      return
    }
    const room = this.room
    if (room && code !== 4004) this.#ports.keep.forget(room)
    if (this.status === 'gone') return
    this.#home(code === 4003 ? words.errors.removed : code === 4004 ? words.errors.bad_version : words.errors.bad_token)
    this.invited = code === 4002 ? room : null
  }

  #takenOver(): void {
    this.#live = false
    this.#outbox.clear()
    this.#show()
    this.status = 'taken_over'
    this.#link?.stop()
  }

  // ---- asking ----

  /** Asks the lobby for something. Resolves when it is done; throws ActError. */
  act(what: Act): Promise<void> {
    return this.#asked.ask((req) => this.#link?.send({ t: 'lobby', req, do: what }) ?? false)
  }

  /** Makes a move at the table (the game's, or deal, pause, …). Shows at once, comes back if refused. */
  move(m: AnyMove): void {
    if (!this.table || this.status === 'taken_over') return
    if (!this.#live && this.#outbox.pending.length >= MOST_UNSENT) return
    const pending = this.#outbox.add(m, this.seq, this.#ports.now())
    if (this.#live) this.#send(pending)
    this.ear?.moved(m)
    if (isGameMove(m)) this.#show()
  }

  #send(p: Pending): void {
    if (this.#link?.send({ t: 'move', id: p.id, basis: p.basis, m: p.m })) p.sent = true
  }

  // ---- hearing ----

  #hear(message: Message): void {
    switch (message.t) {
      case 'welcome':
        if (message.player) this.player = message.player
        this.lobbyAway = false
        this.#freshness.met(message.build)
        this.#renew()
        if (this.status !== 'waiting') this.status = 'open'
        return
      case 'lobby':
        this.lobby = message
        // While its frames come, the table itself says when it closes; a lobby may be a moment behind.
        if (message.table == null && this.table && !this.#live) this.dropTable()
        return
      case 'done':
        return this.#asked.answer(message.req, null)
      case 'snapshot':
        return this.#snapshot(message)
      case 'table':
      case 'seat':
        if (!this.table) return
        this.seq = message.seq
        for (const step of message.steps) this.#step(step, message.t === 'seat')
        return this.#show()
      case 'answer':
        this.#settled(message.id, message.no ?? null)
        return this.#show()
      case 'expect':
        return this.#outbox.from(message.id).forEach((p) => this.#send(p))
      case 'waiting':
        this.#live = false
        this.status = 'waiting'
        return
      case 'lobby_away':
        this.lobbyAway = message.away !== false
        return
      case 'taken_over':
        return this.#takenOver()
      case 'error':
        return this.#error(message)
      case 'no_table':
        return this.dropTable()
      case 'pong':
        return
    }
  }

  #snapshot(snapshot: Snapshot): void {
    const fresh = this.table?.table !== snapshot.table.table
    this.landings.clear()
    this.takeSnapshot(snapshot)
    this.status = 'open'
    const again = this.#outbox.rebase(snapshot.answered ?? 0, this.#ports.now(), fresh)
    this.#live = true
    again.forEach((p) => this.#send(p))
    if (this.#leaving && !again.some((p) => p.m.t === 'leave')) this.#leaving()
    this.#renew()
    this.#show()
  }

  #step(step: Step, own: boolean): void {
    const mine = step.id != null && (own ? step.by == null || step.by === this.mySeat : step.by === this.mySeat)
    for (const event of step.ev ?? []) this.takeEvent(event as AnyEvent)
    if (!this.table) return
    if (mine && step.id != null) {
      const move = this.#outbox.find(step.id)
      if (!own && move && !step.no && hasOwnPart(move.m)) this.#outbox.half(step.id)
      else this.#settled(step.id, step.no ?? null)
      if (own) this.#outbox.settleBelow(step.id)
    } else if (step.no) {
      this.news.snatched(step.no, this.table)
    }
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
    if (event.t === 'closed') this.dropTable()
    this.#renew()
  }

  #renew(): void {
    this.#freshness.renew(this.table?.phase, this.#outbox.pending.length)
  }

  #settled(id: number, no: No | null): void {
    const move = this.#outbox.settle(id)
    if (move?.m.t === 'leave') this.#leaving?.()
    if (no && this.table) this.#refused(move, no)
    this.#renew()
  }

  /** Only a race lost, a card with no pile, and a host's button say something; the rest come home quietly. */
  #refused(move: Pending | null, no: No): void {
    this.ear?.refused(no)
    if (no.code === 'snatched' && this.table) {
      this.news.snatched(no, this.table)
      const by = no.by ?? -1
      this.news.toast(words.table.snatchedBy(this.nameOf(by)), 'snatched', this.colourOf(by))
    } else if (no.code === 'no_pile') {
      this.news.toast(words.table.noPile, 'no')
    } else if (move && !isGameMove(move.m) && no.code === 'not_host') {
      this.news.toast(errorOf(no.code).message, 'error')
    } else if (move && isGameMove(move.m)) {
      this.telling.say(words.told.cameBack)
    }
  }

  #error(error: Extract<Message, { t: 'error' }>): void {
    if (error.req != null) return this.#asked.answer(error.req, errorOf(error.code, error.text))
    if (error.id != null) {
      if (error.code === 'slow_down') {
        setTimeout(() => this.#live && this.#outbox.pending.forEach((p) => this.#send(p)), SLOW_DOWN_MS)
        return
      }
      this.#outbox.drop(error.id).forEach((p) => this.#send(p))
      return this.#show()
    }
    if (error.code === 'removed' || error.code === 'no_room' || error.code === 'bad_token') {
      if (this.room) this.#ports.keep.forget(this.room)
      this.#home(errorOf(error.code, error.text).message)
    } else if (error.code === 'full') {
      this.news.toast(errorOf(error.code).message, 'error')
    } else if (error.code === 'bad_version') {
      // Its close comes next, and would lead home.
      if (this.#freshness.unspoken()) this.#link?.stop()
      else this.#home(words.errors.bad_version)
    }
  }

  // ---- showing ----

  #show(): void {
    if (!this.confirmed) {
      this.view = null
      this.flights = []
      return
    }
    const ahead = this.#outbox.pending.flatMap((p) => (isGameMove(p.m) ? [{ key: p.key, m: p.m, half: p.half }] : []))
    const shown = showAhead(this.confirmed, this.before, this.mySeat, ahead)
    this.view = shown.view
    this.flights = shown.flights
  }
}
