/**
 * A player's session: the room, the lobby, the table and what is shown of it.
 *
 * Places read its fields (they are reactive) and call its actions; nothing else
 * talks to the network.
 */
import type { Act, AnyMove, Lobby, Member, TableView, View, You } from './wire'

/**
 * `home`: no room. `connecting`: the first time. `open`: all is well. `reconnecting`: the socket
 * is down, what is shown stays. `waiting`: the table's engine can't be reached just now.
 * `taken_over`: opened elsewhere, final. `gone`: removed, or the room is no more; `why` says it.
 */
export type Status = 'home' | 'connecting' | 'open' | 'reconnecting' | 'waiting' | 'taken_over' | 'gone'

/** A message to show for a few seconds. `colour`: the player's that it is about, 0 to 7. */
export interface Toast {
  id: number
  kind: 'info' | 'snatched' | 'no' | 'error'
  text: string
  colour: number | null
}

/** What the table says aloud, large: “Snatch!”, “Everyone's stuck”, “Snatch piles turn”. */
export interface Banner {
  id: number
  text: string
}

/** A pile of the middle lights up in a player's colour. `id` grows with every flash. */
export interface Flash {
  id: number
  pile: number
  colour: number
}

/** A request that didn't work out: `code` as in docs/protocol.md, `message` fit to be shown. */
export class ActError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

export class Session {
  status = $state<Status>('home')
  /** For `gone`, and on home after a game: what to tell, or null. */
  why = $state<string | null>(null)
  room = $state<string | null>(null)
  /** This player's id in the room (`LobbyPlayer.player`, `Member.player`). */
  player = $state<string | null>(null)
  lobby = $state.raw<Lobby | null>(null)
  /** Not null: the game screen is shown, in the place that `table.phase` says. */
  table = $state.raw<TableView | null>(null)
  /** What to show: confirmed by the engine, with the own moves on their way on top. */
  view = $state.raw<View | null>(null)
  you = $state.raw<You | null>(null)
  /** Milliseconds to the gateway and back, the last ping's; null before the first. */
  latency = $state<number | null>(null)
  toasts = $state.raw<Toast[]>([])
  banner = $state.raw<Banner | null>(null)
  flashes = $state.raw<Flash[]>([])
  /** `performance.now()` at which the countdown ends or the standings follow, or null. */
  ends = $state<number | null>(null)

  /** Host of the table when there is one, else of the lobby. */
  readonly isHost: boolean = $derived(
    this.table && this.you
      ? this.table.host === this.you.seat
      : this.lobby !== null && this.player !== null && this.lobby.host === this.player,
  )
  /** The own member number at the table. */
  readonly mySeat: number | null = $derived(this.you?.seat ?? null)
  /** No cards in this game: sees what the TV sees. */
  readonly watching: boolean = $derived(this.you?.watching ?? true)

  memberOf(seat: number): Member | null {
    return this.table?.members.find((m) => m.seat === seat) ?? null
  }
  nameOf(seat: number): string {
    return this.memberOf(seat)?.name ?? '?'
  }
  colourOf(seat: number): number {
    return this.memberOf(seat)?.colour ?? 0
  }

  /** The last room this browser was in, to offer “back to room BCDFG” on home; null: none. */
  lastRoom(): string | null {
    return null
  }
  /** Opens a room and enters it. Throws ActError. */
  async host(_name: string): Promise<void> {}
  /** Enters a room by its code, as typed; comes back to the own seat when there is one. Throws ActError. */
  async join(_code: string, _name: string): Promise<void> {}
  /** Asks the lobby for something. Resolves when it is done; throws ActError. */
  async act(_what: Act): Promise<void> {}
  /** Makes a move at the table (the game's, or deal, pause, …). Shows at once, comes back if refused. */
  move(_m: AnyMove): void {}
  /** From the lobby or the table to home. The host's leaving a table brings everyone to the lobby instead. */
  async leave(): Promise<void> {}
  /** After `taken_over`: play here again. */
  resume(): void {}
  say(_text: string, _kind: Toast['kind'] = 'info', _colour: number | null = null): void {}
}
