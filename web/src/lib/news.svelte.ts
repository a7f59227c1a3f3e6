/** What is told for a moment: toasts, banners, piles that light up. Both sessions have one. */
import { words } from '../messages/words.svelte'
import type { AnyEvent, Member, No, TableView } from './wire'

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

export const TOAST_MS = 3200
export const BANNER_MS = 1600
/** So long a banner stays before another may take its place: two can come in one frame. */
export const BANNER_LEAST_MS = 900
const MOST_WAITING = 3
export const FLASH_MS = 900

export class News {
  toasts = $state.raw<Toast[]>([])
  banner = $state.raw<Banner | null>(null)
  flashes = $state.raw<Flash[]>([])
  #ids = 0
  /** The banner was not up for long yet. */
  #fresh = false
  /** The banners after it. */
  #next: string[] = []

  toast(text: string, kind: Toast['kind'] = 'info', colour: number | null = null): void {
    const id = ++this.#ids
    // The same words again replace themselves; three at a time are enough to read.
    this.toasts = [...this.toasts.filter((t) => t.text !== text), { id, kind, text, colour }].slice(-3)
    setTimeout(() => (this.toasts = this.toasts.filter((t) => t.id !== id)), TOAST_MS)
  }

  /** Says it large; right behind another it waits until that was read, unless it is `urgent`. */
  announce(text: string, urgent = false): void {
    if (!this.#fresh || urgent) {
      this.#next = []
      this.#show(text)
    } else if (this.#next.length < MOST_WAITING) {
      this.#next.push(text)
    }
  }

  #show(text: string): void {
    const id = ++this.#ids
    const mine = (): boolean => this.banner?.id === id
    this.banner = { id, text }
    this.#fresh = true
    setTimeout(() => {
      if (!mine()) return
      this.#fresh = false
      const next = this.#next.shift()
      if (next !== undefined) this.#show(next)
    }, BANNER_LEAST_MS)
    setTimeout(() => {
      if (mine()) this.banner = null
    }, BANNER_MS)
  }

  flash(pile: number, colour: number): void {
    const id = ++this.#ids
    this.flashes = [...this.flashes.filter((f) => f.pile !== pile), { id, pile, colour }]
    setTimeout(() => (this.flashes = this.flashes.filter((f) => f.id !== id)), FLASH_MS)
  }

  /** Snatched!: the pile lights up in the colour of the seat that took it. */
  snatched(no: No, table: TableView): void {
    if (no.code !== 'snatched' || no.pile == null || no.by == null) return
    this.flash(no.pile, member(table, no.by)?.colour ?? 0)
  }

  /** What an event makes the screen say. `table` is the one after it; `me`: the own seat, which needs no telling. */
  hear(event: AnyEvent, table: TableView, me: number | null): void {
    const t = words.table
    const who = (seat: number): string => member(table, seat)?.name ?? '?'
    const colour = (seat: number): number | null => member(table, seat)?.colour ?? null
    switch (event.t) {
      case 'joined':
        if (event.member.seat !== me && !event.member.bot) this.toast(t.joined(event.member.name), 'info', event.member.colour)
        break
      case 'gone':
        if (event.seat !== me) this.toast(event.gone ? t.left(who(event.seat)) : t.back(who(event.seat)), 'info', colour(event.seat))
        break
      case 'host':
        this.toast(event.seat === me ? t.youHost : t.newHost(who(event.seat)), 'info', colour(event.seat))
        break
      case 'resumed':
        if (event.by >= 0 && event.by !== me) this.toast(t.resumedBy(who(event.by)), 'info', colour(event.by))
        break
      case 'setup':
        if (event.notice === 'host_left') this.announce(t.hostLeft, true)
        break
      case 'closed':
        if (event.why !== 'host_left') this.toast(words.errors.no_table)
        else if (table.host !== me) this.announce(t.hostLeft, true)
        break
      case 'live':
      case 'hand_ended':
        this.announce(t.go, true)
        break
      case 'all_stuck':
        if (event.stuck) this.announce(t.allStuck)
        break
      case 'snatch_turn':
        this.announce(t.pilesTurn)
        break
    }
  }
}

const member = (table: TableView, seat: number): Member | undefined => table.members.find((m) => m.seat === seat)
