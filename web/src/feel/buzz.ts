/** What a phone does in the hand at a cue: milliseconds on, off, on. Other players' cards are not felt. */
import type { CueName } from './cues'

export const BUZZES: Partial<Record<CueName, readonly number[]>> = {
  lay: [8],
  land: [14],
  king: [14, 40, 14],
  snatched: [24, 50, 24],
  home: [24],
  tick: [10],
  go: [40],
  ended: [30, 60, 30],
  won: [30, 50, 30, 50, 60],
  stuck: [20],
}

/** Of a phone's browser; null where there is nothing that could shake. */
export function pageBuzzer(): ((pattern: readonly number[]) => void) | null {
  // Desktop browsers have the function, too, and no motor.
  if (typeof navigator.vibrate !== 'function' || navigator.maxTouchPoints === 0) return null
  return (pattern) => void navigator.vibrate([...pattern])
}
