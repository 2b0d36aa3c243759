// Writes the answer as JSON text by joining ready parts: stringifying a thousand candidates costs five times the search.
//
// Everything written is ASCII (uuids, class, trait and suffix names), so one byte a character.
import { lowestBit, type Row, wordsFor } from './bitset.ts'
import { keepTrue } from './found.ts'
import type { Plan } from './plan.ts'
import type { SearchResult } from './search.ts'
import type { CandidateTable } from './table.ts'

export interface AnswerWords {
  /** 1.12: allocations as an object keyed by provider; a list before. */
  keyed: boolean
  /** 1.17 */
  traits: boolean
  /** 1.27: every class of a summarised provider, not only those asked for. */
  allClasses: boolean
  /** 1.29: parent and root, and the whole tree. */
  nested: boolean
  /** 1.34 */
  mappings: boolean
}

/** Candidates or summaries written between two yields, about a millisecond. */
const PARTS_A_BREATH = 500
const RESTARTS = 2
const EMPTY = Buffer.from('{"allocation_requests":[],"provider_summaries":{}}')

type Writing<T> = Generator<undefined, T, void>

/** Writes the answer in one go, right after a search: for results that a limit keeps small. */
export function answer(table: CandidateTable, result: SearchResult, words: AnswerWords): Buffer {
  const writing = write(table, result, words)
  for (;;) {
    const turn = writing.next()
    if (turn.done) return turn.value
  }
}

/**
 * Writes a long answer and yields now and then. Start it right after the search. If a provider changes meanwhile,
 * candidates that no longer hold are dropped and the writing starts again, the last time without a yield.
 */
export function* answerYielding(table: CandidateTable, result: SearchResult, words: AnswerWords): Writing<Buffer> {
  let current = result
  for (let restarts = 0; restarts < RESTARTS && current.plan !== null; restarts++) {
    const began = table.version
    const text = yield* write(table, current, words, () => table.touchVersion > began)
    if (table.touchVersion <= began) return text
    current = { ...current, count: keepTrue(table, current.plan, current, began) }
  }
  return answer(table, current, words)
}

/** Text in pieces: one long string would be copied at the end in one go, and others would wait for it. */
class Pieces {
  text = ''
  #done: Buffer[] = []
  #parts = 0

