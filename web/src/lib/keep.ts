/** What a browser remembers: a token for each room, the last room and name; and this tab's own number. */

export interface Store {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
  /** Gone with the page. */
  readonly fleeting?: true
}

export interface Ticket {
  token: string
  player: string
}

const ROOM = (code: string): string => `snatch.room.${code}`

export class Keep {
  constructor(
    private readonly local: Store,
    private readonly tabs: Store,
  ) {}

  /** It outlives the page. */
  get lasts(): boolean {
    return !this.local.fleeting && !this.tabs.fleeting
  }

  ticket(code: string): Ticket | null {
    const text = this.local.getItem(ROOM(code))
    if (!text) return null
    try {
      const { token, player } = JSON.parse(text) as Partial<Ticket>
      return typeof token === 'string' && typeof player === 'string' ? { token, player } : null
    } catch {
      return null
    }
  }
  keepTicket(code: string, ticket: Ticket): void {
    this.local.setItem(ROOM(code), JSON.stringify(ticket))
    this.local.setItem('snatch.last', code)
  }
  forget(code: string): void {
    this.local.removeItem(ROOM(code))
    if (this.lastRoom() === code) this.local.removeItem('snatch.last')
  }
  lastRoom(): string | null {
    return this.local.getItem('snatch.last')
  }

  /** This tab's own number, 1 to 2³² − 1, the same after a reload. */
  tab(): number {
    const kept = Number(this.tabs.getItem('snatch.tab'))
    if (Number.isInteger(kept) && kept >= 1 && kept <= 0xffffffff) return kept
    const made = (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) || 1
    this.tabs.setItem('snatch.tab', String(made))
    return made
  }
  /** The room that this tab is in, to come back to it after a reload. */
  here(): string | null {
    return this.tabs.getItem('snatch.here')
  }
  setHere(code: string | null): void {
    if (code) this.tabs.setItem('snatch.here', code)
    else this.tabs.removeItem('snatch.here')
  }
  /** Why this tab was last loaded anew by itself. */
  renewedFor(): string | null {
    return this.tabs.getItem('snatch.renewed')
  }
  setRenewedFor(why: string): void {
    this.tabs.setItem('snatch.renewed', why)
  }
}

/** Storage that a private window or a setting may forbid: then it holds for this page alone. */
export function storeOr(pick: () => Store): Store {
  try {
    const store = pick()
    store.getItem('snatch.probe')
    return store
  } catch {
    const map = new Map<string, string>()
    return {
      getItem: (key) => map.get(key) ?? null,
      setItem: (key, value) => void map.set(key, value),
      removeItem: (key) => void map.delete(key),
      fleeting: true,
    }
  }
}
