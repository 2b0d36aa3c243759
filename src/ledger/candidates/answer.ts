// Writes the answer as JSON text by joining ready parts: stringifying a thousand candidates costs five times the search.
//
// Everything written is ASCII (uuids, class, trait and suffix names), so one byte a character.
import type { ProviderId } from '../../store/schema/ids.ts'
import { type Row, RowSet } from './bitset.ts'
import { type CandidateWords, onOneProvider, spread } from './candidate-text.ts'
import { truth } from './found.ts'
import type { Plan } from './plan.ts'
import type { SearchResult } from './search.ts'
import type { CandidateTable } from './table.ts'

export interface AnswerWords extends CandidateWords {
  /** 1.17 */
  traits: boolean
  /** 1.27: every class of a summarised provider, not only those asked for. */
  allClasses: boolean
  /** 1.29: parent and root, and the whole tree. */
  nested: boolean
}

/** Candidates and summaries written between two yields, about a millisecond. */
const LINES_A_BREATH = 500
/** How often parts that changed meanwhile are written again with yields between them. */
const REWRITES = 8
const EMPTY = '{"allocation_requests":[],"provider_summaries":{}}'

type Writing<T> = Generator<undefined, T, void>

/** Writes the answer in one go, right after a search: for results that a limit keeps small. */
export function answer(table: CandidateTable, result: SearchResult, words: AnswerWords): Buffer {
  const text = shortAnswer(table, result, words)
  if (text !== null) return Buffer.from(text, 'latin1')
  const writing = answerYielding(table, result, words)
  for (;;) {
    const turn = writing.next()
    if (turn.done) return turn.value.length === 1 ? turn.value[0]! : Buffer.concat(turn.value)
  }
}

/** The answer as text, right after the search; null if it is to be written in parts. Most are as short as that. */
export function shortAnswer(table: CandidateTable, result: SearchResult, words: AnswerWords): string | null {
  if (result.plan === null || result.count === 0) return EMPTY
  if (result.count > LINES_A_BREATH) return null
  const writer = new Writer(table, result, result.plan, words)
  const part = writer.part(0)
  if (part.to < result.count) return null
  const { text, summaries } = writer.textsOf(part)
  return `{"allocation_requests":[${text}],"provider_summaries":{${summaries}}}`
}

/**
 * Writes a long answer in parts and yields between them. Start it right after the search. When providers change
 * meanwhile, the parts that show them are written again, without the candidates that no longer hold: so the answer is
 * true of the table when it is given. It comes in pieces: joined, it would be copied in one go, and others would wait.
 */
export function* answerYielding(table: CandidateTable, result: SearchResult, words: AnswerWords): Writing<Buffer[]> {
  if (result.plan === null || result.count === 0) return [Buffer.from(EMPTY)]
  const writer = new Writer(table, result, result.plan, words)
  const parts = [writer.next(0)]
  for (let last = parts[0]!; last.to < result.count; parts.push((last = writer.next(last.to)))) yield
  for (let rewrites = 0; table.touchVersion > writer.began; rewrites++) {
    const stale = parts.filter(part => writer.isStale(part))
    if (stale.length === 0) break
    for (const part of stale) {
      writer.write(part)
      if (rewrites < REWRITES && parts.length > 1) yield
    }
  }
  return joined(parts)
}

/** A stretch of the candidates, with the summaries of the providers that no earlier part shows. */
interface Part {
  from: number
  to: number
  providers: Map<Row, ProviderId>
  /** The table's version when it was written. */
  version: number
  text: Buffer
  summaries: Buffer
}

const NO_TEXT = Buffer.alloc(0)

class Writer {
  /** The version that the search is true of. */
  readonly began: number
  readonly #table: CandidateTable
  readonly #result: SearchResult
  readonly #plan: Plan
  readonly #words: AnswerWords
  /** A few rows cost little, however large the table is. */
  readonly #shown = new RowSet()
  readonly #rowsMax: number
  readonly #one: (uuid: string) => string

  constructor(table: CandidateTable, result: SearchResult, plan: Plan, words: AnswerWords) {
    this.began = table.version
    this.#table = table
    this.#result = result
    this.#plan = plan
    this.#words = words
    this.#rowsMax = table.rowsMax
    this.#one = onOneProvider(plan, words)
  }

