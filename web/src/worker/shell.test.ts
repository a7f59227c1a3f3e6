import { describe, expect, test } from 'vitest'
import { concern, file, OFFLINE, page, type ShellPorts } from './shell'

const HERE = 'http://snatch.test'
const FILES = [OFFLINE, '/assets/offline-abc.js']
const get = (path: string, mode = 'no-cors') => ({ mode, method: 'GET', url: HERE + path })
const said = async (answer: Promise<Response>): Promise<string> => (await answer).text()

/** A browser that keeps the offline page, and a network that answers so, or (null) not at all. */
function ports(network: Response | null, kept = true): ShellPorts {
  return {
    network: () => (network ? Promise.resolve(network) : Promise.reject(new TypeError('offline'))),
    kept: (path) => Promise.resolve(kept ? new Response(`kept ${path}`) : undefined),
  }
}

describe('the service worker', () => {
  test('answers for pages, and for the files of the offline page, and for nothing else', () => {
    const what = (path: string, mode?: string) => concern(get(path, mode), HERE, FILES)
    expect(what('/r/BCDFG', 'navigate')).toBe('page')
    expect(what('/assets/offline-abc.js')).toBe('file')
    expect([what('/assets/index-abc.js'), what('/config.json'), what('/api/rooms'), what(OFFLINE)]).toEqual([null, null, null, null])
    expect(concern({ ...get('/api/rooms'), method: 'POST' }, HERE, FILES)).toBeNull()
    expect(concern({ ...get('/'), url: 'http://elsewhere.test/assets/offline-abc.js' }, HERE, FILES)).toBeNull()
  })

  test('shows what the server says, whatever it keeps itself: no older client after a release', async () => {
    expect(await said(page(ports(new Response('the new release'))))).toBe('the new release')
    expect(await said(page(ports(new Response('not built', { status: 503 }))))).toBe('not built')
  })

  test('shows the offline page when nobody answers, or only a proxy does', async () => {
    expect(await said(page(ports(null)))).toBe(`kept ${OFFLINE}`)
    expect(await said(page(ports(new Response('bad gateway', { status: 502 }))))).toBe(`kept ${OFFLINE}`)
  })

  test('has nothing to show where the browser threw its pages away', async () => {
    expect((await page(ports(null, false))).type).toBe('error')
    expect(await said(page(ports(new Response('bad gateway', { status: 502 }), false)))).toBe('bad gateway')
  })

  test('takes the offline page’s files from what it keeps, else from the network', async () => {
    expect(await said(file('/assets/offline-abc.js', ports(null)))).toBe('kept /assets/offline-abc.js')
    expect(await said(file('/assets/offline-abc.js', ports(new Response('fetched'), false)))).toBe('fetched')
  })
})
