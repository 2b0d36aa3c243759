// The house rules that a machine can check. Who breaks one mends the code; a new exception needs a reason beside it.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')
const LINES_MAX = 350

/** What each room may import: other rooms, single files of them, and the packages that are for some rooms only. Types count too. */
const DOMAIN = ['shared', 'problems', 'store', 'kysely', 'clock']
const MAY_IMPORT: Record<string, readonly string[]> = {
  shared: [],
  problems: ['shared'],
  store: ['shared', 'kysely'],
  clock: ['shared', 'store', 'kysely'],
  audit: DOMAIN,
  ledger: DOMAIN,
  quotas: DOMAIN,
  metal: [...DOMAIN, 'audit', 'ledger', 'quotas'],
  compute: [...DOMAIN, 'audit', 'ledger', 'quotas', 'metal'],
  leases: [...DOMAIN, 'audit', 'ledger', 'quotas', 'metal', 'compute'],
  identity: [...DOMAIN, 'audit'],
  measure: ['shared', 'store', 'audit', 'ledger', 'metal', 'compute', 'leases'],
  http: ['fastify', 'shared', 'problems', 'store', 'audit', 'identity', 'measure'],
  // Rules of inspection, proxies and ways to log in are checked by those who know them.
  config: ['shared', 'metal', 'http', 'identity'],
  // Statements are the domain's: an API composes its transactions and writes none.
  api: [
    'fastify',
    'shared',
    'problems',
    'clock',
    'audit',
    'ledger',
    'quotas',
    'metal',
    'compute',
    'leases',
    'identity',
  ].concat(['measure', 'http', 'store/transaction.ts', 'process/context.ts']),
  process: [
    'shared',
    'problems',
    'store',
    'clock',
    'audit',
    'ledger',
    'quotas',
    'metal',
    'compute',
    'leases',
    'identity',
  ].concat(['measure', 'config', 'http', 'api']),
  client: ['shared'],
  // The rooms only where it works on this machine's files.
  cli: [
    'client',
    'shared',
    'clock',
    'config',
    'process',
    'identity',
    'store',
    'measure/fsck.ts',
    'ledger/uuid.ts',
  ].concat(['api/policy.ts', 'http/tls.ts']),
}

/** Where a process measures how long something takes or waits, it reads its own stopwatch: no date comes of it, and moving the clock in a test must not change it. */
const STOPWATCHES: Record<string, string> = {
  'src/store/sqlite.ts': 'how long a transaction waits for the file',
  'src/store/postgres.ts': 'how long it asks what became of a commit',
  'src/store/silence.ts': 'how long a connection is silent',
  'src/store/feed.ts': 'how long ago the feed was read to its end',
  'src/ledger/claims/queue.ts': 'how long a claim waits for a locked row',
  'src/metal/conductors/presence.ts': 'how long this conductor was not heard of',
  'src/leases/healing/duty.ts': 'how long ago all of the pool was looked at',
  'src/measure/census.ts': 'how old a count is',
}

/** Exports that only a test from outside of src/ needs. */
const FOR_TESTS: Record<string, string> = {
  'src/store/statement.ts statements': 'test/store/plans.test.ts has PostgreSQL plan each of them',
  'src/store/session.ts PLANNER': 'so does it with these settings',
  'src/cli/command.ts programWith': 'the tests of the documents walk the tree of commands',
  'src/api/openapi.ts Document': 'the tests of the OpenAPI documents take them apart',
  'src/api/baremetal/collection.ts Members': 'the tests of the OpenAPI documents go through them',
}

/** Imports that wait for their mending. */
const TO_MEND: Record<string, string> = {
  'src/http/app.ts → api': 'the app is to be given its dialects',
  'src/http/health.ts → api': 'the app is to be given its dialects',
  'src/http → process/context.ts': 'http is to say by itself what it needs',
}

interface Import {
  from: string
  to: string
  kind: 'type' | 'value' | 'late'
  /** What is imported. Who imports all of a file uses some of it by name. */
  names: string
}

