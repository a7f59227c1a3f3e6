/**
 * Where everything on the table lies, from its size alone: pure geometry in CSS pixels.
 *
 * Three shapes: `tall` (phones upright, tablets upright), `side` (phones on their side:
 * the middle left, the own cards right), `wide` (desktops: the own cards in one row).
 */

export interface Point {
  x: number
  y: number
}
export interface Rect extends Point {
  w: number
  h: number
}

export const RATIO = 1.4
/** A run shows this much of each covered card, in card heights; less when it is long. */
const FAN = 0.31
const PAD = 8
const STRIP = 48

export interface Layout {
  shape: 'tall' | 'side' | 'wide'
  /** An own card's width and height. */
  cw: number
  ch: number
  strip: Rect
  middle: Rect
  /** Around all own cards. */
  own: Rect
  snatch: Point
  turned: Point
  stock: Point
  work: Point[]
  /** From a work pile's first card down to where its last one must end. */
  fan: number
}

export function layout(w: number, h: number): Layout {
  if (w <= h * 0.95) return tall(w, h)
  return h < 560 ? side(w, h) : wide(w, h)
}

const clamp = (low: number, x: number, high: number): number => Math.max(low, Math.min(x, high))

function tall(w: number, h: number): Layout {
  const inner = w - 2 * PAD
  const cw = Math.floor(Math.min((inner - 18) / 4, ((h - 70) * 0.54) / 2.9 / RATIO, 150))
  const ch = Math.round(cw * RATIO)
  const fan = ch + clamp(0.75 * ch, h - STRIP - 3 * PAD - 0.36 * h - 2 * ch, 1.9 * ch)
  const step = cw + Math.min((inner - 4 * cw) / 3, cw * 0.35)
  const left = (w - (3 * step + cw)) / 2
  const bottom = h - PAD - ch
  const top = bottom - PAD - 4 - fan
  return {
    shape: 'tall',
    cw,
    ch,
    strip: { x: PAD, y: 0, w: inner, h: STRIP },
    middle: { x: PAD, y: STRIP + 4, w: inner, h: top - PAD - STRIP - 4 },
    own: { x: 0, y: top - 4, w, h: h - top + 4 },
    snatch: { x: left, y: bottom },
    turned: { x: left + 2 * step, y: bottom },
    stock: { x: left + 3 * step, y: bottom },
    work: [0, 1, 2, 3].map((i) => ({ x: left + i * step, y: top })),
    fan,
  }
}

function side(w: number, h: number): Layout {
  const cw = Math.floor(Math.min((h - 2 * PAD - 4) / 2.85 / RATIO, (w * 0.52 - 5 * PAD) / 4))
  const ch = Math.round(cw * RATIO)
  const step = cw + PAD
  const ow = 4 * step + PAD
  const left = w - ow + PAD
  const bottom = h - 4 - ch
  const fan = bottom - PAD - 4
  return {
    shape: 'side',
    cw,
    ch,
    strip: { x: PAD, y: 0, w: w - ow - PAD, h: STRIP },
    middle: { x: PAD, y: STRIP + 4, w: w - ow - PAD, h: h - STRIP - 4 - PAD },
    own: { x: w - ow, y: 0, w: ow, h },
    snatch: { x: left, y: bottom },
    turned: { x: left + 2 * step, y: bottom },
    stock: { x: left + 3 * step, y: bottom },
    work: [0, 1, 2, 3].map((i) => ({ x: left + i * step, y: 4 })),
    fan,
  }
}

