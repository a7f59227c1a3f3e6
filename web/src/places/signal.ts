/** How good the connection is, in bars, of what the last ping took. */

export type Bars = 0 | 1 | 2 | 3

/** Up to here a player notices nothing: own cards move at once in any case. */
const GOOD_MS = 180
/** From here on races for the middle are lost by it. */
const POOR_MS = 450

/** `null`: no answer since the socket was opened, or there is none. */
export function bars(latency: number | null): Bars {
  if (latency === null) return 0
  if (latency <= GOOD_MS) return 3
  return latency <= POOR_MS ? 2 : 1
}
