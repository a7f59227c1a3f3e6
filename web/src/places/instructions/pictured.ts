/** A table that nobody plays at, for pictures of the real one: what it shows is made up, and no move changes it. */
import { Session } from '../../lib/session.svelte'
import type { View } from '../../lib/wire'
import { words } from '../../messages/words.svelte'

const LEFT = [9, 4, 11]

const view = (): View => ({
  hand: 1,
  seats: LEFT.map((left, seat) => ({ seat, left, total: 0 })),
  middle: [
    { id: 1, top: [{ card: '3h', seat: 0 }, { card: '4h', seat: 1 }] },
    { id: 2, top: [{ card: 'Ac', seat: 0 }] },
    { id: 3, top: [{ card: '6s', seat: 2 }] },
    { id: 4, top: [{ card: '2d', seat: 1 }] },
  ],
  mine: { snatch: '5h', work: [['Kd', 'Qs', 'Jh'], ['9c', '8d'], ['7s'], ['Jc']], stock: 21, turned: ['6d', 'Tc', '8h'], undo: true },
})

export function picturedTable(): Session {
  const session = new Session()
  // A page that was taken over shows what it has, and moves nothing.
  session.status = 'taken_over'
  session.you = { seat: 0, watching: false }
  session.table = {
    table: 'pictured',
    game: 'snatch_solitaire',
    phase: 'live',
    host: 0,
    members: [words.practice.you, 'Bo', 'Eve'].map((name, seat) => ({
      seat,
      player: `pictured ${seat}`,
      name,
      colour: seat,
      playing: true,
      present: true,
    })),
    options: {},
  }
  session.view = view()
  return session
}
