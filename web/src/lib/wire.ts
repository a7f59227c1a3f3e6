/** Every type that crosses the wire, under the name that the client uses for it. */
import type { LobbyAct, TableMove } from '../generated/client_in'
import type { ServerMessage, Step, TableEvent, TableView } from '../generated/client_out'
import type { Event as GameEvent, Move as GameMove, View } from '../generated/snatch_solitaire'

export type { LobbyAct, TableMove, TvMessage, ClientMessage } from '../generated/client_in'
export type {
  Lobby,
  LobbyPlayer,
  Member,
  No,
  Outcome,
  SeatFrame,
  ServerMessage,
  Snapshot,
  Step,
  TableEvent,
  TableFrame,
  TableView,
  You,
} from '../generated/client_out'
export type {
  HandResult,
  MiddleCard,
  Mine,
  Move as GameMove,
  Event as GameEvent,
  Options,
  Pile,
  Score,
  SeatCount,
  View,
} from '../generated/snatch_solitaire'

export const VERSION = 1

export type Level = 'easy' | 'medium' | 'hard'
export type Length = 'one' | 'to25' | 'to50'
export type Phase = TableView['phase']

/** What goes in a move message's `m`. */
export type AnyMove = TableMove | GameMove
/** What comes in a step's `ev`. */
export type AnyEvent = TableEvent | GameEvent
export type AnyView = View
export type Act = LobbyAct
export type Message = ServerMessage
export type AnyStep = Step

/** A snapshot's `view` is the game's own; the schema of snapshots knows no game. */
export const asView = (view: unknown): View | null => (view ?? null) as View | null
