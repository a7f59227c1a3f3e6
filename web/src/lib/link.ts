/**
 * The WebSocket that always comes back: back-off with jitter, pings, dead sockets noticed.
 *
 * A socket is dead when nothing was heard for `SILENCE`; while something is owed, as the
 * answer to a move, when nothing was heard for `DOUBT_AFTER` nor within `PONG_WITHIN` of
 * a ping then. Anything heard is life. What a slow connection can't keep is lengthened
 * after each try that it made futile.
 *
 * It knows nothing of rooms or cards. What is said on it is the session's; `hello` is
 * asked for at every opening, so that it holds the newest token.
 */
import type { ServerMessage } from './wire'

/** A handler that is told less than a browser tells (methods may be narrower in their arguments). */
type Hook<E> = { hook(event: E): void }['hook']

/** The part of WebSocket that is used; tests give a twin. */
export interface SocketLike {
  onopen: Hook<unknown> | null
  onmessage: Hook<{ data: unknown }> | null
  onclose: Hook<{ code: number }> | null
  onerror: Hook<unknown> | null
  send(text: string): void
  close(code?: number): void
}

export interface LinkPorts {
  open(url: string): SocketLike
  /** Milliseconds, never going back. */
  now(): number
  /** 0 to 1. */
  random(): number
  /** The page is in the background, where timers come late and their silence proves nothing. */
  hidden(): boolean
}

export interface LinkListener {
  hello(): object
  message(message: ServerMessage): void
  /** The socket is down; another is tried. */
  down(): void
  /** Closed for good, with this WebSocket close code. */
  ended(code: number): void
  /** Something should be heard soon: a silence means something. */
  owed(): boolean
  latency(ms: number): void
}

export const FIRST_WAIT = 200
export const LONGEST_WAIT = 5000
export const PING_EVERY = 5000
/** Nothing heard for so long, pongs included: the socket is dead, whatever it says. */
export const SILENCE = 11_000
/**
 * What opening may take at first, and at most: a stopped server's kernel takes connections that nobody serves, and
 * only another connection may fall to a server that lives.
 */
export const OPEN_WITHIN = 4000
const OPEN_WITHIN_MOST = 12_000
/** The same once it is known how fast a socket opens here: so many times that, at the least so much. */
const OPEN_TIMES = 4
export const OPEN_WITHIN_LEAST = 1000
/** Nothing heard for so long though something is owed: a ping asks whether anybody is there. */
export const DOUBT_AFTER = 3000
/** What its answer may take at first, and at most. */
export const PONG_WITHIN = 2000
const PONG_WITHIN_MOST = SILENCE - DOUBT_AFTER
/** When the page comes to the front again, an answer must come this soon. */
const QUICK = 2500

/** Taken over, bad token, removed, bad hello: coming back by itself would be wrong. */
const FINAL = new Set([4001, 4002, 4003, 4004])

type Timer = ReturnType<typeof setTimeout>

export const browserPorts: LinkPorts = {
  open: (url) => new WebSocket(url),
  now: () => performance.now(),
  random: () => Math.random(),
  hidden: () => document.hidden,
}

export class Link {
  #socket: SocketLike | null = null
  #opened = false
  #running = false
  #tries = 0
  #retry: Timer | null = null
  #ping: Timer | null = null
  #deadline: Timer | null = null
  #doubt: Timer | null = null
  #doubting = false
  #heard = false
  #openWithin = OPEN_WITHIN
  #pongWithin = PONG_WITHIN

  constructor(
    readonly url: string,
    readonly listener: LinkListener,
    readonly ports: LinkPorts = browserPorts,
  ) {}

