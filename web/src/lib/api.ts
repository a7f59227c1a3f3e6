/** The gateway's HTTP API: making a room and joining one. */
import { words } from '../messages/words.svelte'

/** A request that didn't work out: `code` as in docs/protocol.md, `message` fit to be shown. */
export class ActError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

/** A code's own words, else the server's text. */
export function errorOf(code: string, text = ''): ActError {
  const known = Object.entries(words.errors).find(([name]) => name === code)?.[1]
  return new ActError(code, known ?? (text || words.errors.unknown))
}

export interface Entry {
  room: string
  player: string
  token: string
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** 32 hex digits; `crypto.randomUUID` is missing on plain http. */
function requestId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('')
}

/** The gateway answers within 3 s, if only that it can't. */
const GIVE_UP_MS = 5000

/** Posts, once again if nothing came back: the same request id makes one room of two tries. */
async function post(fetch: Fetch, url: string, body: Record<string, string>): Promise<Entry> {
  const asked = JSON.stringify({ ...body, request_id: requestId() })
  const init = (): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: asked,
    // Missing in browsers of before 2022.
    signal: AbortSignal.timeout?.(GIVE_UP_MS) ?? null,
  })
  let answer: Response
  try {
    answer = await fetch(url, init())
  } catch {
    try {
      answer = await fetch(url, init())
    } catch {
      throw errorOf('offline')
    }
  }
  const data = (await answer.json().catch(() => ({}))) as Partial<Entry> & { error?: string; text?: string }
  if (!answer.ok || !data.room || !data.player || !data.token) {
    throw errorOf(data.error ?? (answer.status === 404 ? 'no_room' : 'unknown'), data.text)
  }
  return { room: data.room, player: data.player, token: data.token }
}

export const createRoom = (fetch: Fetch, name: string): Promise<Entry> => post(fetch, '/api/rooms', { name })

export const joinRoom = (fetch: Fetch, code: string, name: string, token: string | null): Promise<Entry> =>
  post(fetch, `/api/rooms/${encodeURIComponent(code)}/join`, token ? { name, token } : { name })

const ALPHABET = 'BCDFGHJKMNPQRTVWXYZ'

/** A code as typed (lower case, spaces, dashes) as a code; null when it is none. As `wire.places.tidy_code`. */
export function tidyCode(text: string): string | null {
  const code = [...text.toUpperCase()].filter((c) => !/[\s.\-]/.test(c)).join('')
  return code.length === 5 && [...code].every((c) => ALPHABET.includes(c)) ? code : null
}
