/** The player's name, remembered on this device. */

const KEY = 'snatch.name'

export function rememberedName(): string {
  try {
    return localStorage.getItem(KEY) ?? ''
  } catch {
    return '' // storage is off: nothing is remembered
  }
}

export function rememberName(name: string): void {
  try {
    localStorage.setItem(KEY, name.trim().slice(0, 16))
  } catch {
    // storage is off
  }
}