  start(): void {
    if (this.#running) return
    this.#running = true
    this.#tries = 0
    this.#connect()
  }

  /** Ends it for good; nothing more is heard. */
  stop(): void {
    this.#running = false
    this.#drop(1000)
    this.#clear()
  }

  /** Sends now or not at all: false when the socket is not open. */
  send(message: object): boolean {
    if (!this.#socket || !this.#opened) return false
    this.#socket.send(JSON.stringify(message))
    if (!this.#doubting) this.#doubt ??= setTimeout(() => this.#isAnybodyThere(), DOUBT_AFTER)
    return true
  }

  /** The network is back, or the page is: don't wait for the timers. */
  kick(): void {
    if (!this.#running) return
    if (!this.#socket) {
      this.#tries = 0
      this.#connect()
    } else if (this.#opened) {
      this.#sendPing()
      this.#within(Math.max(QUICK, this.#pongWithin))
    }
  }

  #connect(): void {
    this.#clear()
    const began = this.ports.now()
    const socket = this.ports.open(this.url)
    this.#socket = socket
    this.#opened = this.#heard = this.#doubting = false
    socket.onopen = () => {
      if (socket !== this.#socket) return
      this.#opened = true
      const usual = OPEN_TIMES * (this.ports.now() - began)
      this.#openWithin = Math.min(OPEN_WITHIN_MOST, Math.max(OPEN_WITHIN_LEAST, usual))
      socket.send(JSON.stringify(this.listener.hello()))
      this.#sendPing()
      this.#nextPing()
      this.#within(SILENCE)
    }
    socket.onmessage = (event) => {
      if (socket !== this.#socket || typeof event.data !== 'string') return
      this.#within(SILENCE)
      this.#heard = true
      const message = JSON.parse(event.data) as ServerMessage
      if (message.t === 'pong') {
        this.#pong(Math.max(0, this.ports.now() - message.at))
      } else {
        // A socket that is accepted and thrown out again at once must not come back without a wait.
        if (message.t !== 'error') this.#tries = 0
        this.listener.message(message)
      }
      if (socket === this.#socket) this.#trust()
    }
    socket.onerror = () => {
      // A close follows.
    }
    socket.onclose = (event) => {
      if (socket !== this.#socket) return
      this.#socket = null
      this.#opened = false
      this.#clear()
      if (!this.#running) return
      if (FINAL.has(event.code)) {
        this.#running = false
        this.listener.ended(event.code)
        return
      }
      this.#again()
    }
    this.#within(this.#openWithin)
  }

  /** It took so long to open that the wait is over already. */
  #onceMore(): void {
    this.listener.down()
    if (this.#running && !this.#socket) this.#connect()
  }

  #again(): void {
    this.listener.down()
    if (!this.#running || this.#socket) return
    const full = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.#tries)
    this.#tries += 1
    this.#retry = setTimeout(() => this.#connect(), full * (0.5 + this.ports.random() / 2))
  }

  /** Unless something is heard within `ms`, the socket counts as dead. */
  #within(ms: number): void {
    if (this.#deadline) clearTimeout(this.#deadline)
    this.#deadline = setTimeout(() => {
      if (this.#opened && this.ports.hidden()) return this.#within(SILENCE)
      const opened = this.#opened
      if (!opened) this.#openWithin = Math.min(OPEN_WITHIN_MOST, 1.5 * this.#openWithin)
      else if (this.#doubting) this.#pongWithin = Math.min(PONG_WITHIN_MOST, 2 * this.#pongWithin)
      this.#drop(4000)
      this.#clear()
      if (!this.#running) return
      if (opened) this.#again()
      else this.#onceMore()
    }, ms)
  }

  /** Something was heard: all doubt begins anew, if there is any. */
  #trust(): void {
    if (this.#doubt) clearTimeout(this.#doubt)
    this.#doubt = this.listener.owed() ? setTimeout(() => this.#isAnybodyThere(), DOUBT_AFTER) : null
    this.#doubting = false
  }

  #isAnybodyThere(): void {
    this.#doubt = null
    if (!this.#opened || (this.#heard && !this.listener.owed())) return
    this.#doubting = true
    this.#sendPing()
    this.#within(this.#pongWithin)
  }

  #pong(ms: number): void {
    this.#pongWithin = ms <= PONG_WITHIN ? PONG_WITHIN : Math.min(PONG_WITHIN_MOST, Math.max(this.#pongWithin, 2 * ms))
    this.listener.latency(ms)
  }

  #nextPing(): void {
    this.#ping = setTimeout(() => {
      this.#sendPing()
      this.#nextPing()
    }, PING_EVERY)
  }

  #sendPing(): void {
    this.send({ t: 'ping', at: this.ports.now() })
  }

  #drop(code: number): void {
    const socket = this.#socket
    this.#socket = null
    this.#opened = false
    try {
      socket?.close(code)
    } catch {
      // It was never open.
    }
  }

  #clear(): void {
    for (const timer of [this.#retry, this.#ping, this.#deadline, this.#doubt]) if (timer) clearTimeout(timer)
    this.#retry = this.#ping = this.#deadline = this.#doubt = null
  }
}
