/** A hand in words: what an event did, and what lies where, for players who listen to it. */
import { cardName } from '../../cards/faces'
import type { Happened } from '../../lib/telling.svelte'
import type { GameEvent, Mine, View } from '../../lib/wire'
import { words } from '../../messages/words.svelte'
import { leftOf, topOf } from './ahead'
import type { Aim } from './aim'
import { known, type Card } from './fits'
import type { Spot } from './taps'

/** Rivals with so few cards left are worth a word. */
const FEW = 3

/** The own cards, place by place. */
export function ownSpoken(view: View, me: number): string {
  const { mine } = view
  if (!mine) return words.told.noCards
  const piles = mine.work.map((pile, i) => words.told.place(words.table.workPile(i + 1), pileSpoken(pile)))
  const stock = mine.stock === 0 && mine.turned.length === 0 ? words.table.stockDry : words.table.stock(mine.stock)
  return [snatchSpoken(mine, leftOf(view, me)), ...piles, turnedSpoken(mine), stock].join('. ')
}

/** The top of every shared pile. */
export function middleSpoken(view: View): string {
  const tops = view.middle.flatMap((pile) => pile.top.at(-1)?.card ?? [])
  return tops.length === 0 ? words.table.middleEmpty : words.told.middle(tops.map(cardName).join(', '))
}

/** Who has how many left, fewest first. */
export function countsSpoken(view: View, nameOf: (seat: number) => string): string {
  const seats = [...view.seats].sort((one, other) => one.left - other.left)
  return seats.map(({ seat, left }) => words.told.place(nameOf(seat), words.table.cardsLeft(left))).join(', ')
}

/** An own card and where it lies; `spot` null: on its way, or not to be moved. */
export function cardSpoken(card: Card | null, spot: Spot | null): string {
  const name = card === null ? words.cards.faceDown : cardName(card)
  if (spot === null || spot.at === 'stock') return name
  const place = { snatch: words.table.snatchPlace, turned: words.table.turnedPile, work: '' }[spot.at]
  return words.table.cardAt(name, spot.at === 'work' ? words.table.workPile(spot.pile + 1) : place)
}

/** A tap that could do nothing. */
export const nowhereSpoken = (cards: readonly Card[]): string =>
  cards[0] === undefined ? words.table.stockDry : words.told.nowhere(cardName(cards[0]))

/** Cards that the keyboard has lifted, and where Enter would put them. */
export function liftedSpoken(cards: readonly Card[], aim: Aim | null): string {
  if (aim === null) return nowhereSpoken(cards)
  const place = aim.work === null ? words.table.middle : words.table.workPile(aim.work + 1)
  return words.told.lifted(words.told.run(cards.length, cardName(cards[0] ?? '')), place)
}

/** Who paused: a seat, or with −1 the host's being away. */
export function pausedSpoken(by: number, me: number | null, nameOf: (seat: number) => string): string {
  if (by < 0) return words.table.pausedAway
  return by === me ? words.table.pausedYou : words.table.pausedBy(nameOf(by))
}

/** What an event did, if it is to be told. `before` and `after` are the engine's views around it. */
export function happened(
  event: GameEvent,
  before: View,
  after: View,
  me: number | null,
  nameOf: (seat: number) => string,
): Happened | null {
  const own = (...said: string[]): Happened => ({ text: said.join('. '), own: true, about: '' })
  const mine = after.mine ?? null
  switch (event.t) {
    case 'your_deal':
      return me === null ? null : own(ownSpoken(after, me))
    case 'placed': {
      const card = cardName(event.card)
      const done = event.done ? words.told.pileDone(card) : card
      if (event.seat === me) return own(words.told.middle(done))
      const text = words.told.place(nameOf(event.seat), done)
      return { text, own: false, about: `pile ${event.pile}` }
    }
    case 'left':
      if (event.seat === me || event.left > FEW || event.left >= leftOf(before, event.seat)) return null
      return { text: words.told.place(nameOf(event.seat), words.table.cardsLeft(event.left)), own: false, about: `seat ${event.seat}` }
    case 'your_placed':
      return mine && me !== null ? own(bared(mine, event.src, event.work ?? null, leftOf(after, me))) : null
    case 'worked': {
      if (!mine || me === null || event.cards[0] === undefined) return null
      const under = before.mine?.work[event.to]?.at(-1)
      const run = words.told.run(event.cards.length, cardName(event.cards[0]))
      const onto = under === undefined ? words.told.toEmpty(run) : words.told.onto(run, cardName(under))
      return own(onto, bared(mine, event.src, event.work ?? null, leftOf(after, me)))
    }
    case 'turned':
      return own(words.told.turned(cardName(event.card)))
    case 'turned_over':
      return own(words.told.turnedOver, ...(mine ? [words.table.stock(mine.stock)] : []))
    case 'undone':
      return own(words.told.undone)
    case 'your_snatch_turn':
      return mine && me !== null ? own(snatchSpoken(mine, leftOf(after, me))) : null
    default:
      return null
  }
}

/** What lies now where a card was taken from. */
function bared(mine: Mine, src: 'snatch' | 'turned' | 'work', work: number | null, left: number): string {
  if (src === 'snatch') return snatchSpoken(mine, left)
  if (src === 'turned') return turnedSpoken(mine)
  const top = topOf(mine, 'work', work)
  return words.told.place(words.table.workPile((work ?? 0) + 1), top === null ? words.told.empty : cardName(top))
}

function snatchSpoken(mine: Mine, left: number): string {
  const top = known(mine.snatch) ? cardName(mine.snatch) : left === 0 ? words.told.empty : words.cards.faceDown
  return words.told.snatch(top, left)
}

function turnedSpoken(mine: Mine): string {
  const top = mine.turned.at(-1)
  return words.told.place(words.table.turnedPile, top === undefined ? words.told.empty : known(top) ? cardName(top) : words.cards.faceDown)
}

function pileSpoken(pile: readonly string[]): string {
  const [head, top] = [pile[0], pile.at(-1)]
  if (head === undefined || top === undefined) return words.told.empty
  return pile.length === 1 ? cardName(top) : words.told.fromTo(cardName(head), cardName(top))
}
