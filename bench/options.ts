// The options that every bench understands.
import { parseArgs } from 'node:util'

export const STORES = ['sqlite', 'postgres'] as const
export type StoreName = (typeof STORES)[number]

export interface BenchOptions {
  stores: StoreName[]
  /** Length of one measurement. */
  seconds: number
  /** How often each measurement is made. The median is reported, because other load on the machine comes and goes. */
  rounds: number
  /** Requests to a fresh server before anything is measured. */
  warmUpRequests: number
  /** The size of the largest fleet in the allocations bench. */
  nodes: number
  /** What the guard compares with; the last release unless said. */
  against: string | undefined
  /** Providers in the load and stalls benches. */
  providers: number
  progress: (text: string) => void
}

const HELP = `npm run bench -- [NAME…] [options]        benches: all of them but cluster and guard unless named
  placement        side by side with Debian's real Placement on PostgreSQL, where that is installed
  bytes            what a provider, a claim and a node take on disk and in memory
  cluster          1, 2 and 4 API processes behind nginx on one PostgreSQL, then the tail of a mixed load
  guard            compares this tree with the last release, and ends with 1 if something lost more than 15 %
  --seconds N      length of one measurement (default 2)
  --rounds N       how often each is made; the median is printed (default 3)
  --store NAME     sqlite, postgres or all (default all)
  --nodes N        nodes in the largest fleet (default 50000)
  --against REF    what guard compares with (default: the last release)
  --providers N    providers that are loaded, and that stalls are measured with (default 100000)
  --quick          half a second, one round, 5000 nodes, 20000 providers: shows that it runs, the figures mean little
  --json FILE      also write everything as JSON
  --markdown       print the tables as markdown`

export function readOptions(benches: string[], onRequest: string[]) {
  const { values, positionals } = parse()
  if (values.help) fail(`${HELP}\nbenches: ${benches.join(', ')}`, 0)
  const unknown = positionals.find(name => !benches.includes(name))
  if (unknown !== undefined) fail(`no bench ${unknown}; there are: ${benches.join(', ')}`)
  const stores = STORES.filter(name => values.store === 'all' || values.store === name)
  if (stores.length === 0) fail(`--store ${values.store}: sqlite, postgres or all`)
  const seconds = positive('--seconds', values.seconds ?? (values.quick ? '0.5' : '2'))
  const rounds = Math.ceil(positive('--rounds', values.rounds ?? (values.quick ? '1' : '3')))
  const warmUpRequests = values.quick ? 2_000 : 20_000
  const nodes = Math.ceil(positive('--nodes', values.nodes ?? (values.quick ? '5000' : '50000')))
  const providers = Math.ceil(positive('--providers', values.providers ?? (values.quick ? '20000' : '100000')))
  const { against } = values
  const bench: BenchOptions = { stores, seconds, rounds, warmUpRequests, nodes, against, providers, progress }
  const names = positionals.length > 0 ? positionals : benches.filter(name => !onRequest.includes(name))
  return { bench, names, json: values.json, markdown: values.markdown }
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        seconds: { type: 'string' },
        rounds: { type: 'string' },
        nodes: { type: 'string' },
        against: { type: 'string' },
        providers: { type: 'string' },
        store: { type: 'string', default: 'all' },
        quick: { type: 'boolean', default: false },
        json: { type: 'string' },
        markdown: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)}\n${HELP}`)
  }
}

/** Only on a terminal: in a file it would be noise. */
function progress(text: string) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

function positive(name: string, text: string): number {
  const value = Number(text)
  return value > 0 ? value : fail(`${name} ${text}: a number above 0`)
}

function fail(message: string, status = 2): never {
  console.error(message)
  process.exit(status)
}
