// The house rules that a machine can check. Who breaks one mends the code; an exception needs a reason, and goes when nobody needs it.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { checksums, COMMAND } from '../scripts/catalogue.ts'
import { expectedOf } from './store/catalogue/expected.ts'

const LINES_MAX = 350
const DOMAIN = ['shared', 'problems', 'store', 'kysely', 'clock']
const ROOMS = [
  ...DOMAIN,
  'audit',
  'events',
  'ledger',
  'quotas',
  'metal',
  'compute',
  'nova',
  'leases',
  'identity',
  'calendars',
  'status',
  'webhooks',
]

/** What each room may import, types too: other rooms, single files of them, and packages that aren't for every room. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  shared: [],
  problems: ['shared'],
  store: ['shared', 'kysely'],
  clock: ['shared', 'store', 'kysely'],
  audit: DOMAIN,
  events: [...DOMAIN, 'audit'],
  // Of the events only how to say what became of an object.
  ledger: [...DOMAIN, 'events/subject.ts'],
  quotas: DOMAIN,
  metal: [...DOMAIN, 'audit', 'events/subject.ts', 'ledger', 'quotas'],
  compute: [...DOMAIN, 'audit', 'events/subject.ts', 'ledger', 'quotas', 'metal'],
  // It speaks HTTP, and knows nothing of ours but the limits.
  nova: ['shared'],
  leases: [...DOMAIN, 'audit', 'events/subject.ts', 'ledger', 'quotas', 'metal', 'compute', 'nova'],
  identity: [...DOMAIN, 'audit'],
  calendars: [...DOMAIN, 'audit', 'metal', 'leases', 'identity'],
  // The board shows what all rooms promise of a machine.
  status: [...DOMAIN, 'audit', 'events', 'ledger', 'metal', 'leases'],
  webhooks: [...DOMAIN, 'audit', 'events', 'nodemailer'],
  measure: ROOMS,
  http: ['shared', 'problems', 'store', 'audit', 'identity', 'measure', 'fastify'],
  // Who knows proxies, ways to log in and rules of inspection checks what is set about them.
  config: ['shared', 'http', 'identity', 'metal'],
  // An API runs the transactions of the domain, and reads what is long in parts. It writes no statements.
  api: [
    ...ROOMS.filter(room => room !== 'store' && room !== 'kysely'),
    'store/transaction.ts',
    'store/sized.ts',
    'measure',
    'http',
    'fastify',
  ].concat('process/context.ts'),
  process: [...ROOMS, 'measure', 'config', 'http', 'api'],
  // Also for browsers: only what every platform has.
  client: ['shared', 'clock/countdown.ts', 'clock/plain.ts'],
  // The rooms only where it works on this machine's files and databases.
  cli: [
    'client',
    'shared',
    'clock',
    'config',
    'process',
    'identity',
    'store',
    'ledger/uuid.ts',
    'measure/fsck.ts',
  ].concat('api/policy.ts', 'http/tls.ts', 'events/kinds.ts'),
  // The dashboard: a house of its own beside this one, which knows the library and what is pure.
  'web/words': ['client'],
  'web/data': ['client', 'shared', 'clock/plain.ts', 'web/words'],
  'web/parts': ['client', 'shared', 'web/words', 'web/data'],
  'web/pages': ['client', 'shared', 'web/words', 'web/data', 'web/parts'],
  'web/shell': ['client', 'shared', 'web/words', 'web/data', 'web/parts', 'web/pages/find/find.tsx'],
}

const EXCEPTIONS = new Map([
  // Exports that only tests outside of src/ import.
  ['src/store/statement.ts statements', 'test/store/plans.test.ts has PostgreSQL plan each of them'],
  ['src/store/session.ts PLANNER', 'test/store/plans.test.ts plans as we do'],
  ['src/cli/command.ts programWith', 'the tests of the documents walk the tree of commands'],
  ['src/api/openapi.ts Document', 'the tests of the OpenAPI documents take them apart'],
  ['src/api/baremetal/collection.ts Members', 'the tests of the OpenAPI documents go through them'],
  // Stopwatches: how long this process waits. No date comes of them, and a test that moves the clock must not move them.
  ['src/store/sqlite.ts has a stopwatch', 'how long a transaction waits for the file'],
  ['src/store/sqlite-failure.ts has a stopwatch', 'how long it tries a file that others keep'],
  ['src/store/sqlite-checkpoints.ts has a stopwatch', 'how long ago the last commit was'],
  ['src/store/postgres-attempt.ts has a stopwatch', 'how long we ask what became of a commit'],
  ['src/store/silence.ts has a stopwatch', 'how long a connection is silent'],
  ['src/store/feed.ts has a stopwatch', 'how long ago the feed was read to its end'],
  ['src/ledger/claims/queue.ts has a stopwatch', 'how long a claim waits for a locked row'],
  ['src/metal/conductors/presence.ts has a stopwatch', 'how long this conductor was not heard of'],
  ['src/metal/power-sync/sync.ts has a stopwatch', "when each machine's turn comes"],
  ['src/leases/healing/duty.ts has a stopwatch', 'how long ago the whole pool was looked at'],
  ['src/webhooks/post.ts has a stopwatch', 'how long a receiver takes to answer'],
  ['src/webhooks/mail.ts has a stopwatch', 'how long a mail server takes to answer'],
  ['src/measure/census.ts has a stopwatch', 'how old a count is'],
  ['src/measure/schema-watch.ts has a stopwatch', 'how old a look at the schema is'],
  ['src/shared/line.ts has a stopwatch', 'whether several came lately'],
  ['src/shared/loop.ts has a stopwatch', 'how long the work of this turn takes'],
  ['src/shared/duty.ts has a stopwatch', 'for how long a duty runs, and in how long it runs next'],
])
const needed = new Set<string>()
/** What is wrong and has no exception, by any of its names. */
const unexcused = (...names: string[]) => {
  const excuse = names.find(name => EXCEPTIONS.has(name))
  if (excuse !== undefined) needed.add(excuse)
  return excuse === undefined ? [names[0]!] : []
}

