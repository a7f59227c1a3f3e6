import { afterEach, describe, expect, test } from 'vitest'
import type { Store } from '../lib/keep'
import { de } from './de'
import { en } from './en'
import { firstKnown, Speech, speech, words } from './words.svelte'

function store(kept: Record<string, string> = {}): Store & { kept: Record<string, string> } {
  return {
    kept,
    getItem: (key) => kept[key] ?? null,
    setItem: (key, value) => void (kept[key] = value),
    removeItem: (key) => void delete kept[key],
  }
}

/** Every string and function of a catalogue, under its path. */
function leaves(part: object, path = ''): [string, unknown][] {
  return Object.entries(part).flatMap(([key, value]: [string, unknown]) =>
    typeof value === 'object' && value !== null ? leaves(value, `${path}${key}.`) : [[`${path}${key}`, value]],
  )
}

describe('the language of the screen', () => {
  afterEach(() => speech.choose('en'))

  test('is the first of the browser’s that there is a catalogue for', () => {
    expect(firstKnown(['fr-FR', 'de-AT', 'en'])).toBe('de')
    expect(firstKnown(['EN-gb', 'de'])).toBe('en')
    expect(firstKnown(['fr', 'toString'])).toBe('en')
    expect(firstKnown([])).toBe('en')
  })

  test('once chosen stays, whatever the browser says', () => {
    const kept = store()
    const first = new Speech()
    first.begin(kept, ['en'])
    first.choose('de')
    const later = new Speech()
    later.begin(kept, ['en'])
    expect(later.language).toBe('de')
  })

  test('is the browser’s while what was kept is no language', () => {
    const odd = new Speech()
    odd.begin(store({ 'snatch.language': 'xx' }), ['de-DE'])
    expect(odd.language).toBe('de')
  })

  test('is the one that every word is in', () => {
    expect(words.lobby.addBot).toBe(en.lobby.addBot)
    speech.choose('de')
    expect(words.lobby.addBot).toBe(de.lobby.addBot)
    expect(words.table.snatchedBy('Bo')).toBe(de.table.snatchedBy('Bo'))
  })
})

describe('the catalogues', () => {
  test('have the same keys, strings for strings, and nothing empty', () => {
    const german = new Map(leaves(de))
    for (const [path, value] of leaves(en)) {
      expect(typeof german.get(path), path).toBe(typeof value)
      if (typeof value === 'string') expect(String(german.get(path)).trim(), path).not.toBe('')
    }
    expect([...german.keys()].sort()).toEqual(leaves(en).map(([path]) => path).sort())
  })

  test('put in what they are given', () => {
    const given = ['Ann', 'Bo']
    for (const catalogue of [en, de]) {
      for (const [path, value] of leaves(catalogue)) {
        if (typeof value !== 'function') continue
        const list = path === 'standings.share'
        const said = (list ? value(given) : value('QX7', 'ZY8')) as string
        if (list) expect(said, path).toMatch(/Ann.*Bo/)
        else expect(said.replaceAll(' ', ''), path).toContain('QX7')
      }
    }
  })
})
