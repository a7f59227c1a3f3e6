/**
 * The catalogue in the language of the screen: every place reads `words.lobby.start`.
 *
 * It is reactive: where a place or a `$derived` reads it, another language shows at once.
 * A plain `const` in a component would keep what it read first.
 */
import { storeOr, type Store } from '../lib/keep'
import { de } from './de'
import { en, type Words } from './en'

/** Each language under its code, with its own name for itself. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof LANGUAGES

const catalogues: Record<Language, Words> = { en, de }
const KEPT = 'snatch.language'

const known = (code: string | null): code is Language => code !== null && code in LANGUAGES

/** The first of a browser's languages (`de-AT`, `en`) that there is a catalogue for, else English. */
export const firstKnown = (asked: readonly string[]): Language =>
  asked.map((tag) => tag.toLowerCase().split('-')[0] ?? '').find(known) ?? 'en'

/** The language that the screen speaks: the one chosen here before, else the browser's. */
export class Speech {
  language = $state<Language>('en')
  #store: Store | null = null

  /** At the start of a page. */
  begin(store = storeOr(() => localStorage), asked: readonly string[] = navigator.languages): void {
    this.#store = store
    const kept = store.getItem(KEPT)
    this.#speak(known(kept) ? kept : firstKnown(asked))
  }

  /** Switches, and stays so on this device. */
  choose(language: Language): void {
    this.#store?.setItem(KEPT, language)
    this.#speak(language)
  }

  #speak(language: Language): void {
    this.language = language
    if (typeof document !== 'undefined') document.documentElement.lang = language
  }
}

export const speech = new Speech()

export const words: Words = new Proxy(en, {
  get: (_, section) => catalogues[speech.language][section as keyof Words],
})
