/** Whole seconds until a moment of `performance.now()`, kept up to date while a component shows them. */

export function secondsTo(ends: () => number | null): { readonly seconds: number } {
  let seconds = $state(0)
  $effect(() => {
    const end = ends()
    if (end === null) {
      seconds = 0
      return
    }
    const look = (): void => {
      seconds = Math.max(0, Math.ceil((end - performance.now()) / 1000))
    }
    look()
    const timer = setInterval(look, 50)
    return () => clearInterval(timer)
  })
  return {
    get seconds() {
      return seconds
    },
  }
}
