/** For tests: a server's end of the socket, clocks by hand, and a session between them. */
import { Keep } from '../lib/keep'
import type { SocketLike } from '../lib/link'
import type { SessionPorts } from '../lib/ports'
import { Session } from '../lib/session.svelte'
import type { AnyEvent, GameMove, No, Snapshot, Step, View } from '../lib/wire'

export class TwinSocket implements SocketLike {
  onopen: SocketLike['onopen'] = null
  onmessage: SocketLike['onmessage'] = null
  onclose: SocketLike['onclose'] = null
  onerror: SocketLike['onerror'] = null
  readonly sent: Record<string, unknown>[] = []
  closed: number | null = null

  send(text: string): void {
    if (this.closed === null) this.sent.push(JSON.parse(text) as Record<string, unknown>)
  }
  close(code = 1000): void {
    this.closed = code
  }
  say(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) })
  }
  die(code = 1006): void {
    this.closed = code
    this.onclose?.({ code })
  }
  /** The moves that came, as `[id, move]`. */
  moves(): [number, GameMove][] {
    return this.sent.filter((m) => m['t'] === 'move').map((m) => [m['id'] as number, m['m'] as GameMove])
  }
}

export function memory(): { getItem(k: string): string | null; setItem(k: string, v: string): void; removeItem(k: string): void } {
  const map = new Map<string, string>()
  return { getItem: (k) => map.get(k) ?? null, setItem: (k, v) => void map.set(k, v), removeItem: (k) => void map.delete(k) }
}

export const ME = 0
export const RIVAL = 1

export const hand = (): View => ({
  hand: 1,
  seats: [
    { seat: ME, left: 5, total: 0 },
    { seat: RIVAL, left: 9, total: 0 },
  ],
  middle: [{ id: 1, top: [{ card: '4h', seat: RIVAL }] }],
  mine: { snatch: '6h', work: [['9d', '8s'], ['7s'], ['5h'], []], stock: 2, turned: ['Kd'] },
})

export function snapshot(seq: number, answered = 0, view: View = hand(), table = 't1'): Snapshot {
  return {
    t: 'snapshot',
    v: 1,
    room: 'BCDFG',
    now: 0,
    seq,
    table: {
      table,
      game: 'snatch_solitaire',
      phase: 'live',
      host: ME,
      members: ['Ann', 'Bo'].map((name, seat) => ({ seat, player: `p${seat}`, name, colour: seat, playing: true, present: true })),
      options: {},
    },
    view: view as unknown as Snapshot['view'],
    you: { seat: ME, watching: false },
    answered,
  }
}

/** A session and the sockets that it opened. `connect` answers the newest one's hello. */
export class Twin {
  readonly sockets: TwinSocket[] = []
  readonly keep = new Keep(memory(), memory())
  time = 0
  readonly session: Session
  n = 0
  reloads = 0
  /** The servers' build when the page was loaded. */
  build: string | null = null
  hidden = false
  seq = 10
  /** What answers HTTP calls. */
  fetch: SessionPorts['fetch'] = () => Promise.reject(new Error('no HTTP here'))

  constructor() {
    this.keep.keepTicket('BCDFG', { token: 'token', player: 'p0' })
    const ports: SessionPorts = {
      open: () => {
        const socket = new TwinSocket()
        this.sockets.push(socket)
        return socket
      },
      now: () => this.time,
      random: () => 1,
      hidden: () => this.hidden,
      painted: (then) => then(),
      fetch: (url, init) => this.fetch(url, init),
      keep: this.keep,
      url: 'ws://twin/ws',
      address: () => undefined,
      build: () => this.build,
      reload: () => (this.reloads += 1),
    }
    this.session = new Session(ports)
  }

  get socket(): TwinSocket {
    const last = this.sockets.at(-1)
    if (!last) throw new Error('no socket was opened')
    return last
  }
  begin(): void {
    this.session.begin('/r/BCDFG')
  }
  open(build = 'x', felt = 0): void {
    this.socket.onopen?.({})
    this.socket.say({ t: 'welcome', v: 1, build, player: 'p0', felt })
  }
  connect(answered = 0, view: View = hand()): void {
    this.open()
    this.socket.say(snapshot(this.seq, answered, view))
  }
  table(ev: AnyEvent[], who: { by?: number; id?: number; no?: No } = {}): void {
    this.socket.say({ t: 'table', n: ++this.n, seq: ++this.seq, steps: [{ ev, ...who }] satisfies Step[] })
  }
  seat(ev: AnyEvent[], who: { by?: number; id?: number; no?: No } = {}): void {
    this.socket.say({ t: 'seat', n: ++this.n, seq: this.seq, steps: [{ ev, ...who }] satisfies Step[] })
  }
}