interface Import {
  from: string
  to: string
  kind: 'type' | 'value' | 'late'
  /** What is imported. Who imports a file as a whole uses some of it by name. */
  names: string
}

const root = join(import.meta.dirname, '..')
const sources = globSync('{src,web/src,test,bench,scripts,conformance,simulator,docs}/**/*.{ts,tsx,js}', { cwd: root })
const texts = new Map(sources.map(file => [file, readFileSync(join(root, file), 'utf8')]))
const IMPORT = /^(?:import|export) (type )?([^;'"]*?) ?from '([^']+)'|\bimport\('([^']+)'\)/gm
const imports = [...texts].flatMap(([from, text]) =>
  [...text.matchAll(IMPORT)].map(([, type, clause = '', early, late]): Import => {
    const path = early ?? late!
    const to = path.startsWith('.') ? join(dirname(from), path) : path
    const kind = late !== undefined ? 'late' : type === undefined ? 'value' : 'type'
    return { from, to, kind, names: clause.startsWith('{') ? clause : text }
  }),
)
const isUnitTest = (file: string) => /^(web\/)?src\/.*\.test\.ts$/.test(file)
const ours = new Set(sources.filter(file => /^(web\/)?src\//.test(file) && !isUnitTest(file)))
const roomOf = (file: string) => file.replace(/^(web\/)?src\/([\w-]+).*$/, '$1$2')
/** They open all rooms. */
const DOORS = new Set(['src/main.js', 'web/src/main.tsx', 'web/src/app.tsx'])

test('rooms import only what is declared', () => {
  const guarded = new Set(Object.values(MAY_IMPORT).flat())
  const wrong = imports.filter(({ from, to }) => {
    if (!ours.has(from) || DOORS.has(from) || !(ours.has(to) || guarded.has(to))) return false
    const [room, other] = [roomOf(from), ours.has(to) ? roomOf(to) : to]
    const path = to.replace('src/', '')
    return room !== other && !MAY_IMPORT[room]?.some(name => name === other || name === path)
  })
  const named = ({ from, to }: Import) =>
    unexcused(`${from} → ${to}`, `${from} → src/${roomOf(to)}`, `src/${roomOf(from)} → ${to}`)
  assert.deepEqual(wrong.flatMap(named), [])
})

test('pages know nothing of each other', () => {
  const pageOf = (file: string) => /^web\/src\/pages\/(\w+)\//.exec(file)?.[1]
  const wrong = imports.filter(({ from, to }) => pageOf(from) && pageOf(to) && pageOf(from) !== pageOf(to))
  assert.deepEqual(
    wrong.map(({ from, to }) => `${from} → ${to}`),
    [],
  )
})

test('the library needs no built-in modules of Node to be loaded, so that browsers can', () => {
  const taken = new Set<string>()
  const take = (file: string) => {
    if (taken.has(file)) return
    taken.add(file)
    for (const { from, to, kind } of imports) if (from === file && kind === 'value') take(to)
  }
  take('src/client/index.ts')
  assert.deepEqual(
    [...taken].filter(file => !file.startsWith('src/')),
    [],
  )
})

test('no file needs itself by way of others to be loaded', () => {
  const next = Map.groupBy(
    imports.filter(({ from, kind }) => ours.has(from) && kind === 'value'),
    ({ from }) => from,
  )
  const done = new Set<string>()
  const circlesFrom = (file: string, way: readonly string[]): string[] => {
    if (way.includes(file)) return [[...way.slice(way.indexOf(file)), file].join(' → ')]
    if (done.has(file)) return []
    const found = (next.get(file) ?? []).flatMap(({ to }) => circlesFrom(to, [...way, file]))
    done.add(file)
    return found
  }
  assert.deepEqual(
    [...ours].flatMap(file => circlesFrom(file, [])),
    [],
  )
})

test('what is exported is imported: in src, by a script or benchmark, or by a unit test in the same folder', () => {
  const EXPORT =
    /^export (?:async |abstract )?(?:const|function\*?|class|type|interface) (\w+)|^export (?:type )?\{([^}]*)\}$/gm
  const importers = Map.groupBy(
    imports.filter(({ from, to }) => (isUnitTest(from) ? dirname(from) === dirname(to) : !from.startsWith('test/'))),
    ({ to }) => to,
  )
  const exportsOf = (file: string) =>
    [...texts.get(file)!.matchAll(EXPORT)].flatMap(
      ([, name, list = '']) => name ?? list.match(/\w+(?=\s*(?:,|$))/g) ?? [],
    )
  const isImported = (file: string, name: string) =>
    importers.get(file)?.some(({ names }) => new RegExp(`\\b${name}\\b`).test(names))
  const wrong = [...ours]
    // What the client library shows to the world.
    .filter(file => file !== 'src/client/index.ts')
    .flatMap(file =>
      [...new Set(exportsOf(file))].filter(name => !isImported(file, name)).map(name => `${file} ${name}`),
    )
  assert.deepEqual(
    wrong.flatMap(name => unexcused(name)),
    [],
  )
})

test('time and chance are read in the room of the clock', () => {
  const READING =
    /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandom(?:UUID|Bytes|Int)\b|\bgetRandomValues\b|\bhrtime\b/
  const others = [...ours].filter(file => roomOf(file) !== 'clock' && file !== 'web/src/data/clock.ts')
  const readers = others.filter(file => READING.test(texts.get(file)!))
  const waiters = others.filter(file => texts.get(file)!.includes('performance.now'))
  assert.deepEqual([...readers, ...waiters.flatMap(file => unexcused(`${file} has a stopwatch`))], [])
})

test(`a file has at most ${LINES_MAX} lines`, () => {
  const isLong = (file: string) => texts.get(file)!.split('\n').length - 1 > LINES_MAX
  assert.deepEqual(
    // All words of the dashboard are in one file, a section a page.
    sources.filter(file => !file.startsWith('test/') && file !== 'web/src/words.ts' && isLong(file)),
    [],
  )
})

test('the names of two files in a folder differ by more than an ending', () => {
  const ENDING = /(?:ions?|ings?|ables?|ers?|ed|es?|s)?\.[jt]sx?$/
  const alike = Map.groupBy(ours, file => join(dirname(file), basename(file).replace(ENDING, '')))
  assert.deepEqual(
    [...alike.values()].filter(({ length }) => length > 1),
    [],
  )
})

test('what the migrations make is checked in for these migrations', () => {
  for (const dialect of ['sqlite', 'postgres'] as const) {
    assert.deepEqual(expectedOf(dialect).migrations, checksums(dialect), `run: ${COMMAND}`)
  }
})

test('every exception is still needed', () => {
  assert.deepEqual(
    [...EXCEPTIONS.keys()].filter(name => !needed.has(name)),
    [],
  )
})
