// Lists of rows that may be large. What is to be shown is found by its keys and sizes, and its rows are read a part at a
// time: so a list takes as much memory as it shows, whatever the rows hold.
import { limits } from '../shared/limits.ts'
import type { Query } from './statement.ts'
import type { Store } from './store.ts'
import { all, type Read } from './transaction.ts'

/** A row to be read: what finds it, and about how many bytes its texts have. */
export interface Sized<Id extends number | string = number> {
  readonly id: Id
  readonly bytes: number
}

const sizeOf = ({ bytes }: Sized<number | string>): number => limits.rowBytesBesides + bytes
/** About how many bytes an answer with all of them has. */
export const bytesOf = (rows: readonly Sized<number | string>[]): number =>
  rows.reduce((sum, row) => sum + sizeOf(row), 0)

interface OnePage<Row> {
  page: Row[]
  bytes: number
  hasMore: boolean
}

/** As many of the rows as fit in a page of so many rows: at least one. */
export function onePage<Row extends Sized>(rows: readonly Row[], limit: number): OnePage<Row> {
  let bytes = 0
  let count = 0
  while (count < Math.min(limit, rows.length)) {
    const size = sizeOf(rows[count]!)
    if (bytes + size > limits.answerPageBytesMax && count > 0) break
    bytes += size
    count++
  }
  return { page: rows.slice(0, count), bytes, hasMore: rows.length > count }
}

/** How the rows of some ids are read. */
export type RowsById<Id extends number, Row extends { id: Id }> = (args: { ids: readonly Id[] }) => Query<Row>

/** A page of rows: those of a short one are read, those of a long one will be. */
export interface RowsToRead<Id extends number, Row extends { id: Id }> {
  readonly bytes: number
  readonly keys: readonly Sized<Id>[]
  readonly rows: readonly Row[] | null
}

/** Reads the rows of a short page at once. Those of a long one come with `partsOf`. */
export function* readIfShort<Id extends number, Row extends { id: Id }>(
  { page: keys, bytes }: OnePage<Sized<Id>>,
  rowsById: RowsById<Id, Row>,
): Read<RowsToRead<Id, Row>> {
  const isShort = bytes <= limits.answerPieceBytes
  return { bytes, keys, rows: isShort ? yield* readRows(keys, rowsById) : null }
}

/** The rows, a part at a time, each read when it is asked for. What was deleted meanwhile is left out. */
export function* partsOf<Id extends number, Row extends { id: Id }>(
  store: Store,
  { keys, rows }: RowsToRead<Id, Row>,
  rowsById: RowsById<Id, Row>,
): Generator<readonly Row[] | Promise<readonly Row[]>, void, void> {
  if (rows !== null) {
    yield rows
    return
  }
  for (const part of inParts(keys)) yield store.read(() => readRows(part, rowsById))
}

/** What is read at a time. */
export function* inParts<Key extends Sized<number | string>>(keys: readonly Key[]): Generator<Key[], void, void> {
  let from = 0
  while (from < keys.length) {
    let until = from
    for (let bytes = 0; until < keys.length && (until === from || bytes < limits.answerPartBytes); until++) {
      bytes += sizeOf(keys[until]!)
    }
    yield keys.slice(from, until)
    from = until
  }
}

/** In the order of the keys. */
function* readRows<Id extends number, Row extends { id: Id }>(
  keys: readonly Sized<Id>[],
  rowsById: RowsById<Id, Row>,
): Read<Row[]> {
  if (keys.length === 0) return []
  const found = yield* all(rowsById({ ids: keys.map(({ id }) => id) }))
  const rows = new Map(found.map(row => [row.id, row]))
  return keys.map(({ id }) => rows.get(id)).filter(row => row !== undefined)
}
