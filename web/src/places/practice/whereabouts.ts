/**
 * Where a thing of the table is on the screen, by what is drawn there: so a sign beside it
 * needs to know nothing of the table's layout, and is right in every one.
 */
import { spotName, type Spot } from '../../games/snatch_solitaire/taps'
import type { GameMove } from '../../lib/wire'

export interface Box {
  x: number
  y: number
  w: number
  h: number
}

/** A table's root in the page; one that is only a picture is not played at. */
export function tableIn(page: ParentNode): Element | null {
  return [...page.querySelectorAll('[data-testid="table"]')].find((node) => !node.closest('[inert]')) ?? null
}

const named = (table: Element, name: string): Element | null =>
  [...table.querySelectorAll(`[data-testid="${name}"]`)].find((node) => !inPicture(table, node)) ?? null

/** In a picture of a table that lies over this one. */
const inPicture = (table: Element, node: Element): boolean => node.closest('[data-testid="table"]') !== table

export function boxOf(node: Element | null): Box | null {
  const box = node?.getBoundingClientRect()
  return box && box.width > 0 ? { x: box.x, y: box.y, w: box.width, h: box.height } : null
}

/** A named place of the table, as web/README.md lists them: `middle`, `snatch`, `work-2`. */
export const placeBox = (table: Element, name: string): Box | null => boxOf(named(table, name))

/** The card, or the stock, that a finger would take, with all the run that comes along. */
export function spotBox(table: Element, spot: Spot): Box | null {
  const box = boxOf(spotNode(table, spot))
  const last = spot.at === 'work' ? placeBox(table, spotName(spot)) : null
  return box && last ? { ...box, h: last.y + last.h - box.y } : box
}

function spotNode(table: Element, spot: Spot): Element | null {
  const nodes = [...table.querySelectorAll(`[data-spot="${spotName(spot)}${spot.at === 'work' ? `-${spot.index}` : ''}"]`)]
  return nodes.find((node) => !inPicture(table, node)) ?? null
}

/** What the move aims at; null on the stock, which turns beside itself. */
export function targetBox(table: Element, move: GameMove, pile: number | null): Box | null {
  if (move.t === 'middle') return (pile === null ? null : placeBox(table, `pile-${pile}`)) ?? placeBox(table, 'middle')
  return move.t === 'work' ? placeBox(table, `work-${move.to}`) : null
}
