// For every picture (data URLs) what differs from the one before, as a still WebP and its place;
// nothing where nothing does.  `width`: to which they are made smaller.
async ({ pictures, width, quality }) => {
  const load = async (url) => createImageBitmap(await (await fetch(url)).blob())
  const first = await load(pictures[0])
  const height = 2 * Math.round((first.height * width) / first.width / 2)
  const canvas = (w, h) => Object.assign(document.createElement('canvas'), { width: w, height: h })
  const whole = canvas(width, height).getContext('2d', { alpha: false, willReadFrequently: true })
  whole.imageSmoothingQuality = 'high'
  const still = async (x, y, w, h) => {
    const cut = canvas(w, h)
    cut.getContext('2d', { alpha: false }).drawImage(whole.canvas, x, y, w, h, 0, 0, w, h)
    const blob = await new Promise((done) => cut.toBlob(done, 'image/webp', quality))
    const reader = new FileReader()
    await new Promise((done) => {
      reader.onload = done
      reader.readAsDataURL(blob)
    })
    return { x, y, width: w, height: h, still: reader.result.split(',')[1] }
  }
  const NEAR = 12
  let before = null
  const found = []
  for (const url of pictures) {
    whole.drawImage(await load(url), 0, 0, width, height)
    const now = whole.getImageData(0, 0, width, height).data
    let [left, top, right, bottom] = before ? [width, height, -1, -1] : [0, 0, width - 1, height - 1]
    for (let at = 0; before && at < now.length; at += 4) {
      const differs =
        Math.abs(now[at] - before[at]) + Math.abs(now[at + 1] - before[at + 1]) + Math.abs(now[at + 2] - before[at + 2])
      if (differs <= NEAR) continue
      const x = (at / 4) % width
      const y = Math.floor(at / 4 / width)
      left = Math.min(left, x)
      right = Math.max(right, x)
      top = Math.min(top, y)
      bottom = Math.max(bottom, y)
    }
    if (right < 0) {
      found.push(null)
      continue
    }
    left -= left % 2
    top -= top % 2
    found.push(await still(left, top, right - left + 1, bottom - top + 1))
    before = now
  }
  return { height, found }
}
