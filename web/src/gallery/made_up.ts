/** Sessions that never were, for the gallery. */

import { errorOf } from '../lib/api'
import { Session } from '../lib/session.svelte'
import { TvSession } from '../lib/tv.svelte'
import type { Lobby, Member, Mine, Phase, TableView, View } from '../lib/wire'
import { words } from '../messages/words.svelte'
import { rememberName } from '../places/name'
import type { Place } from './places'

const NAMES = ['Ann', 'Bo', 'Maximilian Weber', 'Chidi', 'Dörte', 'Eve', 'Farid', 'Grandma Josephine']
const ROOM = 'BCDFG'
const LEVELS = ['easy', 'medium', 'hard'] as const

export function members(n: number, bots: number): Member[] {
  return Array.from({ length: n }, (_, seat) => ({
    seat,
    player: `p${seat}`,
    name: seat >= n - bots ? ['Ada Bot', 'Bix Bot', 'Cog Bot'][n - 1 - seat]! : NAMES[seat % NAMES.length]!,
    colour: (seat * 3) % 8,
    bot: seat >= n - bots ? LEVELS[seat % 3]! : null,
    playing: true,
    present: seat !== 3,
    left: seat === 4,
  }))
}

export function lobby(n: number, bots: number): Lobby {
  return {
    t: 'lobby',
    room: ROOM,
    rev: 3,
    host: 'p0',
    players: members(n, bots).map(({ player, name, colour, bot, present }) => ({
      player,
      name,
      colour,
      bot: bot ?? null,
      present: present ?? false,
    })),
  }
}

const ORDER = 'A23456789TJQK'

export function view(n: number, piles: number): View {
  return {
    hand: 2,
    seats: Array.from({ length: n }, (_, seat) => ({ seat, left: piles === 0 ? 13 : (13 * (seat + 3)) % 14, total: seat * 5 })),
    middle: Array.from({ length: piles }, (_, id) => {
      const height = 1 + ((id * 7 + 2) % 12)
      const suit = 'shdc'[id % 4]!
      return {
        id: id + 1,
        top: Array.from({ length: Math.min(3, height) }, (_, k) => ({
          card: ORDER[height - Math.min(3, height) + k]! + suit,
          seat: (id + k * 2) % n,
        })),
      }
    }),
    turns: 1,
  }
}

/** Own cards that lie as they would some minutes into a hand; `long`: with the longest run there may be. */
export function mine(long: boolean): Mine {
  const run = ['Kc', 'Qd', 'Js', 'Th', '9s', '8d', '7c', '6h', '5c', '4d', '3s', '2h', 'Ac']
  return {
    snatch: '7h',
    work: [long ? run : ['Js', 'Th', '9c'], ['Qd'], ['8s', '7d', '6c', '5h'], ['Ks', 'Qh']],
    stock: 21,
    turned: ['2s', '9d', '4c'],
    undo: true,
  }
}

/** As they are dealt. */
const DEALT: Mine = { snatch: '7h', work: [['Js'], ['Qd'], ['8s'], ['2c']], stock: 35, turned: [], undo: false }

export function table(phase: Phase, n: number, bots: number, length: string): TableView {
  return {
    table: 't1',
    game: 'snatch_solitaire',
    phase,
    host: 0,
    members: members(n, bots),
    options: { length },
  }
}

export function scored(n: number): View {
  const shown = view(n, 4)
  const scores = Array.from({ length: n }, (_, seat) => ({ seat, left: Math.min(13, seat * 2), total: 4 + seat * 3 }))
  return { ...shown, result: { by: 0, scores } }
}

/** How a place should be; every field can be asked for in the page's address, too. */
export interface Wish {
  /** Members, and how many of them are bots. */
  n: number
  bots: number
  host: boolean
  length: string
  /** In the middle. */
  piles: number
  /** The game is over with this hand. */
  over: boolean
  notice: string | null
  /** Home says what happened, and knows a room to go back to. */
  why: boolean
  /** There is no room to be had. */
  full: boolean
  /** The longest run there may be. */
  long: boolean
  stuck: boolean
  paused: boolean
  watching: boolean
  /** The deal to learn by. */
  practice: boolean
  /** A colour for every suit. */
  four: boolean
  status: Session['status'] | null
}

export const USUAL: Wish = {
  n: 4,
  bots: 1,
  host: true,
  length: 'to25',
  piles: 9,
  over: false,
  notice: null,
  why: false,
  full: false,
  long: false,
  stuck: false,
  paused: false,
  watching: false,
  practice: false,
  four: false,
  status: null,
}

/** Fields are what places read; actions do nothing, or change what the gallery shows. */
export function player(place: Place, wish: Wish): Session {
  const session = new Session()
  session.host = () => (wish.full ? Promise.reject(errorOf('house_full')) : new Promise(() => undefined))
  rememberName(wish.full ? 'Ann' : '')
  // As practice.svelte.ts keeps it.
  if (wish.practice) sessionStorage.setItem('snatch.practice', ROOM)
  else sessionStorage.removeItem('snatch.practice')
  if (place.home) {
    if (wish.why) session.why = words.errors.removed
    return session
  }
  session.status = wish.status ?? 'open'
  session.latency = wish.status ? null : 42
  session.room = ROOM
  session.player = wish.host ? 'p0' : 'p1'
  session.lobby = { ...lobby(wish.n, wish.bots), notice: wish.notice }
  const phase = place.phase ?? null
  if (!phase) return session
  session.table = { ...table(phase, wish.n, wish.bots, wish.length), over: wish.over, notice: wish.notice }
  session.you = wish.watching ? { seat: 9, watching: true } : { seat: wish.host ? 0 : 1, watching: false }
  decorate(session, phase, wish)
  if (phase === 'dealing') session.view = null
  if (session.view && !wish.watching) {
    session.view = { ...session.view, mine: phase === 'countdown' ? DEALT : { ...mine(wish.long), stuck: wish.stuck } }
  }
  return session
}

export function tv(place: Place, wish: Wish): TvSession {
  const session = new TvSession()
  if (place.tv === 'ask') return session
  const phase = place.phase ?? null
  session.room = ROOM
  session.status = phase ? 'table' : 'lobby'
  session.lobby = lobby(wish.n, wish.bots)
  if (!phase) return session
  session.table = { ...table(phase, wish.n, wish.bots, wish.length), over: wish.over, notice: wish.notice }
  decorate(session, phase, wish)
  return session
}

function decorate(session: Session | TvSession, phase: Phase, wish: Wish): void {
  session.view = phase === 'scores' ? scored(wish.n) : view(wish.n, wish.piles)
  if (wish.paused && session.table) session.table = { ...session.table, paused_by: 1 }
  if (phase === 'countdown') session.ends = performance.now() + 2900
  if (phase === 'standings' && session.table) {
    const totals = Array.from({ length: wish.n }, (_, seat) => ({ seat, total: 7 + (seat >> 1) * 6 }))
    session.table = {
      ...session.table,
      outcome: {
        places: totals.map(({ seat, total }) => ({ seat, total, place: (seat & ~1) + 1 })),
        winners: wish.n > 3 ? [0, 1] : [0],
      },
    }
  }
}
