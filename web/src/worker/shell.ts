/**
 * What the service worker answers, and where it keeps out of the way.
 *
 * Pages come from the network, always: nothing of the client is kept but the offline page, so that after a
 * release nobody is shown an older client. The offline page stands in where there is no answer, or only one of a
 * proxy that finds no server behind it. Its own files bear their hash in the name, and may come from here.
 */
export const OFFLINE = '/offline.html'

/** A proxy's word for “nobody there”. A 503 of ours says more than we could. */
const NOBODY = new Set([502, 504])

export interface Asked {
  readonly mode: string
  readonly method: string
  readonly url: string
}

export interface ShellPorts {
  /** From the network; begun already, where the browser could. */
  network(): Promise<Response>
  kept(path: string): Promise<Response | undefined>
}

/** Whether the worker answers: a page, or one of the offline page's `files`; null: the browser does it alone. */
export function concern(asked: Asked, origin: string, files: readonly string[]): 'page' | 'file' | null {
  if (asked.method !== 'GET') return null
  if (asked.mode === 'navigate') return 'page'
  const url = new URL(asked.url)
  return url.origin === origin && url.pathname !== OFFLINE && files.includes(url.pathname) ? 'file' : null
}

export async function page(ports: ShellPorts): Promise<Response> {
  let answer: Response | null = null
  try {
    answer = await ports.network()
    if (!NOBODY.has(answer.status)) return answer
  } catch {
    // No network, or no server.
  }
  return (await ports.kept(OFFLINE)) ?? answer ?? Response.error()
}

export async function file(path: string, ports: ShellPorts): Promise<Response> {
  return (await ports.kept(path)) ?? ports.network()
}