function wide(w: number, h: number): Layout {
  const strip = Math.round(clamp(STRIP, h * 0.062, 72))
  const cw = Math.floor(Math.min((w - 2 * PAD) / 8.8, (h * 0.19) / RATIO, 156))
  const ch = Math.round(cw * RATIO)
  const step = cw * 1.12
  const gap = cw * 0.66
  const fan = ch * 2.15
  const all = 6 * step + cw + 2 * gap
  const left = (w - all) / 2
  const top = h - 2 * PAD - fan
  const inner = Math.min(w - 2 * PAD, Math.max(all, 1100, w * 0.76))
  const mx = (w - inner) / 2
  return {
    shape: 'wide',
    cw,
    ch,
    strip: { x: mx, y: 0, w: inner, h: strip },
    middle: { x: mx, y: strip + 6, w: inner, h: top - PAD - strip - 10 },
    own: { x: 0, y: top - 4, w, h: h - top + 4 },
    snatch: { x: left, y: top },
    turned: { x: left + 5 * step + 2 * gap, y: top },
    stock: { x: left + 6 * step + 2 * gap, y: top },
    work: [0, 1, 2, 3].map((i) => ({ x: left + (i + 1) * step + gap, y: top })),
    fan,
  }
}

/** How far down the next card of a run lies. */
export function fanStep(count: number, l: Layout): number {
  return count < 2 ? 0 : Math.min(l.ch * FAN, (l.fan - l.ch) / (count - 1))
}

/** The rectangle that drops onto this work pile count for. */
export function workRect(l: Layout, pile: number, count: number): Rect {
  const at = l.work[pile] ?? { x: 0, y: 0 }
  return { x: at.x, y: at.y, w: l.cw, h: l.ch + fanStep(count, l) * Math.max(0, count - 1) }
}

export function overlap(a: Rect, b: Rect): number {
  const w = Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x)
  const h = Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y)
  return w > 0 && h > 0 ? w * h : 0
}

// ---- the middle ----

export interface Grid {
  cw: number
  ch: number
  /** Where each slot lies, in the middle's own coordinates. */
  slots: Point[]
}

/** Room is kept for so many piles, in steps: cards must not jump about at every ace. */
const STEPS = [8, 12, 16, 20, 24, 32, 40, 48, 64]
/** The cards under a pile's top show by this much of its height. */
export const PEEK = 0.05
const GAP = 6
const INSET = 7

export function grid(count: number, width: number, height: number, most = 120): Grid {
  const w = Math.max(0, width - 2 * INSET)
  const h = Math.max(0, height - 2 * INSET)
  const want = STEPS.find((n) => n >= count) ?? count
  let best: { cw: number; cols: number; rows: number } = { cw: 0, cols: 1, rows: want }
  for (let cols = 1; cols <= want; cols++) {
    const rows = Math.ceil(want / cols)
    const cw = Math.min((w - GAP * (cols - 1)) / cols, (h - GAP * (rows - 1)) / rows / (RATIO + 2 * PEEK * RATIO), most)
    if (cw > best.cw + 0.5) best = { cw, cols, rows }
  }
  const cw = Math.max(8, Math.floor(best.cw))
  const ch = cw * RATIO
  const stepX = cw + Math.min(GAP * 3, best.cols > 1 ? (w - cw * best.cols) / (best.cols - 1) : 0)
  const tall = ch * (1 + 2 * PEEK)
  const stepY = tall + Math.min(GAP * 3, best.rows > 1 ? (h - tall * best.rows) / (best.rows - 1) : 0)
  const x0 = INSET + (w - (stepX * (best.cols - 1) + cw)) / 2
  const y0 = INSET + (h - (stepY * (best.rows - 1) + tall)) / 2 + ch * 2 * PEEK
  const slots = Array.from({ length: want }, (_, i) => ({
    x: x0 + (i % best.cols) * stepX,
    y: y0 + Math.floor(i / best.cols) * stepY,
  }))
  return { cw, ch, slots }
}

/**
 * Every pile keeps its slot for as long as it lies there; a newcomer takes the first free one.
 * The same slots are the same array, so that nothing is drawn anew for them.
 */
export function reslot(before: readonly (number | null)[], ids: readonly number[]): readonly (number | null)[] {
  if (ids.length === before.length && ids.every((id) => before.includes(id))) return before
  const slots = before.map((id) => (id !== null && ids.includes(id) ? id : null))
  for (const id of ids) {
    if (slots.includes(id)) continue
    const free = slots.indexOf(null)
    if (free < 0) slots.push(id)
    else slots[free] = id
  }
  return slots
}
