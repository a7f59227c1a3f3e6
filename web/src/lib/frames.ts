/**
 * What is too much for one frame is done in several. Calls when the frame that shows the changes of
 * just now is through: in `requestAnimationFrame` itself it would be one more thing for that frame.
 */
export function afterFrame(then: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const frame = requestAnimationFrame(() => (timer = setTimeout(then, 0)))
  return () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
  }
}
