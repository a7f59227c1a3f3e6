/** What the gateway says of itself in /config.json: where links and QR codes lead. */

export interface Config {
  public_url: string
  watch_url: string
  build: string
}

class Site {
  config = $state.raw<Config | null>(null)

  async load(): Promise<void> {
    try {
      const answer = await fetch('/config.json')
      if (answer.ok) this.config = (await answer.json()) as Config
    } catch {
      // Links fall back on the page's own address.
    }
  }
  /** The invite link of a room. */
  joinLink(room: string): string {
    return `${(this.config?.public_url || location.origin).replace(/\/$/, '')}/r/${room}`
  }
  /** Where a TV is opened, without a code. */
  watchLink(): string {
    return (this.config?.watch_url || `${location.origin}/watch`).replace(/\/$/, '')
  }
  /** A picture of the invite link as a QR code. */
  qr(room: string): string {
    return `/qr/${room}.svg`
  }
}

export const site = new Site()
