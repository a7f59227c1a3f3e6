/** What there is to look at: every place under a name, and how it comes about. */
import type { Phase } from '../lib/wire'
import type { Wish } from './made_up'

export interface Place {
  /** Null: a room whose lobby is open. `home`: not even that. */
  phase?: Phase | null
  home?: true
  /** On a television. */
  tv?: true | 'ask'
  wish?: Partial<Wish>
  /** The button (its data-testid) behind which it lies. */
  behind?: string
}

const FULL = { n: 8, bots: 3, piles: 32 }

/** `cards`, `toasts` and `offline` are none; they are put together in Gallery.svelte. */
export const PLACES: Record<string, Place> = {
  home: { home: true },
  'home-again': { home: true, wish: { why: true } },
  'home-full': { home: true, wish: { full: true }, behind: 'host' },
  welcome: { home: true, behind: 'practise' },
  practice: { phase: 'live', wish: { practice: true, n: 2, bots: 1, piles: 5 } },
  lobby: { phase: null },
  'lobby-full': { phase: null, wish: FULL },
  'lobby-guest': { phase: null, wish: { host: false } },
  setup: { phase: 'setup' },
  'setup-guest': { phase: 'setup', wish: { host: false } },
  dealing: { phase: 'dealing', wish: { piles: 0 } },
  countdown: { phase: 'countdown', wish: { piles: 0 } },
  table: { phase: 'live' },
  'table-four-colours': { phase: 'live', wish: { four: true } },
  'table-full': { phase: 'live', wish: { ...FULL, long: true } },
  'table-stuck': { phase: 'live', wish: { stuck: true } },
  'table-paused': { phase: 'live', wish: { paused: true } },
  'table-away': { phase: 'live', wish: { status: 'reconnecting' } },
  watching: { phase: 'live', wish: { watching: true } },
  scores: { phase: 'scores' },
  'scores-full': { phase: 'scores', wish: { ...FULL, host: false } },
  'scores-last': { phase: 'scores', wish: { over: true } },
  standings: { phase: 'standings' },
  'standings-full': { phase: 'standings', wish: FULL },
  instructions: { home: true, behind: 'help' },
  settings: { home: true, behind: 'settings' },
  leave: { phase: 'live', behind: 'leave' },
  'taken-over': { phase: 'live', wish: { status: 'taken_over' } },
  'tv-ask': { tv: 'ask' },
  'tv-lobby': { tv: true, phase: null },
  'tv-setup': { tv: true, phase: 'setup' },
  'tv-countdown': { tv: true, phase: 'countdown', wish: { piles: 0 } },
  'tv-live': { tv: true, phase: 'live' },
  'tv-full': { tv: true, phase: 'live', wish: FULL },
  'tv-scores': { tv: true, phase: 'scores' },
  'tv-scores-full': { tv: true, phase: 'scores', wish: FULL },
  'tv-standings': { tv: true, phase: 'standings' },
}
