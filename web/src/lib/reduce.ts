/** What table events do to what is known of a table. Pure: gives a new TableView. */
import type { AnyEvent, GameEvent, Member, TableEvent, TableView } from './wire'

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

export function asGameEvent(event: AnyEvent): GameEvent | null {
  return isTableEvent(event) ? null : event
}

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
