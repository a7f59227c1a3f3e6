/** Who hears what happens at a table as it happens: sound and vibration do. A screen without one is silent. */
import type { AnyEvent, AnyMove, No } from './wire'

export interface Ear {
  /** An own move was made, and shows already. */
  moved(move: AnyMove): void
  /** `me`: the own seat, or null. */
  heard(event: AnyEvent, me: number | null): void
  /** An own move came back. */
  refused(no: No): void
}
