/** What a player's session needs of its page. Tests give twins. */
import type { Fetch } from './api'
import { site } from './config.svelte'
import { browserFelt, type FeltPorts } from './felt'
import type { FreshnessPorts } from './freshness'
import { Keep, storeOr } from './keep'
import { browserPorts, type LinkPorts } from './link'

export interface SessionPorts extends LinkPorts, FreshnessPorts, FeltPorts {
  fetch: Fetch
  /** Of the page: `ws://host/ws`. */
  url: string
  /** Put the room into the address bar, or take it out. */
  address(room: string | null): void
}

/** What any page can tell of itself, and do to itself. */
export function pageFreshness(): FreshnessPorts {
  return {
    keep: new Keep(
      storeOr(() => localStorage),
      storeOr(() => sessionStorage),
    ),
    build: () => site.config?.build ?? null,
    reload: () => location.reload(),
  }
}

export function pagePorts(): SessionPorts {
  return {
    ...browserPorts,
    ...browserFelt,
    ...pageFreshness(),
    fetch: (url, init) => fetch(url, init),
    url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`,
    address: (room) => history.replaceState(null, '', room ? `/r/${room}` : '/'),
  }
}
