// What checks see of the inside: the database itself, the copies in memory, and what machines have really done.
import type { Memory } from '../../src/process/memory.ts'
import type { Dialect } from '../../src/store/statement.ts'
import type { Read } from '../../src/store/transaction.ts'

/** A step that a machine was told to do. */
export interface Deed {
  node: string
  /** The life of the process that told it, such as p0.2. */
  process: string
  step: string
  began: number
  /** Null while it runs, and for ever if its process died. */
  ended: number | null
  isDone: boolean
}

export interface Inside {
  dialect: Dialect
  /** Asks the database beside the simulated network. Whole numbers come as numbers. */
  rows: <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>
  now: () => number
  takeOverMs: number
  /** Of the processes that are up. */
  memories(): readonly { name: string; memory: Memory }[]
  deeds: readonly Deed[]
  /** The names of the conductors whose processes are up. */
  conductors: () => readonly string[]
  /** The last time that the database was away. */
  outage: Readonly<{ since: number; until: number }>
}

/** Runs a transaction that reads, as the store does. */
export async function read<T>({ rows, dialect }: Pick<Inside, 'rows' | 'dialect'>, transaction: Read<T>): Promise<T> {
  let step = transaction.next()
  while (!step.done) {
    const answers = []
    for (const { compiled, args } of step.value) {
      const found = await rows(compiled[dialect].sql, compiled[dialect].bind(args)[0])
      answers.push({ rows: found, count: found.length })
    }
    step = transaction.next(answers)
  }
  return step.value
}
