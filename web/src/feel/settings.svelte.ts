/** What a player chose for this device, and finds again tomorrow: sound, vibration, the suits' colours. */
import { storeOr, type Store } from '../lib/keep'

const KEPT = { sound: 'snatch.sound', vibration: 'snatch.vibration', fourColours: 'snatch.four_colours' } as const
export type Setting = keyof typeof KEPT

export class Settings {
  sound = $state(true)
  vibration = $state(true)
  /** Every suit in a colour of its own. */
  fourColours = $state(false)
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

  /** The colours themselves are in look/tokens.css. */
  #paint(): void {
    if (typeof document === 'undefined') return
    if (this.fourColours) document.documentElement.dataset['suits'] = 'four'
    else delete document.documentElement.dataset['suits']
  }
}
