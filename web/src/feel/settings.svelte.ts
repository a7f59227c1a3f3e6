/** What a player chose for this device, and finds again tomorrow: sound, vibration, the suits' colours, the keys. */
import { storeOr, type Store } from '../lib/keep'

const KEPT = { sound: 'snatch.sound', vibration: 'snatch.vibration', fourColours: 'snatch.four_colours', keys: 'snatch.keys' } as const
export type Setting = keyof typeof KEPT

export class Settings {
  sound = $state(true)
  vibration = $state(true)
  /** Every suit in a colour of its own. */
  fourColours = $state(false)
  /** Letters and digits do something, wherever the focus is. */
  keys = $state(true)
  #store: Store | null = null

  /** At the start of a page. */
  begin(store = storeOr(() => localStorage)): void {
    this.#store = store
    for (const name of Object.keys(KEPT) as Setting[]) {
      const kept = store.getItem(KEPT[name])
      if (kept === 'on' || kept === 'off') this[name] = kept === 'on'
    }
    this.#paint()
  }

  choose(name: Setting, on: boolean): void {
    this[name] = on
    this.#store?.setItem(KEPT[name], on ? 'on' : 'off')
    this.#paint()
  }

  /**
   * Whether a key may do what it does everywhere on a page. Letters and digits do only where that is wanted:
   * speech that is typed, or a hand that strays over the keys, would play with them (WCAG 2.1.4).
   */
  obeys(key: string): boolean {
    return this.keys || key === ' ' || (key.length > 1 && key !== 'Dead')
  }

  /** The colours themselves are in look/tokens.css. */
  #paint(): void {
    if (typeof document === 'undefined') return
    if (this.fourColours) document.documentElement.dataset['suits'] = 'four'
    else delete document.documentElement.dataset['suits']
  }
}