  /** The part that begins with this candidate, not yet written. */
  part(from: number): Part {
    const providers = new Map<Row, ProviderId>()
    let to = from
    while (to < this.#result.count && to - from + providers.size < LINES_A_BREATH) this.#show(to++, providers)
    return { from, to, providers, version: 0, text: NO_TEXT, summaries: NO_TEXT }
  }

  next(from: number): Part {
    const part = this.part(from)
    this.write(part)
    return part
  }

  write(part: Part): void {
    const { text, summaries } = this.textsOf(part)
    part.version = this.#table.version
    part.text = Buffer.from(text, 'latin1')
    part.summaries = Buffer.from(summaries, 'latin1')
  }

  textsOf(part: Part): { text: string; summaries: string } {
    const { began } = this
    const table = this.#table
    const { picks, anchors } = this.#result
    const width = this.#plan.slots.length
    const isTrue = table.touchVersion > began ? truth(table, this.#plan, picks, anchors, began) : () => true
    let text = ''
    for (let i = part.from; i < part.to; i++) {
      if (isTrue(i)) text += `${text === '' ? '' : ','}${this.#candidate(i * width)}`
    }
    let summaries = ''
    for (const [row, id] of part.providers) {
      // Another provider may have got the row.
      if (table.rowOfId(id) !== row) continue
      summaries += (summaries === '' ? '' : ',') + summary(table, row, this.#plan, this.#words)
    }
    return { text, summaries }
  }

  /** Whether something that the part shows has changed since it was written, apart from use. */
  isStale({ from, to, providers, version }: Part): boolean {
    const { stamp, treeOf } = this.#table
    if (this.#table.touchVersion <= version) return false
    const { picks, anchors } = this.#result
    const width = this.#plan.slots.length
    for (let i = from * width; i < to * width; i++) if (stamp[picks[i]!]! > version) return true
    for (let i = from; i < to; i++) if (treeOf[anchors[i]!]?.rows.some(row => stamp[row]! > version)) return true
    return providers.keys().some(row => stamp[row]! > version)
  }

  #candidate(at: number): string {
    const { picks } = this.#result
    const row = picks[at]!
    for (let slot = 1; slot < this.#plan.slots.length; slot++) {
      if (picks[at + slot] !== row) return spread(this.#table, this.#plan, picks, at, this.#words)
    }
    return this.#one(this.#table.uuid[row]!)
  }

  /** Adds the providers of a candidate, with their trees, unless they are shown already. */
  #show(candidate: number, into: Part['providers']): void {
    const { slots } = this.#plan
    for (let slot = 0; slot < slots.length; slot++) {
      if (slots[slot]!.needs.length === 0) continue
      const row = this.#result.picks[candidate * slots.length + slot]!
      const tree = this.#words.nested ? this.#table.treeOf[row] : null
      if (tree === null || tree === undefined || tree.rows.length === 0) this.#showRow(row, into)
      else if (!this.#shown.has(tree.rows[0]!)) for (const member of tree.rows) this.#showRow(member, into)
    }
  }

  #showRow(row: Row, into: Part['providers']): void {
    // A row that came after the search: the table has grown, and no candidate that stands has it.
    if (row >= this.#rowsMax || this.#shown.has(row)) return
    this.#shown.add(row, this.#rowsMax)
    into.set(row, this.#table.id[row]!)
  }
}

function joined(parts: readonly Part[]): Buffer[] {
  const pieces: Buffer[] = [HEAD]
  for (const { text } of parts) if (text.length > 0) pieces.push(...(pieces.length > 1 ? [COMMA, text] : [text]))
  pieces.push(MIDDLE)
  const before = pieces.length
  for (const { summaries } of parts) {
    if (summaries.length > 0) pieces.push(...(pieces.length > before ? [COMMA, summaries] : [summaries]))
  }
  pieces.push(END)
  return parts.length === 1 ? [Buffer.concat(pieces)] : pieces
}

const HEAD = Buffer.from('{"allocation_requests":[')
const MIDDLE = Buffer.from('],"provider_summaries":{')
const END = Buffer.from('}}')
const COMMA = Buffer.from(',')

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
