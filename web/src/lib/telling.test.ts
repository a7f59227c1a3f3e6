import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Twin, hand, ME, RIVAL } from '../testing/twin'
import { speech } from '../messages/words.svelte'
import { Telling, OTHERS_MS, OWN_MS } from './telling.svelte'

const texts = (telling: Telling): string[] => telling.lines.map((line) => line.text)

describe('what is told to those who listen', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const telling = () => new Telling((n) => `and ${n} more`)
  const rival = (text: string, about: string) => ({ text, about, own: false })

  test('the two parts of an own move are one sentence, told at once', () => {
    const one = telling()
    one.hear({ text: 'Middle: 5 of hearts', own: true, about: '' })
    one.hear({ text: 'Snatch pile: 8 of clubs, 4 left', own: true, about: '' })
    vi.advanceTimersByTime(OWN_MS)
    expect(texts(one)).toEqual(['Middle: 5 of hearts. Snatch pile: 8 of clubs, 4 left'])
  })

  test('others’ doings are gathered, the newest of each pile, and never more than can be heard', () => {
    const one = telling()
    one.hear(rival('Bo: 2 of hearts', 'pile 1'))
    one.hear(rival('Cy: ace of clubs', 'pile 2'))
    one.hear(rival('Bo: 3 of hearts', 'pile 1'))
    expect(texts(one)).toEqual([])
    vi.advanceTimersByTime(OTHERS_MS)
    expect(texts(one)).toEqual(['Cy: ace of clubs. Bo: 3 of hearts'])
    for (let n = 0; n < 7; n++) one.hear(rival(`Bo: ${n}`, `pile ${n}`))
    vi.advanceTimersByTime(OTHERS_MS)
    expect(texts(one).at(-1)).toBe('Bo: 3. Bo: 4. Bo: 5. Bo: 6. and 3 more')
  })

  test('of a place that was left nothing more is told', () => {
    const one = telling()
    one.hear(rival('Bo: 2 of hearts', 'pile 1'))
    one.hear({ text: 'Turned: 2 of clubs', own: true, about: '' })
    one.hush()
    vi.advanceTimersByTime(OTHERS_MS)
    expect(texts(one)).toEqual([])
  })
})

describe('a player who listens hears', () => {
  let twin: Twin
  const told = (): string[] => {
    vi.advanceTimersByTime(OTHERS_MS)
    return texts(twin.session.telling)
  }
  beforeEach(() => {
    vi.useFakeTimers()
    twin = new Twin()
    twin.begin()
    twin.connect()
  })
  afterEach(() => void vi.useRealTimers())

  test('whose card went to the middle, and who has few left', () => {
    twin.table([{ t: 'placed', seat: RIVAL, card: '5h', pile: 1, src: 'snatch', left: 8 }], { by: RIVAL })
    twin.table([{ t: 'left', seat: RIVAL, left: 3 }], { by: RIVAL })
    expect(told()).toEqual(['Bo: 5 of hearts. Bo: 3 cards left'])
  })

  test('the own card land, and what lies under it', () => {
    twin.session.move({ t: 'middle', card: '5h', src: 'work', work: 2 })
    twin.table([{ t: 'placed', seat: ME, card: '5h', pile: 1, src: 'work', left: 5 }], { by: ME, id: 1 })
    twin.seat([{ t: 'your_placed', card: '5h', src: 'work', work: 2 }], { by: ME, id: 1 })
    expect(told()).toEqual(['Middle: 5 of hearts. Work pile 3: empty'])
  })

  test('it in the language of the screen', () => {
    speech.choose('de')
    twin.table([{ t: 'placed', seat: RIVAL, card: '5h', pile: 1, src: 'snatch', left: 8 }], { by: RIVAL })
    expect(told()).toEqual(['Bo: Herz 5'])
    speech.choose('en')
  })

  test('where an own run went', () => {
    twin.seat([{ t: 'worked', cards: ['6h'], src: 'snatch', to: 1, snatch: 'Tc' }], { by: ME })
    expect(told()).toEqual(['6 of hearts onto 7 of spades. Snatch pile: 10 of clubs, 5 left'])
    twin.seat([{ t: 'worked', cards: ['7s', '6h'], src: 'work', work: 1, to: 3 }], { by: ME })
    expect(told().at(-1)).toBe('2 cards from 7 of spades to an empty pile. Work pile 2: empty')
  })

  test('what the stock gives, and that it is over', () => {
    twin.seat([{ t: 'turned', card: '2c' }], { by: ME })
    expect(told()).toEqual(['Turned: 2 of clubs'])
    twin.seat([{ t: 'turned_over' }], { by: ME })
    expect(told().at(-1)).toBe('Turned pile back over. Stock: 2 cards')
    twin.seat([{ t: 'undone', mine: hand().mine! }], { by: ME })
    expect(told().at(-1)).toBe('Taken back')
  })

  test('that a card came home quietly', () => {
    twin.session.move({ t: 'turn' })
    twin.seat([], { by: ME, id: 1, no: { code: 'stale' } })
    expect(told()).toEqual(['The card came back'])
  })

  test('who paused, and that it goes on', () => {
    twin.table([{ t: 'paused', by: RIVAL }], { by: RIVAL })
    twin.table([{ t: 'resumed', by: ME }], { by: ME })
    expect(told()).toEqual(['Paused by Bo', 'The game goes on'])
  })
})
