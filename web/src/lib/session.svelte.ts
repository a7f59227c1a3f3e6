/**
 * A player's session: coming into a room and going, its lobby, and the line to it. What is shown of
 * its table, and the own moves there, are the seat's (`seat.svelte.ts`).
 *
 * Places read its fields (they are reactive) and call its actions; nothing else talks to the network.
 */
import { words } from '../messages/words.svelte'
import { createRoom, errorOf, joinRoom, tidyCode, type Entry } from './api'
import { Asked } from './asked'
import { Felt } from './felt'
import { Freshness } from './freshness'
import { Here } from './here'
import { Link } from './link'
import type { Toast } from './news.svelte'
import type { Pending } from './outbox'
import { pagePorts, type SessionPorts } from './ports'
import { Seat } from './seat.svelte'
import { VERSION } from './wire'
import type { Act, AnyMove, Message } from './wire'

export { ActError } from './api'
export type { Banner, Flash, Toast } from './news.svelte'

/**
 * `home`: no room. `connecting`: the first time. `open`: all is well. `reconnecting`: the socket
 * is down, what is shown stays. `waiting`: the table's engine can't be reached just now.
 * `taken_over`: opened elsewhere, final. `gone`: removed, or the room is no more; `why` says it.
 */
export type Status = 'home' | 'connecting' | 'open' | 'reconnecting' | 'waiting' | 'taken_over' | 'gone'

export class Session extends Seat {
  status = $state<Status>('home')
  /** For `gone`, and on home after a game: what to tell, or null. */
  why = $state<string | null>(null)
  /** The lobby can’t be changed just now. */
  lobbyAway = $state(false)
  /** This player's id in the room (`LobbyPlayer.player`, `Member.player`). */
  player = $state<string | null>(null)
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

  #ports: SessionPorts
  #link: Link | null = null
  #token = ''
  #asked = new Asked()
  /** Of where to be; the last one counts. */
  #wishes = 0
  #here: Here
  #freshness: Freshness
  #felt: Felt

  constructor(ports: SessionPorts = pagePorts()) {
    super(ports.now)
    this.#ports = ports
    this.#here = new Here(ports.keep, ports.address)
    this.#freshness = new Freshness(ports)
    this.#felt = new Felt((report) => this.#link?.send(report) ?? false, ports)
  }

  /** Shows a message for a few seconds. */
  say(text: string, kind: Toast['kind'] = 'info', colour: number | null = null): void {
    this.news.toast(text, kind, colour)
  }

  // ---- coming and going ----

  /** At the start of a page: back into the room that this tab, or its address, names. */
  begin(path: string): void {
    const { code, entry } = this.#here.at(path)
    this.invited = code
    if (entry) this.#enter(entry)
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
      // A host waits for the lobby as long as there is a line to it.
      const heard = this.farewell.heard(host && this.moves.live)
      this.move({ t: 'leave' })
      await heard
      if (wish === this.#wishes && (this.table || !host)) this.#home(null)
    } else if (this.lobby) {
      const room = this.room
      await this.act({ t: 'leave' }).catch(() => undefined)
      this.#here.forget(room)
      this.#home(null)
    } else {
      this.#home(null)
    }
  }

  /** An error of the page's scripts that nobody caught. */
  scriptFailed(): void {
    this.#felt.failed()
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
    this.#here.entered(entry)
    const tab = this.#ports.keep.tab()
    const link = new Link(
      this.#ports.url,
      {
        hello: () => ({ t: 'hello', v: VERSION, token: this.#token, tab }),
        message: (message) => this.#hear(message),
        down: () => this.#down(),
        owed: () => this.#asked.waiting || this.moves.owed,
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
    this.#here.home()
    this.room = this.player = null
    this.why = why
    this.status = why ? 'gone' : 'home'
  }

  #reset(): void {
    this.lobby = null
    this.dropTable()
    this.endedIt = false
    this.moves.hold()
    this.latency = null
    this.#felt.stop()
    this.farewell.forget()
    this.#asked.failAll()
  }

  #down(): void {
    this.moves.down()
    this.#felt.stop() // the next server may be one that doesn't ask
    this.latency = null
    if (this.status !== 'connecting') this.status = 'reconnecting'
    this.#asked.failAll()
    this.farewell.over()
  }

  #ended(code: number): void {
    if (code === 4001) {
      this.#takenOver()
      return
    }
    const room = this.room
    if (code !== 4004) this.#here.forget(room)
    if (this.status === 'gone') return
    this.#home(code === 4003 ? words.errors.removed : code === 4004 ? words.errors.bad_version : words.errors.bad_token)
    this.invited = code === 4002 ? room : null
  }

  #takenOver(): void {
    this.moves.giveUp()
    this.show()
    this.status = 'taken_over'
    this.#felt.stop()
    this.#link?.stop()
  }

  // ---- asking ----

  /** Asks the lobby for something. Resolves when it is done; throws ActError. */
  act(what: Act): Promise<void> {
    return this.#asked.ask((req) => this.#link?.send({ t: 'lobby', req, do: what }) ?? false)
  }

  /** Makes a move at the table (the game's, or deal, pause, …). Shows at once, comes back if refused. */
  move(m: AnyMove): void {
    if (this.status !== 'taken_over') this.make(m)
  }

  protected override send({ id, basis, m }: Pending): boolean {
    return this.#link?.send({ t: 'move', id, basis, m }) ?? false
  }

  protected override seen(move: Pending): void {
    this.#felt.seen(move)
  }

  protected override changed(): void {
    this.#freshness.renew(this.table?.phase, this.moves.waiting)
  }

  // ---- hearing ----

  #hear(message: Message): void {
    switch (message.t) {
      case 'welcome':
        if (message.player) this.player = message.player
        if (this.status === 'reconnecting') this.#felt.reconnected()
        this.#felt.asked(message.felt ?? 0)
        this.lobbyAway = false
        this.#freshness.met(message.build)
        this.changed()
        if (this.status !== 'waiting') this.status = 'open'
        return
      case 'lobby':
        this.lobby = message
        // While its frames come, the table itself says when it closes; a lobby may be a moment behind.
        if (message.table == null && this.table && !this.moves.live) this.dropTable()
        return
      case 'done':
        return this.#asked.answer(message.req, null)
      case 'snapshot':
        this.status = 'open'
        return this.takeSnapshot(message)
      case 'table':
      case 'seat':
        return this.takeFrame(message)
      case 'answer':
        this.moves.answered(message.id, message.no ?? null)
        return this.show()
      case 'expect':
        return this.moves.expected(message.id)
      case 'waiting':
        this.moves.hold()
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

  #error(error: Extract<Message, { t: 'error' }>): void {
    if (error.req != null) return this.#asked.answer(error.req, errorOf(error.code, error.text))
    if (error.id != null) {
      if (error.code === 'slow_down') return this.moves.slowDown()
      this.moves.thrownOut(error.id)
      return this.show()
    }
    if (error.code === 'removed' || error.code === 'no_room' || error.code === 'bad_token') {
      this.#here.forget(this.room)
      this.#home(errorOf(error.code, error.text).message)
    } else if (error.code === 'full') {
      this.news.toast(errorOf(error.code).message, 'error')
    } else if (error.code === 'bad_version') {
      // Its close comes next, and would lead home.
      if (this.#freshness.unspoken()) this.#link?.stop()
      else this.#home(words.errors.bad_version)
    }
  }
}
