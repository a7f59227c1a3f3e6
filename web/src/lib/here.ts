/** Which room a tab is in, as its address and its browser's stores have it. */
import { tidyCode, type Entry } from './api'
import type { Keep } from './keep'

export class Here {
  constructor(
    private readonly keep: Keep,
    /** Put the room into the address bar, or take it out. */
    private readonly address: (room: string | null) => void,
  ) {}

  /** Of a page that begins: the code in its address, and the room that it can come back into. */
  at(path: string): { code: string | null; entry: Entry | null } {
    const code = tidyCode(/^\/r\/([^/]+)/.exec(path)?.[1] ?? '')
    const room = code ?? this.keep.here()
    const ticket = room ? this.keep.ticket(room) : null
    return { code, entry: room && ticket ? { room, ...ticket } : null }
  }

  entered(entry: Entry): void {
    this.keep.keepTicket(entry.room, entry)
    this.keep.setHere(entry.room)
    this.address(entry.room)
  }

  home(): void {
    this.keep.setHere(null)
    this.address(null)
  }

  /** It can't be come back to. */
  forget(room: string | null): void {
    if (room) this.keep.forget(room)
  }
}
