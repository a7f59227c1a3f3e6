/**
 * A deal to learn by, for a player alone: an ordinary room and table against an Easy bot,
 * opened and dealt for them, with hints while they play.
 *
 * Nothing of it is pretended: the engine deals, the bot races, friends may come in by the
 * code. So what is learned here is true, and this page needs no rules to do it.
 */
import { ActError, type Session } from '../../lib/session.svelte'
import { storeOr, type Store } from '../../lib/keep'
import { words } from '../../messages/words.svelte'

/**
 * `off`: nothing is asked of this player's table. `welcome`: what one sees first is told, while the
 * table is being opened. `opening`: it isn't there yet, though the player is ready.
 */
export type Stage = 'off' | 'welcome' | 'opening'

const ROOM = 'snatch.practice'

export class Practice {
  stage = $state<Stage>('off')
  /** Hints are wanted, in this room. */
  hints = $state(true)
  /** Why there is no practice deal; null: nothing went wrong. */
  problem = $state<string | null>(null)
  #room = $state<string | null>(null)
  #ready = $state(false)
  /** The room that the player was asked to when they began: it still is. */
  #invited: string | null = null
  #walks = 0
  #waited = $state(0)
  #waits = new Set<{ fact: () => boolean; over: (met: boolean) => void }>()

  /** This room was opened to practise in, and nobody else has come to play. */
  readonly on: boolean = $derived.by(() => {
    const { room, table, player } = this.session
    if (room === null || room !== this.#room) return false
    return !table?.members.some((m) => !m.bot && m.player !== player)
  })

  constructor(
    readonly session: Session,
    /** Of this tab: after a reload the hints go on. */
    private readonly store: Store = storeOr(() => sessionStorage),
  ) {
    this.#room = store.getItem(ROOM)
  }

  /** Opens a room, a bot and a table, and deals as soon as the player is ready. */
  async begin(name: string): Promise<void> {
    if (this.stage !== 'off') return
    this.problem = null
    this.hints = true
    this.#ready = false
    this.#invited = this.session.invited
    await this.#walk('welcome', async (step) => {
      await step(this.session.host(name.trim() || words.practice.you))
      this.#keep(this.session.room)
      await step(this.#until(() => this.session.lobby !== null))
      await step(this.session.act({ t: 'add_bot', level: 'easy' }))
      await step(this.session.act({ t: 'start', game: 'snatch_solitaire' }))
      await step(this.#until(() => this.session.table?.phase === 'setup' && this.#ready))
      await step(this.#dealt())
    })
  }

  /** The welcome was read. */
  ready(): void {
    this.#ready = true
    if (this.stage === 'welcome') this.stage = 'opening'
  }

  /** From the standings: the next deal, without the setup. */
  async again(): Promise<void> {
    if (this.stage !== 'off') return
    await this.#walk('opening', async (step) => {
      this.session.move({ t: 'new_game' })
      await step(this.#until(() => this.session.table?.phase === 'setup'))
      await step(this.#dealt())
    })
  }

  /** To the room, which is one like any other from now on. */
  invite(): void {
    this.#keep(null)
    void this.session.leave()
  }

  /** All the way home, from wherever it is. */
  async leave(): Promise<void> {
    this.#keep(null)
    await this.#walk('off', async (step) => {
      if (!this.session.table) return
      await this.session.leave()
      await step(this.#until(() => this.session.table === null && this.session.lobby !== null))
    })
    this.session.invited = this.#invited
    await this.session.leave()
  }

  /** Takes one step after the other, unless another walk has begun or the player went elsewhere. */
  async #walk(stage: Stage, steps: (step: (of: Promise<void>) => Promise<void>) => Promise<void>): Promise<void> {
    const walk = ++this.#walks
    this.stage = stage
    try {
      await steps(async (of) => {
        await of
        if (walk !== this.#walks) throw new Elsewhere()
      })
    } catch (error) {
      if (walk === this.#walks && !(error instanceof Elsewhere)) this.#failed(error)
    } finally {
      if (walk === this.#walks) this.stage = 'off'
    }
  }

  #failed(error: unknown): void {
    const why = error instanceof ActError ? error.message : String(error)
    // Without a room it is home that tells; in one the lobby is where it can be put right.
    if (this.session.room === null) this.problem = why
    else this.session.say(why, 'error')
  }

  async #dealt(): Promise<void> {
    this.session.move({ t: 'deal' })
    await this.#until(() => this.session.table !== null && this.session.table.phase !== 'setup')
  }

  #keep(room: string | null): void {
    this.#room = room
    if (room) this.store.setItem(ROOM, room)
    else this.store.removeItem(ROOM)
  }

  /** Something may have changed: is what a step waits for there? Called whenever the session changes. */
  look(): void {
    // What is waited for next is read by whoever keeps looking.
    void this.#waited
    const { status } = this.session
    const elsewhere = status === 'home' || status === 'gone' || status === 'taken_over'
    for (const wait of this.#waits) {
      const met = wait.fact()
      if (!met && !elsewhere) continue
      this.#waits.delete(wait)
      wait.over(met)
    }
  }

  /** Rejects when the player is somewhere else by then. */
  #until(fact: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waits.add({ fact, over: (met) => (met ? resolve() : reject(new Elsewhere())) })
      this.#waited += 1
      this.look()
    })
  }
}

/** The session went elsewhere: there is nothing to wait for any more. */
class Elsewhere extends Error {}
