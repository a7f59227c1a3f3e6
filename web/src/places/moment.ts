/**
 * A hand ends under fingers that still play: what comes up below them must not be tapped by accident.
 * Also the second tap of a double tap is not for the next place's button.
 */
export const MOMENT_MS = 600

/** Made when a place shows; its answer is whether people have had time to see it. */
export function aMoment(now: () => number = () => performance.now()): () => boolean {
  const since = now()
  return () => now() - since >= MOMENT_MS
}
