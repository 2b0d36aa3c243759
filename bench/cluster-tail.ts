// A mixed load at a fixed rate, with what an operator does in between. It is an open loop: each request has a time when
// it is due, and its wait counts from then, even if no connection was free to send it.
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { Connection } from './candidates-client.ts'
import { type Cluster, migrate } from './cluster-processes.ts'
import { figure, type Report } from './report.ts'
import { percentile } from './statistics.ts'

const CONNECTIONS = 128
/** Only replaces a function that all processes call, so it can run again. */
const REPEATED_MIGRATION = '0043-order'

export interface Kind {
  name: string
  share: number
  act: (connection: Connection) => Promise<void>
}

interface Tail {
  cluster: Cluster
  database: string
  kinds: readonly Kind[]
  perSecond: number
  seconds: number
  report: Report
}

interface Done {
  kind: string
  /** In ms since the start. */
  due: number
  tookMs: number
}

interface Load {
  start: number
  sent: number
  isOver: boolean
  done: Done[]
  failures: string[]
}

export async function holdRate(tail: Tail): Promise<void> {
  const { kinds, report } = tail
  const load: Load = { start: performance.now(), sent: 0, isOver: false, done: [], failures: [] }
  const [events] = await Promise.all([
    disturb(tail, load).finally(() => (load.isOver = true)),
    ...Array.from({ length: CONNECTIONS }, () => converse(tail, load)),
  ])
  const seconds = load.sent / tail.perSecond
  const row = (name: string, isMeant: (one: Done) => boolean, during = seconds) => {
    const sorted = load.done.filter(isMeant).map(({ tookMs }) => tookMs)
    sorted.sort((a, b) => a - b)
    const cells = [0.5, 0.99, 0.999, 1].map(share => figure(percentile(sorted, share)))
    report.limits.rows.push([name, figure(sorted.length / during), ...cells])
  }
  row(`all of ${figure(seconds)} s`, () => true)
  for (const { name } of kinds) row(name, ({ kind }) => kind === name)
  for (const { name, from, to } of events) {
    const took = (to - from) / 1000
    row(`all that were due in the ${name} (${figure(took)} s)`, ({ due }) => due >= from && due <= to, took)
  }
  // The proxy doesn't send a POST again that it sent to a process which was about to end (DEPLOYING.md).
  const gone = load.failures.filter(text => text.includes('answered 502'))
  const others = load.failures.filter(text => !gone.includes(text))
  report.limits.rows.push([`answered 502 by the proxy: ${gone.length} of ${load.sent}`, '', '', '', '', ''])
  if (others.length > 0) report.faults.push(`${others.length} requests failed; the first: ${others[0]}`)
}

/** One after the other. Returns when each was, in ms since the start; the load goes on until the last is over. */
async function disturb({ cluster, database, seconds }: Tail, { start }: Load) {
  const events = [
    { name: 'vacuum', at: 0.2, act: () => sql(database, 'vacuum analyze') },
    { name: 'restart of an API process', at: 0.4, act: () => cluster.restartOne() },
    { name: 'migration', at: 0.8, act: () => migrateAgain(database) },
  ]
  const happened: { name: string; from: number; to: number }[] = []
  const since = () => performance.now() - start
  for (const { name, at, act } of events) {
    await sleep(Math.max(0, at * seconds * 1000 - since()))
    const from = since()
    await act()
    happened.push({ name, from, to: since() })
  }
  await sleep(Math.max(0, seconds * 1000 - since()))
  return happened
}

/** Takes the next request that is due, or waits for it, until the end. */
async function converse({ cluster, kinds, perSecond }: Tail, load: Load): Promise<void> {
  let connection = new Connection(cluster.port())
  while (!load.isOver) {
    const due = (load.sent++ * 1000) / perSecond
    const early = due - (performance.now() - load.start)
    if (early > 0) await sleep(early)
    const { name, act } = pick(kinds)
    try {
      await act(connection)
      load.done.push({ kind: name, due, tookMs: performance.now() - load.start - due })
    } catch (error) {
      load.failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
      connection.close()
      connection = new Connection(cluster.port())
    }
  }
  connection.close()
}

/** One of them, as often as its share says. */
export function pick(kinds: readonly Kind[]): Kind {
  let left = Math.random()
  return kinds.find(({ share }) => (left -= share) < 0) ?? kinds[0]!
}

async function migrateAgain(database: string): Promise<void> {
  await sql(database, `delete from migrations where name = '${REPEATED_MIGRATION}'`)
  const output = await migrate(database)
  if (!output.includes(REPEATED_MIGRATION)) throw new Error(`the migration didn't run: ${output}`)
}

async function sql(database: string, text: string): Promise<void> {
  const client = new Client({ connectionString: database })
  await client.connect()
  await client.query(text)
  await client.end()
}
