/** For tests: one seat's cards at the engine, with the moves of that seat decided as the kernel would; the rest of the table is not there. */
import { fitsMiddle, fitsWork } from '../games/snatch_solitaire/fits'
import type { AnyEvent, GameMove, No, View } from '../lib/wire'

const RANKS = 'A23456789TJQK'
const SUITS = 'shdc'

export interface Decided {
  shown: AnyEvent[]
  own: AnyEvent[]
  no?: No
}

const NOTHING: Decided = { shown: [], own: [] }

interface Cards {
  snatch: string[]
  work: string[][]
  stock: string[]
  turned: string[]
}

export class OwnHand {
  readonly middle: { id: number; card: string }[] = []
  #cards: Cards
  #before: Cards | null = null

  /** `snatched`: is a card for the middle refused, though it fits? */
  constructor(
    readonly seat: number,
    random: () => number,
    readonly snatched: () => boolean,
  ) {
    const deck = [...SUITS].flatMap((suit) => [...RANKS].map((rank) => rank + suit))
    for (let i = deck.length - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1))
      ;[deck[i], deck[j]] = [deck[j] ?? '', deck[i] ?? '']
    }
    this.#cards = { snatch: deck.splice(0, 13), work: deck.splice(0, 4).map((card) => [card]), stock: deck, turned: [] }
  }

  view(): View {
    const { snatch } = this.#cards
    return {
      hand: 1,
      seats: [{ seat: this.seat, left: snatch.length, total: 0 }],
      middle: this.middle.map(({ id, card }) => ({ id, top: [{ card, seat: this.seat }] })),
      mine: this.#mine(),
    }
  }

  decide(m: GameMove): Decided {
    const cards = this.#cards
    switch (m.t) {
      case 'turn': {
        const card = cards.stock.at(-1)
        if (card === undefined && cards.turned.length === 0) return { ...NOTHING, no: { code: 'not_live' } }
        this.#remember()
        if (card === undefined) {
          cards.stock = cards.turned.reverse()
          cards.turned = []
          return { shown: [], own: [{ t: 'turned_over' }] }
        }
        cards.stock.pop()
        cards.turned.push(card)
        return { shown: [], own: [{ t: 'turned', card }] }
      }
      case 'undo': {
        if (!this.#before) return { ...NOTHING, no: { code: 'no_undo' } }
        const grown = this.#before.snatch.length !== cards.snatch.length
        this.#cards = this.#before
        this.#before = null
        return { shown: grown ? [this.#left()] : [], own: [{ t: 'undone', mine: this.#mine() }] }
      }
      case 'work': {
        const from = this.#place(m.src, m.work)
        const at = m.src === 'work' ? from.indexOf(m.card) : from.at(-1) === m.card ? from.length - 1 : -1
        const to = cards.work[m.to]
        if (at < 0 || !to || to === from || !fitsWork(m.card, to.at(-1) ?? null)) return { ...NOTHING, no: { code: 'no_fit' } }
        this.#remember()
        const moved = this.#place(m.src, m.work).splice(at)
        this.#cards.work[m.to]?.push(...moved)
        const own: AnyEvent = { t: 'worked', cards: moved, src: m.src, work: m.work, to: m.to, snatch: this.#cards.snatch.at(-1) }
        return { shown: m.src === 'snatch' ? [this.#left()] : [], own: [own] }
      }
      case 'middle': {
        const from = this.#place(m.src, m.work)
        if (from.at(-1) !== m.card) return { ...NOTHING, no: { code: 'no_card' } }
        const at = this.middle.findIndex(({ card }) => fitsMiddle(m.card, card))
        if (at < 0 && !fitsMiddle(m.card, null)) return { ...NOTHING, no: { code: 'no_pile' } }
        if (this.snatched()) return { ...NOTHING, no: { code: 'snatched', by: this.seat + 1, pile: this.middle[at]?.id } }
        from.pop()
        this.#before = null
        const id = this.middle[at]?.id ?? this.middle.length + 1
        if (at < 0) this.middle.push({ id, card: m.card })
        else this.middle[at] = { id, card: m.card }
        const where = { card: m.card, src: m.src, work: m.work }
        return {
          shown: [{ t: 'placed', seat: this.seat, card: m.card, pile: id, src: m.src, left: cards.snatch.length }],
          own: [{ t: 'your_placed', ...where, snatch: cards.snatch.at(-1) }],
        }
      }
      case 'end_hand':
        return NOTHING
    }
  }

  #mine(): NonNullable<View['mine']> {
    const { snatch, work, stock, turned } = this.#cards
    return { snatch: snatch.at(-1) ?? null, work: work.map((pile) => [...pile]), stock: stock.length, turned: [...turned], undo: this.#before !== null }
  }

  #left(): AnyEvent {
    return { t: 'left', seat: this.seat, left: this.#cards.snatch.length }
  }

  #place(src: 'snatch' | 'turned' | 'work', work: number | null | undefined): string[] {
    return src === 'work' ? (this.#cards.work[work ?? -1] ?? []) : this.#cards[src]
  }

  #remember(): void {
    const { snatch, work, stock, turned } = this.#cards
    this.#before = { snatch: [...snatch], work: work.map((pile) => [...pile]), stock: [...stock], turned: [...turned] }
  }
}
