// An entry of the audit: who did what, from where, and how it went.
import { jsonText } from '../shared/json.ts'
import type { LogRow } from '../store/log.ts'
import type { Subject } from '../store/transaction.ts'

/** done: the change is made. accepted: a conductor will make it. failed: it was tried in vain. */
export type Outcome = 'done' | 'accepted' | 'failed'

/** An entry without the changed objects, which only the transaction knows. */
export interface Entry {
  readonly at: number
  readonly requestId: string | null
  readonly user: string
  readonly project: string | null
  readonly roles: string
  readonly address: string
  readonly action: string
  readonly outcome: Outcome
}

/** The entry as it is written while the audit is off: the log says what was done, and not by whom. */
export const withoutActor = (entry: Entry): Entry => ({ ...entry, user: '', roles: '', address: '' })

export function rowOf(entry: Entry, subjects: readonly Subject[]): LogRow {
  return {
    at: entry.at,
    request_id: entry.requestId,
    user_id: entry.user,
    project_id: entry.project,
    roles: entry.roles,
    address: entry.address,
    action: entry.action,
    objects: jsonText(merged(subjects)),
    outcome: entry.outcome,
  }
}

/** One change instead of two in a row: it begins where the first began. */
function joined(earlier: Subject, later: Subject): Subject {
  const from = earlier.data?.['from']
  return {
    ...earlier,
    ...later,
    ...(earlier.before !== undefined && { before: earlier.before }),
    ...(from !== undefined && later.data && { data: { ...later.data, from } }),
  }
}

/** Lists each object once, or once for each thing that became of it: with its first `before`, and else its last values. */
function merged(subjects: readonly Subject[]): readonly Subject[] {
  if (subjects.length < 2) return subjects
  const found: Subject[] = []
  const last = new Map<string, number>()
  for (const subject of subjects) {
    const key = `${subject.kind} ${subject.id}`
    const at = last.get(key)
    const earlier = at === undefined ? undefined : found[at]!
    const isSame = subject.became === undefined || earlier?.became === undefined || earlier.became === subject.became
    if (at === undefined || !isSame) last.set(key, found.push(subject) - 1)
    else found[at] = joined(earlier!, subject)
  }
  return found
}
