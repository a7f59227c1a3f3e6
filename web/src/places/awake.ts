/** Keeps the screen from going dark while the page is shown, where the browser can. Returns what ends it. */

export function stayAwake(): () => void {
  let lock: WakeLockSentinel | null = null
  let ended = false

  async function ask(): Promise<void> {
    if (document.visibilityState !== 'visible' || !('wakeLock' in navigator) || lock?.released === false) return
    try {
      const given = await navigator.wakeLock.request('screen')
      if (ended) void given.release()
      else lock = given
    } catch {
      // Battery low, or not a secure page: the screen may sleep.
    }
  }

  document.addEventListener('visibilitychange', ask)
  void ask()
  return () => {
    ended = true
    document.removeEventListener('visibilitychange', ask)
    void lock?.release()
  }
}