  /** True when a yield is due. */
  endPart(): boolean {
    if (++this.#parts < PARTS_A_BREATH) return false
    this.#parts = 0
    this.#done.push(Buffer.from(this.text, 'latin1'))
    this.text = ''
    return true
  }

  all(): Buffer {
    const last = Buffer.from(this.text, 'latin1')
    return this.#done.length === 0 ? last : Buffer.concat([...this.#done, last])
  }
}

function* write(table: CandidateTable, result: SearchResult, words: AnswerWords, stale = () => false): Writing<Buffer> {
  if (result.plan === null || result.count === 0) return EMPTY
  const out = new Pieces()
  out.text = '{"allocation_requests":['
  yield* writeRequests(table, result, result.plan, words, stale, out)
  if (stale()) return EMPTY
  out.text += '],"provider_summaries":{'
  yield* writeSummaries(table, rowsShown(table, result, result.plan, words), result.plan, words, stale, out)
  out.text += '}}'
  return out.all()
}

function* writeRequests(
  table: CandidateTable,
  result: SearchResult,
  plan: Plan,
  words: AnswerWords,
  stale: () => boolean,
  out: Pieces,
): Writing<void> {
  const width = plan.slots.length
  const one = onOneProvider(plan, words)
  for (let i = 0; i < result.count; i++) {
    if (i > 0) out.text += ','
    const at = i * width
    const row = result.picks[at]!
    let alone = true
    for (let slot = 1; slot < width && alone; slot++) alone = result.picks[at + slot] === row
    out.text += alone ? one(table.uuid[row]!) : spread(table, plan, result.picks, at, words)
    if (!out.endPart()) continue
    yield
    if (stale()) return
  }
}

/** The common case: one provider for everything, so only the uuid varies. */
function onOneProvider(plan: Plan, words: AnswerWords): (uuid: string) => string {
  const totals = plan.columns.map((_, column) => total(plan, column))
  const resources = plan.columns.map(({ name }, i) => `"${name}":${totals[i]}`).join()
  if (!words.keyed) {
    return uuid => `{"allocations":[{"resource_provider":{"uuid":"${uuid}"},"resources":{${resources}}}]}`
  }
  const middle = `":{"resources":{${resources}}}}`
  if (!words.mappings) return uuid => `{"allocations":{"${uuid}${middle}}`
  const suffixes = plan.groups.map(group => group.suffix)
  if (suffixes.length === 1) {
    const mapping = `${middle},"mappings":{"${suffixes[0]}":["`
    return uuid => `{"allocations":{"${uuid}${mapping}${uuid}"]}}`
  }
  return uuid =>
    `{"allocations":{"${uuid}${middle},"mappings":{${suffixes.map(suffix => `"${suffix}":["${uuid}"]`).join()}}}`
}

function total(plan: Plan, column: number): number {
  let sum = 0
  for (const slot of plan.slots) for (const need of slot.needs) if (need.column === column) sum += need.amount
  return sum
}

function spread(table: CandidateTable, plan: Plan, picks: Int32Array, at: number, words: AnswerWords): string {
  let allocations = ''
  for (let i = 0; i < plan.slots.length; i++) {
    const row = picks[at + i]!
    if (plan.slots[i]!.needs.length === 0 || givesBefore(plan, picks, at, i)) continue
    if (allocations !== '') allocations += ','
    const resources = given(plan, picks, at, i)
    allocations += words.keyed
      ? `"${table.uuid[row]}":{"resources":{${resources}}}`
      : `{"resource_provider":{"uuid":"${table.uuid[row]}"},"resources":{${resources}}}`
  }
  if (!words.keyed) return `{"allocations":[${allocations}]}`
  if (!words.mappings) return `{"allocations":{${allocations}}}`
  return `{"allocations":{${allocations}},"mappings":{${mappings(table, plan, picks, at)}}}`
}

function givesBefore(plan: Plan, picks: Int32Array, at: number, slot: number): boolean {
  for (let i = 0; i < slot; i++) if (picks[at + i] === picks[at + slot] && plan.slots[i]!.needs.length > 0) return true
  return false
}

/** What the provider of this slot gives to it and to every later slot. */
function given(plan: Plan, picks: Int32Array, at: number, slot: number): string {
  const sums = new Float64Array(plan.columns.length)
  for (let i = slot; i < plan.slots.length; i++) {
    if (picks[at + i] !== picks[at + slot]) continue
    for (const { column, amount } of plan.slots[i]!.needs) sums[column]! += amount
  }
  let out = ''
  for (let column = 0; column < sums.length; column++) {
    if (sums[column] === 0) continue
    out += `${out === '' ? '' : ','}"${plan.columns[column]!.name}":${sums[column]}`
  }
  return out
}

function mappings(table: CandidateTable, plan: Plan, picks: Int32Array, at: number): string {
  let out = ''
  for (let i = 0; i < plan.slots.length;) {
    const { group } = plan.slots[i]!
    const rows: number[] = []
    for (; i < plan.slots.length && plan.slots[i]!.group === group; i++) {
      if (!rows.includes(picks[at + i]!)) rows.push(picks[at + i]!)
    }
    out += `${out === '' ? '' : ','}"${group.suffix}":[${rows.map(row => `"${table.uuid[row]}"`).join()}]`
  }
  return out
}

function* writeSummaries(
  table: CandidateTable,
  shown: Int32Array,
  plan: Plan,
  words: AnswerWords,
  stale: () => boolean,
  out: Pieces,
): Writing<void> {
  let comma = ''
  for (let w = 0; w < shown.length; w++) {
    for (let word = shown[w]!; word !== 0; word &= word - 1) {
      out.text += comma + summary(table, (w << 5) + lowestBit(word), plan, words)
      comma = ','
      if (!out.endPart()) continue
      yield
      if (stale()) return
    }
  }
}

function rowsShown(table: CandidateTable, result: SearchResult, plan: Plan, words: AnswerWords): Int32Array {
  const width = plan.slots.length
  const shown = new Int32Array(wordsFor(table.rowsMax))
  const show = (row: Row) => {
    shown[row >>> 5]! |= 1 << (row & 31)
  }
  for (let i = 0; i < result.count * width; i++) {
    if (plan.slots[i % width]!.needs.length === 0) continue
    const row = result.picks[i]!
    const tree = words.nested ? table.treeOf[row] : null
    if (tree === null || tree === undefined) show(row)
    else if (!isShown(shown, tree.rows[0]!)) for (const member of tree.rows) show(member)
  }
  return shown
}

function isShown(shown: Int32Array, row: Row): boolean {
  return (shown[row >>> 5]! & (1 << (row & 31))) !== 0
}

function summary(table: CandidateTable, row: Row, plan: Plan, words: AnswerWords): string {
  if (words.nested && words.allClasses && words.traits)
    return (table.summaryText[row] ??= flattened(fullSummary(table, row)))
  const resources = words.allClasses ? allResources(table, row) : askedResources(row, plan)
  const traits = words.traits ? `,"traits":${table.traitSet[row]!.json}` : ''
  return `"${table.uuid[row]}":{"resources":{${resources}}${traits}${words.nested ? lineage(table, row) : ''}}`
}

function fullSummary(table: CandidateTable, row: Row): string {
  const resources = allResources(table, row)
  return `"${table.uuid[row]}":{"resources":{${resources}},"traits":${table.traitSet[row]!.json}${lineage(table, row)}}`
}

function lineage(table: CandidateTable, row: Row): string {
  const parent = table.parentRow(row)
  const root = table.uuid[table.rootRow(row)]
  return `,"parent_provider_uuid":${parent < 0 ? 'null' : `"${table.uuid[parent]}"`},"root_provider_uuid":"${root}"`
}

function allResources(table: CandidateTable, row: Row): string {
  let out = ''
  for (const index of table.classesOf[row]!) {
    const column = table.classes[index]!
    out += `${out === '' ? '' : ','}${resource(column, row, column.at(row))}`
  }
  return out
}

function askedResources(row: Row, plan: Plan): string {
  let out = ''
  for (const column of plan.columns) {
    const entry = column.at(row)
    if (entry >= 0) out += `${out === '' ? '' : ','}${resource(column, row, entry)}`
  }
  return out
}

function resource(column: Plan['columns'][number], row: Row, entry: number): string {
  const used = column.used[entry]!
  const capacity = used === 0 && column.blockedAt(row) ? 0 : column.capacity[entry]!
  // From 1e21 on a number prints with an exponent; clients expect digits.
  return `"${column.name}":{"capacity":${capacity < 1e21 ? capacity : BigInt(capacity)},"used":${used}}`
}

// The engine keeps joined text as a chain of its pieces, which would take several times the memory in the cache.
function flattened(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
