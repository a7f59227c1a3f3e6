/** What a player's session needs of its page. Tests give twins. */
import type { Fetch } from './api'
import { Keep, storeOr } from './keep'
import { browserPorts, type LinkPorts } from './link'

export interface SessionPorts extends LinkPorts {
  fetch: Fetch
  keep: Keep
  /** Of the page: `ws://host/ws`. */
  url: string
  /** Put the room into the address bar, or take it out. */
  address(room: string | null): void
  /** Load the page anew: the servers are newer than it. */
  reload(): void
}

export function pagePorts(): SessionPorts {
  return {
    ...browserPorts,
    fetch: (url, init) => fetch(url, init),
    keep: new Keep(
      storeOr(() => localStorage),
      storeOr(() => sessionStorage),
    ),
    url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`,
    address: (room) => history.replaceState(null, '', room ? `/r/${room}` : '/'),
    reload: () => location.reload(),
  }
}