const SOURCES = '{src,test,bench,scripts,conformance,docs}/**/*.{ts,js}'
const texts = new Map(globSync(SOURCES, { cwd: ROOT }).map(file => [file, readFileSync(join(ROOT, file), 'utf8')]))
const IMPORT = /^(?:import|export) (type )?([^;'"]*?) ?from '([^']+)'|\bimport\('([^']+)'\)/gm
const imports = [...texts].flatMap(([from, text]) =>
  [...text.matchAll(IMPORT)].map(([, type, clause = '', fixed, late]): Import => {
    const path = fixed ?? late!
    const to = path.startsWith('.') ? join(dirname(from), path) : path
    const kind = late !== undefined ? 'late' : type === undefined ? 'value' : 'type'
    return { from, to, kind, names: clause.startsWith('{') ? clause : text }
  }),
)
const isUnitTest = (file: string) => file.endsWith('.test.ts') && file.startsWith('src/')
const ours = [...texts.keys()].filter(file => file.startsWith('src/') && !isUnitTest(file))
const roomOf = (file: string) => file.split('/')[1]!

test('rooms import only what is declared', () => {
  const guarded = new Set(Object.values(MAY_IMPORT).flat())
  const wrong = imports.filter(({ from, to }) => {
    const [room, other] = [roomOf(from), roomOf(to)]
    if (!ours.includes(from) || from === 'src/main.js' || (to.startsWith('src/') ? room === other : !guarded.has(to)))
      return false
    const allowed = MAY_IMPORT[room] ?? []
    const isExcepted = `${from} → ${other}` in TO_MEND || `src/${room} → ${to.slice(4)}` in TO_MEND
    return !isExcepted && !allowed.includes(other) && !allowed.includes(to.replace('src/', ''))
  })
  assert.deepEqual(
    wrong.map(({ from, to }) => `${from} → ${to}`),
    [],
  )
})

test('no file imports itself by way of others when it is loaded', () => {
  const next = Map.groupBy(
    imports.filter(({ from, kind }) => kind === 'value' && ours.includes(from)),
    ({ from }) => from,
  )
  const done = new Set<string>()
  const walk = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return [[...path.slice(path.indexOf(file)), file].join(' → ')]
    if (done.has(file)) return []
    const found = (next.get(file) ?? []).flatMap(({ to }) => walk(to, [...path, file]))
    done.add(file)
    return found
  }
  assert.deepEqual(
    ours.flatMap(file => walk(file, [])),
    [],
  )
})

test('what is exported is imported: by the source, a script, a benchmark, or a unit test in the same folder', () => {
  const importers = Map.groupBy(imports, ({ to }) => to)
  const EXPORT =
    /^export (?:async )?(?:abstract )?(?:const|function\*?|class|type|interface) (\w+)|^export (?:type )?\{([^}]*)\}$/gm
  const wrong = ours
    .filter(file => file !== 'src/client/index.ts')
    .flatMap(file => {
      const names = [...texts.get(file)!.matchAll(EXPORT)].flatMap(
        ([, name, list = '']) => name ?? list.match(/\w+(?=\s*(,|$))/g) ?? [],
      )
      const counting = (importers.get(file) ?? []).filter(({ from }) =>
        isUnitTest(from) ? dirname(from) === dirname(file) : !from.startsWith('test/'),
      )
      const isUsed = (name: string) => counting.some(one => new RegExp(`\\b${name}\\b`).test(one.names))
      return [...new Set(names)]
        .map(name => `${file} ${name}`)
        .filter(name => !(name in FOR_TESTS) && !isUsed(name.split(' ')[1]!))
    })
  assert.deepEqual(wrong, [])
})

test('time and chance are read in the room of the clock', () => {
  const READING =
    /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\b|\brandom(UUID|Bytes|Int)\b|\bgetRandomValues\b|\bhrtime\b|\bTemporal\.Now\b/
  const wrong = ours.filter(file => {
    if (roomOf(file) === 'clock') return false
    const text = texts.get(file)!
    return READING.test(text) || (text.includes('performance.now') && !(file in STOPWATCHES))
  })
  assert.deepEqual(wrong, [])
})

test(`a file has at most ${LINES_MAX} lines`, () => {
  assert.deepEqual(
    [...texts].filter(([, text]) => text.split('\n').length > LINES_MAX + 1).map(([file]) => file),
    [],
  )
})

test('the names of two files in a folder differ by more than an ending', () => {
  const stem = (file: string) =>
    join(
      dirname(file),
      basename(file)
        .replace(/\..*/, '')
        .replace(/(ions?|ings?|ables?|ers?|ed|es|e|s)$/, ''),
    )
  const alike = [...Map.groupBy(ours, stem).values()].filter(({ length }) => length > 1)
  assert.deepEqual(alike, [])
})

test('every exception is still needed', () => {
  const files = new Set([...Object.keys(STOPWATCHES), ...Object.keys(FOR_TESTS).map(name => name.split(' ')[0]!)])
  assert.deepEqual(
    [...files].filter(file => !texts.has(file)),
    [],
  )
})
