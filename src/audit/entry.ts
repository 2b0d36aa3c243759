// An entry of the audit: who did what, from where, and how it went.
import { jsonText, shownIn } from '../shared/json.ts'
import { SUBJECTS } from '../store/schema/json-columns.ts'
import { limits } from '../shared/limits.ts'
import type { LogRow } from '../store/log.ts'
import type { HistoryRow } from '../store/node-history.ts'
import { inTurns, type Read, type Subject } from '../store/transaction.ts'

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

/** How the actions of conductors begin. The address of such an entry is the conductor's name. */
export const BY_CONDUCTOR = 'conductor:'

/** The entry as it is written while the audit is off: the log says what was done, and not by whom. */
export const withoutActor = (entry: Entry): Entry => ({ ...entry, user: '', roles: '', address: '' })

/** What was changed, as far as it can be read. */
export const objectsIn = ({ objects }: Pick<LogRow, 'objects'>): readonly Subject[] => shownIn(objects, SUBJECTS)

export function rowOf(entry: Entry, subjects: readonly Subject[]): LogRow {
  return rowWith(entry, jsonText(merged(subjects).map(withoutHistory)))
}

/** Like `rowOf`, with turns for others when there are many subjects. */
export function* rowInTurns(entry: Entry, subjects: readonly Subject[]): Read<LogRow> {
  if (subjects.length <= limits.listItemsPerTurn) return rowOf(entry, subjects)
  const texts: string[] = []
  yield* inTurns(merged(subjects), subject => void texts.push(JSON.stringify(withoutHistory(subject))))
  return rowWith(entry, `[${texts.join()}]` as LogRow['objects'])
}

function rowWith(entry: Entry, objects: LogRow['objects']): LogRow {
  return {
    at: entry.at,
    request_id: entry.requestId,
    user_id: entry.user,
    project_id: entry.project,
    roles: entry.roles,
    address: entry.address,
    action: entry.action,
    objects,
    outcome: entry.outcome,
  }
}

function withoutHistory(subject: Subject): Subject {
  if (subject.history === undefined) return subject
  const { history: _, ...told } = subject
  return told
}

/** The lines for the history of nodes. The history of a node that is deleted goes with it. */
export function linesOf({ at, user, project, address, action }: Entry, subjects: readonly Subject[]): HistoryRow[] {
  const lines = subjects.flatMap(({ history }) => history ?? [])
  if (lines.length === 0) return []
  const isConductor = action.startsWith(BY_CONDUCTOR)
  const gone = new Set(subjects.filter(one => one.kind === 'node' && one.became === 'deleted').map(({ id }) => id))
  return lines
    .filter(({ node }) => !gone.has(node))
    .map(line => ({
      node: line.node,
      at,
      severity: line.severity ?? 'info',
      type: line.type,
      event: storable(line.event, limits.historyEventMax),
      output: line.output === undefined ? null : storable(line.output, limits.historyOutputMax),
      user_id: isConductor ? null : user || null,
      project_id: isConductor ? null : project,
      conductor: isConductor ? address || null : null,
      details: line.details ?? null,
      details_of: line.detailsOf ?? null,
    }))
}

/** The end of a text that is too long: a program's last words say why it failed. */
function storable(text: string, max: number): string {
  const plain = text.replaceAll('\0', '').toWellFormed()
  return plain.length <= max ? plain : `… ${plain.slice(2 - max).toWellFormed()}`
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
