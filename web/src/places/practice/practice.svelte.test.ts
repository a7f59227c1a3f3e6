import { describe, expect, test } from 'vitest'
import type { Lobby, Phase } from '../../lib/wire'
import { memory, snapshot, Twin } from '../../testing/twin'
import { Practice } from './practice.svelte'

class Practised {
  readonly twin = new Twin()
  readonly store = memory()
  readonly practice = new Practice(this.twin.session, this.store)

  constructor() {
    // Instead of the HTTP call: the room is there, and this page has its ticket.
    this.twin.session.host = () => {
      this.twin.begin()
      return Promise.resolve()
    }
  }

  /** Lets what was said be heard, as the page does with every change, and what waits for it be asked. */
  async settle(): Promise<void> {
    for (let i = 0; i < 12; i++) {
      this.practice.look()
      await Promise.resolve()
    }
  }

  async opened(): Promise<void> {
    void this.practice.begin('')
    await this.settle()
    this.twin.open()
    this.twin.socket.say({ t: 'lobby', room: 'BCDFG', rev: 1, host: 'p0', players: [] } satisfies Lobby)
    await this.settle()
  }

  /** The last wish to the lobby. */
  asked(): Record<string, unknown> | undefined {
    return this.twin.socket.sent.filter((message) => message['t'] === 'lobby').at(-1)
  }

  /** Says yes to what was asked last. */
  async done(): Promise<unknown> {
    const asked = this.asked()
    this.twin.socket.say({ t: 'done', req: asked?.['req'] })
    await this.settle()
    return asked?.['do']
  }

  async table(phase: Phase, others: string[] = []): Promise<void> {
    const said = snapshot(10)
    const [me] = said.table.members
    const bot = { seat: 1, player: 'b1', name: 'Ada', colour: 1, bot: 'easy' as const, playing: true, present: true }
    const people = others.map((name, i) => ({ ...bot, seat: i + 2, player: name, name, bot: null }))
    this.twin.socket.say({ ...said, table: { ...said.table, phase, members: [me, bot, ...people] } })
    await this.settle()
  }
}

describe('a practice deal', () => {
  test('opens a room with an easy bot, and deals once the player is ready', async () => {
    const it = new Practised()
    await it.opened()
    expect(it.practice.stage).toBe('welcome')
    expect(await it.done()).toEqual({ t: 'add_bot', level: 'easy' })
    expect(await it.done()).toEqual({ t: 'start', game: 'snatch_solitaire' })
    await it.table('setup')
    expect(it.twin.socket.moves()).toEqual([])
    it.practice.ready()
    await it.settle()
    expect(it.twin.socket.moves()).toEqual([[1, { t: 'deal' }]])
    await it.table('countdown')
    expect(it.practice.stage).toBe('off')
    expect(it.practice.on).toBe(true)
  })

  test('has no hints any more when somebody comes to play', async () => {
    const it = new Practised()
    await it.opened()
    await it.table('setup', ['Bo'])
    expect(it.practice.on).toBe(false)
  })

  test('goes on after a reload of the page', async () => {
    const it = new Practised()
    await it.opened()
    const again = new Practice(it.twin.session, it.store)
    expect(again.on).toBe(true)
  })

  test('says on the first page why there is none', async () => {
    const twin = new Twin()
    const practice = new Practice(twin.session, memory())
    await practice.begin('Ann')
    expect(practice.problem).toMatch(/connection/i)
    expect(practice.stage).toBe('off')
  })

  test('leaves what a refused wish left: the room, to be put right there', async () => {
    const it = new Practised()
    await it.opened()
    const asked = it.asked()
    it.twin.socket.say({ t: 'error', code: 'slow_down', text: '', req: asked?.['req'] })
    await it.settle()
    expect(it.practice.stage).toBe('off')
    expect(it.twin.session.toasts).toHaveLength(1)
  })

  test('that was given up while its room was being opened takes nobody out of a room that they went to meanwhile', async () => {
    const it = new Practised()
    let opened = (): void => undefined
    it.twin.session.host = () => new Promise((resolve) => (opened = resolve))
    void it.practice.begin('Ann')
    await it.practice.leave()
    it.twin.begin()
    opened()
    await it.settle()
    expect(it.twin.session.room).toBe('BCDFG')
    expect([it.practice.stage, it.practice.on]).toEqual(['off', false])
  })

  test('leads back to the invitation that it was begun at', async () => {
    const it = new Practised()
    it.twin.session.invited = 'ZZZZZ'
    await it.opened()
    expect(it.twin.session.invited).toBeNull()
    const left = it.practice.leave()
    await it.settle()
    await it.done()
    await left
    expect(it.twin.session.room).toBeNull()
    expect(it.twin.session.invited).toBe('ZZZZZ')
  })

  test('is over once friends are asked: the room is like any other', async () => {
    const it = new Practised()
    await it.opened()
    await it.table('standings')
    expect(it.practice.on).toBe(true)
    it.practice.invite()
    expect(it.practice.on).toBe(false)
    expect(it.twin.socket.moves().at(-1)?.[1]).toEqual({ t: 'leave' })
  })
})
