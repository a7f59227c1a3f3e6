import { describe, expect, test } from 'vitest'
import css from './tokens.css?raw'

/** Colours by their names, as the styles say them. */
function colours(from: string): Map<string, string> {
  return new Map([...from.matchAll(/--([\w-]+): (#[\da-f]{6});/g)].map(([, name, value]) => [name ?? '', value ?? '']))
}
const [light = '', dark = ''] = css.split('@media (prefers-color-scheme: dark)')
const themes = { light: colours(light), dark: new Map([...colours(light), ...colours(dark)]) }

/** WCAG's relative luminance. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
function contrast(one: string, other: string): number {
  const [dim = 0, bright = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (bright + 0.05) / (dim + 0.05)
}

const FELT = ['felt', 'felt-deep', 'felt-light']
const PAPER = ['ground', 'surface', 'sunken']
/** What is written on what. */
const TEXT: [string, string[]][] = [
  ['ink', PAPER],
  ['ink-soft', PAPER],
  ['accent', ['ground', 'surface']],
  ['accent-ink', ['accent']],
  ['ink', ['accent-soft']],
  ['danger', ['surface']],
  ['surface', ['good']],
  ['felt-ink', FELT],
  ['felt-soft', FELT],
]
/** What else must be seen: edges of fields, where the focus is. */
const EDGES: [string, string[]][] = [
  ['line-strong', ['surface', 'ground']],
  ['focus', PAPER],
  ['felt-focus', FELT],
  ['gold', FELT],
]

describe.each(Object.entries(themes))('in %s', (_, theme) => {
  const of = (name: string): string => {
    const value = theme.get(name)
    if (value === undefined) throw new Error(`no colour ${name}`)
    return value
  }
  const pairs = (all: [string, string[]][]) => all.flatMap(([on, grounds]) => grounds.map((ground) => [on, ground] as const))

  test.each(pairs(TEXT))('%s is read on %s', (text, ground) => {
    expect(contrast(of(text), of(ground))).toBeGreaterThanOrEqual(4.5)
  })
  test.each(pairs(EDGES))('%s is seen on %s', (edge, ground) => {
    expect(contrast(of(edge), of(ground))).toBeGreaterThanOrEqual(3)
  })
  test.each([0, 1, 2, 3, 4, 5, 6, 7])('the shape of colour %i is seen on its back', (n) => {
    expect(contrast('#fffdf7', of(`p${n}-deep`))).toBeGreaterThanOrEqual(3)
  })
})
