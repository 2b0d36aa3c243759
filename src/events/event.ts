// An event: one object, and what became of it. An entry of the log has one for each such object.
import { objectsIn } from '../audit/entry.ts'
import type { AuditRow } from '../audit/order.ts'
import type { Subject, Whose } from '../store/transaction.ts'
import { type EventKind, eventKindOf } from './kinds.ts'

/** A place in the log: an entry, and one of its events. */
export interface Cursor {
  readonly sequence: number
  /** 0 for the first event of the entry. */
  readonly part: number
}

export interface HoldfastEvent extends Cursor {
  readonly kind: EventKind
  readonly became: string
  /** The id of the object: mostly a uuid. */
  readonly object: string
  readonly whose: Whose
  readonly at: number
  readonly by: { readonly user: string; readonly project: string | null; readonly request: string | null }
  readonly data: Readonly<Record<string, unknown>>
}

/** The place before all events. */
export const BEGINNING: Cursor = { sequence: 0, part: -1 }

/** Whether a place comes after another. */
export const isAfter = (a: Cursor, b: Cursor): boolean =>
  a.sequence > b.sequence || (a.sequence === b.sequence && a.part > b.part)

/** The place behind all events of an entry. */
export const endOf = (sequence: number): Cursor => ({ sequence, part: Number.MAX_SAFE_INTEGER })

/**
 * `184467`, and `184467.1` for the second event of that entry: the id of an event, and the cursor of a reader. One that
 * is behind the whole entry is at `184467.end`.
 */
export const textOf = ({ sequence, part }: Cursor): string =>
  part === 0 ? `${sequence}` : `${sequence}.${part === Number.MAX_SAFE_INTEGER ? 'end' : part}`

/** Null when the text is no cursor. */
export function cursorIn(text: string): Cursor | null {
  const found = /^([0-9]{1,15})(?:\.([0-9]{1,9}|end))?$/.exec(text)
  if (!found) return null
  const [sequence, part = '0'] = [Number(found[1]), found[2]]
  return part === 'end' ? endOf(sequence) : { sequence, part: Number(part) }
}

type LogRow = Pick<AuditRow, 'at' | 'user_id' | 'project_id' | 'request_id' | 'objects'>

/** The events of an entry, in order. */
export function eventsOf(sequence: number, row: LogRow): HoldfastEvent[] {
  const by = { user: row.user_id, project: row.project_id, request: row.request_id }
  const told = objectsIn(row).flatMap((subject: Subject) => {
    const kind = subject.became === undefined ? undefined : eventKindOf(subject.kind)
    return kind === undefined ? [] : [{ kind, subject }]
  })
  return told.map(({ kind, subject }, part) => ({
    sequence,
    part,
    kind,
    became: subject.became!,
    object: subject.id,
    whose: subject.whose ?? {},
    at: row.at,
    by,
    data: subject.data ?? {},
  }))
}

/** The event in the JSON format of CloudEvents 1.0. `source` names this installation. */
export function cloudEventOf(event: HoldfastEvent, source: string): object {
  const { kind, became, object, at, whose, by, data, sequence } = event
  const project = whose.project ?? whose.lessee ?? whose.owner ?? null
  return {
    specversion: '1.0',
    id: textOf(event),
    source,
    type: `holdfast.${kind}.${became}`,
    subject: `${kind}/${object}`,
    time: new Date(at).toISOString(),
    datacontenttype: 'application/json',
    sequence: String(sequence),
    ...(project !== null && { projectid: project }),
    data: { ...data, by },
  }
}
