// Lists with --watch: prints the list, then a row again whenever it has changed, until Ctrl-C.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { type Holdfast, isAway } from '../client/index.ts'
import { Runner } from '../shared/runner.ts'
import type { Flags } from './client-command.ts'
import { printList, type Row, RowPrinter } from './output.ts'
import type { Folds } from './table.ts'
import { terminal } from './terminal.ts'

export interface WatchFlags extends Flags {
  watch?: true
}

export const withWatch = (command: Command): Command =>
  command.option('-w, --watch', 'go on, and print a row again when it has changed, until Ctrl-C')

interface Listed {
  /** The kinds of events that may change the list. */
  kinds: readonly string[]
  /** The list as it is now. */
  rows: () => Promise<{ rows: readonly Row[]; columns: readonly string[] }>
  /** Of a list that isn't watched. */
  folds?: Folds
}

/** How long to wait for a server that is away. */
const AWAY_MS = 1_000

export async function printRows(
  server: Holdfast,
  { kinds, rows: list, folds }: Listed,
  flags: WatchFlags,
): Promise<void> {
  if (!flags.watch) {
    const { rows, columns } = await list()
    return printList(rows, columns, flags, folds)
  }
  await untilInterrupted(async signal => {
    // Taken first: what changes while the list is read is told after it.
    const after = await server.cursor()
    const first = await list()
    const printer = new RowPrinter(first.columns, flags)
    printer.first(first.rows)
    let known = byKey(first.rows)
    const look = async () => {
      const { rows } = await withPatience(list, signal)
      const found = byKey(rows)
      for (const [key, row] of found) if (printer.isOther(known.get(key), row)) printer.again(row)
      for (const [key, row] of known) if (!found.has(key)) printer.gone(row)
      known = found
    }
    await followed(server, { after, kinds, look, signal })
  })
}

interface Followed {
  after: string
  kinds: readonly string[]
  look: () => Promise<void>
  signal: AbortSignal
  /** Looks also without an event. */
  everyMs?: number
}

/** Looks again after each event; once for all that come during a look. */
export async function followed(server: Holdfast, { after, kinds, look, signal, everyMs }: Followed): Promise<void> {
  const failed = new AbortController()
  let failure: unknown
  const looking = new Runner(look, error => {
    failure = error
    failed.abort()
  })
  const over = AbortSignal.any([signal, failed.signal])
  const timer = everyMs === undefined ? undefined : setInterval(() => void looking.run(), everyMs)
  try {
    for await (const _ of server.events({ after, kinds, signal: over, beginAfresh: true })) void looking.run()
  } finally {
    clearInterval(timer)
  }
  await looking.stop()
  if (failure !== undefined && !signal.aborted) throw failure
}

async function withPatience<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isAway(error)) throw error
      await sleep(AWAY_MS, undefined, { signal })
    }
  }
}

const byKey = (rows: readonly Row[]) => new Map(rows.map(row => [keyOf(row), row]))

const keyOf = (row: Row) => (row['uuid'] ?? row['id'] ?? row['name'] ?? JSON.stringify(row)) as string

/** Runs work that goes on until Ctrl-C, or until nobody reads what it prints. */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const here = terminal()
  const over = new AbortController()
  const end = () => over.abort()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) here.once(signal, end)
  here.stdout.once('error', end)
  try {
    await work(over.signal)
  } finally {
    for (const signal of signals) here.off(signal, end)
    here.stdout.off('error', end)
  }
}
