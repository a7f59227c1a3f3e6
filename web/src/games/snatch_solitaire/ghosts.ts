/** Cards that are still seen going where none of their own is drawn: back into the stock, or under the snatch pile. */
import type { View } from '../../lib/wire'
import { topOf } from './ahead'
import { BACK, type Card } from './fits'

export interface Ghost {
  /** Null: its back. */
  card: Card | null
  /** `stock`: from the turned pile, face down. `beneath`: the snatch pile has turned. */
  to: 'stock' | 'beneath'
}

/** What leaves when the view becomes another one of the same hand. */
export function leaving(before: View | null, after: View | null): Ghost | null {
  const [was, is] = [before?.mine, after?.mine]
  if (!was || !is || before?.hand !== after?.hand) return null
  const turned = topOf(was, 'turned', null)
  if (turned !== null && is.stock > was.stock && is.turned.length < was.turned.length) return { card: face(turned), to: 'stock' }
  const turns = (after?.turns ?? 0) > (before?.turns ?? 0)
  if (turns && was.snatch !== null && was.snatch !== is.snatch) return { card: face(was.snatch), to: 'beneath' }
  return null
}

const face = (card: Card): Card | null => (card === BACK ? null : card)
