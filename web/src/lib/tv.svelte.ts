/** The TV: what a table shows to a room full of people. It only listens. */
import type { Banner, Flash, Toast } from './session.svelte'
import type { Lobby, Member, TableView, View } from './wire'

/** `ask`: no code yet, or `why` says what was wrong with it. `lobby`: nothing is played (yet). */
export type TvStatus = 'ask' | 'connecting' | 'lobby' | 'table' | 'reconnecting' | 'waiting'

export class TvSession {
  status = $state<TvStatus>('ask')
  why = $state<string | null>(null)
  room = $state<string | null>(null)
  lobby = $state.raw<Lobby | null>(null)
  table = $state.raw<TableView | null>(null)
  view = $state.raw<View | null>(null)
  toasts = $state.raw<Toast[]>([])
  banner = $state.raw<Banner | null>(null)
  flashes = $state.raw<Flash[]>([])
  /** `performance.now()` at which the countdown ends or the standings follow, or null. */
  ends = $state<number | null>(null)

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
  watch(_code: string): void {}
  stop(): void {}
}
