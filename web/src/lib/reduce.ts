/** What table events do to what is known of a table, and which messages are the table's own. Pure. */
import type { AnyEvent, AnyMove, GameMove, Member, TableEvent, TableMove, TableView } from './wire'

const TABLE_EVENTS: ReadonlySet<string> = new Set<TableEvent['t']>([
  'joined',
  'presence',
  'gone',
  'member',
  'host',
  'options',
  'seated',
  'dealing',
  'countdown',
  'live',
  'paused',
  'resumed',
  'scores',
  'standings',
  'setup',
  'closed',
])

export function isTableEvent(event: AnyEvent): event is TableEvent {
  return TABLE_EVENTS.has(event.t)
}

const TABLE_MOVES: ReadonlySet<string> = new Set<TableMove['t']>([
  'options',
  'bot_levels',
  'deal',
  'next_hand',
  'standings',
  'new_game',
  'pause',
  'resume',
  'leave',
])

export const isGameMove = (m: AnyMove): m is GameMove => !TABLE_MOVES.has(m.t)

/** It changes own cards, so that a part for the own seat follows the public one. */
export const hasOwnPart = (m: AnyMove): boolean => isGameMove(m) && m.t !== 'end_hand'

export function reduceTable(table: TableView, event: TableEvent): TableView {
  switch (event.t) {
    case 'joined':
    case 'member':
      return { ...table, members: withMember(table.members, event.member) }
    case 'presence':
      return change(table, event.seat, { present: event.present })
    case 'gone':
      return change(table, event.seat, { left: event.gone })
    case 'host':
      return { ...table, host: event.seat }
    case 'options':
      return { ...table, options: event.options }
    case 'seated':
      return {
        ...table,
        outcome: null,
        over: false,
        notice: null,
        members: table.members.map((m) => ({ ...m, playing: event.seats.includes(m.seat) })),
      }
    case 'dealing':
      return { ...table, phase: 'dealing', paused_by: null, countdown: null, over: false }
    case 'countdown':
      return { ...table, phase: 'countdown', countdown: event.ms }
    case 'live':
      return { ...table, phase: 'live', countdown: null }
    case 'paused':
      return { ...table, paused_by: event.by }
    case 'resumed':
      return { ...table, paused_by: null }
    case 'scores':
      return { ...table, phase: 'scores', over: event.over, paused_by: null }
    case 'standings':
      return { ...table, phase: 'standings', outcome: event.outcome }
    case 'setup':
      return {
        ...table,
        phase: 'setup',
        outcome: null,
        over: false,
        paused_by: null,
        countdown: null,
        notice: event.notice ?? null,
        members: table.members.map((m) => ({ ...m, playing: false })),
      }
    case 'closed':
      return { ...table, phase: 'closed' }
  }
}

function withMember(members: Member[], member: Member): Member[] {
  const at = members.findIndex((m) => m.seat === member.seat)
  return at < 0 ? [...members, member] : members.map((m, i) => (i === at ? member : m))
}

function change(table: TableView, seat: number, what: Partial<Member>): TableView {
  return { ...table, members: table.members.map((m) => (m.seat === seat ? { ...m, ...what } : m)) }
}
