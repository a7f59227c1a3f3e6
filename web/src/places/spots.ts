/** Where the piles of the middle lie on the TV: a pile never moves while others come and go. */

/** Numbers of spots that the middle is laid out for; it grows in these steps only. */
const STEPS = [8, 12, 18, 24, 32]

export class Spots {
  private at = new Map<number, number>()
  private most = 0

  /** Gives each pile its spot; a new one gets the first free. An empty middle starts afresh. */
  lay(piles: number[]): { at: ReadonlyMap<number, number>; count: number } {
    const kept = new Map<number, number>()
    for (const id of piles) {
      const spot = this.at.get(id)
      if (spot !== undefined) kept.set(id, spot)
    }
    const taken = new Set(kept.values())
    for (const id of piles) {
      if (kept.has(id)) continue
      let spot = 0
      while (taken.has(spot)) spot++
      taken.add(spot)
      kept.set(id, spot)
    }
    this.at = kept
    this.most = piles.length === 0 ? 0 : Math.max(this.most, ...taken, 0)
    return { at: kept, count: STEPS.find((step) => step > this.most) ?? this.most + 1 }
  }
}

/** The columns and the card width that fill width × height best with `count` piles of `tall` card widths each. */
export function fit(
  width: number,
  height: number,
  count: number,
  tall: number,
  gap: number,
): { columns: number; width: number } {
  let best = { columns: count, width: 0 }
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns)
    const across = width / (columns + gap * (columns + 1))
    const down = height / (rows * tall + gap * (rows + 1))
    const card = Math.floor(Math.min(across, down))
    if (card > best.width) best = { columns, width: card }
  }
  return best
}
