// Times the candidate search and the writing of its answer alone, without HTTP or a store. Run: node bench/candidates-search.ts
import { answer, answerYielding } from '../src/ledger/candidates/answer.ts'
import { explain } from '../src/ledger/candidates/explain.ts'
import { group, request } from '../src/ledger/candidates/request.ts'
import type { CandidateRequest } from '../src/ledger/candidates/request.ts'
import { search, searchNow } from '../src/ledger/candidates/search.ts'
import { seeded } from '../src/clock/chance.ts'
import { CandidateTable } from '../src/ledger/candidates/table.ts'
import type { InventorySnapshot, ProviderSnapshot } from '../src/ledger/candidates/table.ts'
import { asId } from '../test/support/ids.ts'

const NEWEST = { keyed: true, traits: true, allClasses: true, nested: true, mappings: true }
const OLDEST = { keyed: false, traits: false, allClasses: false, nested: false, mappings: false }
const WORK_MAX = 50_000_000
const random = seeded(42)
const uuid = (n: number) =>
  `${n.toString(16).padStart(8, '0')}-0000-4000-8000-${(n * 7919).toString(16).padStart(12, '0')}`
const AGGREGATE = uuid(0xa66)

function inventory(resourceClass: string, total: number, used = 0, maxUnit = total): InventorySnapshot {
  return {
    resourceClass,
    total,
    reserved: 0,
    minUnit: 1,
    maxUnit,
    stepSize: 1,
    allocationRatio: 1,
    used,
    blocked: false,
  }
}

type Sketch = Partial<Omit<ProviderSnapshot, 'parentId' | 'rootId'> & { parentId: number; rootId: number }>

function provider(number: number, { parentId, rootId = number, ...rest }: Sketch): ProviderSnapshot {
  const id = asId<ProviderSnapshot['id']>(number)
  const place = { parentId: parentId === undefined ? null : asId<typeof id>(parentId), rootId: asId<typeof id>(rootId) }
  const plain = { generation: 0, ...place, inventories: [], traits: [], aggregates: [] }
  return { id, uuid: uuid(id), name: `provider-${id}`, ...plain, ...rest }
}

function flatWorld(count: number): ProviderSnapshot[] {
  return Array.from({ length: count }, (_, i) =>
    provider(i + 1, {
      inventories: [
        inventory('VCPU', 128, Math.floor(random() * 128)),
        inventory('MEMORY_MB', 524_288, Math.floor(random() * 512) * 1024),
        inventory('DISK_GB', 4000, Math.floor(random() * 4000)),
      ],
      traits: [
        'COMPUTE_NODE',
        ...(random() < 0.5 ? ['HW_CPU_X86_AVX2'] : []),
        ...(random() < 0.002 ? ['CUSTOM_GOLD'] : []),
      ],
      aggregates: [AGGREGATE],
    }),
  )
}

/** Trees of 7: disk on the root, VCPU and memory in two NUMA children, two FPGAs below each. */
function nestedWorld(trees: number): ProviderSnapshot[] {
  const out: ProviderSnapshot[] = []
  for (let t = 0; t < trees; t++) {
    const root = t * 7 + 1
    const below = { rootId: root }
    out.push(provider(root, { inventories: [inventory('DISK_GB', 2000, Math.floor(random() * 1000))] }))
    for (const n of [0, 1]) {
      const numa = root + 1 + n * 3
      out.push(
        provider(numa, {
          ...below,
          parentId: root,
          inventories: [inventory('VCPU', 64, Math.floor(random() * 64)), inventory('MEMORY_MB', 262_144, 0)],
          traits: n === 0 ? ['HW_NUMA_ROOT', 'CUSTOM_FAST'] : ['HW_NUMA_ROOT'],
        }),
      )
      for (const f of [1, 2]) {
        const traits = random() < 0.5 ? ['CUSTOM_FPGA_A'] : ['CUSTOM_FPGA_B']
        out.push(provider(numa + f, { ...below, parentId: numa, inventories: [inventory('FPGA', 1)], traits }))
      }
    }
  }
  return out
}

function wideWorld(children: number, room: number): ProviderSnapshot[] {
  const out = [provider(1, {})]
  for (let i = 0; i < children; i++) {
    out.push(provider(i + 2, { rootId: 1, parentId: 1, inventories: [inventory('VCPU', room)] }))
  }
  return out
}

function load(world: ProviderSnapshot[]): CandidateTable {
  const table = new CandidateTable()
  table.load(world)
  return table
}

function percentile(sorted: number[], share: number): string {
  return sorted[Math.floor(sorted.length * share)]!.toFixed(3).padStart(9)
}

function time(name: string, table: CandidateTable, question: CandidateRequest, rounds = 200, words = NEWEST): void {
  const searched: number[] = []
  const answered: number[] = []
  let shown = ''
  for (let i = 0; i < rounds + 30; i++) {
    const start = performance.now()
    const result = searchNow(table, question, WORK_MAX)
    const between = performance.now()
    const body = answer(table, result, words)
    const end = performance.now()
    if (i < 30) continue
    searched.push(between - start)
    answered.push(end - between)
    shown = `${String(result.count).padStart(6)} ${String(body.length).padStart(9)} ${String(result.steps).padStart(8)}${result.exhausted ? ' EXHAUSTED' : ''}`
  }
  searched.sort((a, b) => a - b)
  answered.sort((a, b) => a - b)
  const figures = [
    percentile(searched, 0.5),
    percentile(searched, 0.95),
    percentile(answered, 0.5),
    percentile(answered, 0.95),
  ]
  console.log(`${name.padEnd(52)} ${figures.join(' ')} ${shown}`)
}

measureMemory()

const HEAD = ['search50', 'search95', 'answer50', 'answer95'].map(text => text.padStart(9)).join(' ')
console.log(`${'milliseconds'.padEnd(52)} ${HEAD}  found     bytes    steps`)

const small = group(
  '',
  { VCPU: 4, MEMORY_MB: 4096, DISK_GB: 100 },
  { required: [['COMPUTE_NODE']], memberOf: [[AGGREGATE]] },
)
const large = group('', { VCPU: 120, MEMORY_MB: 500_000, DISK_GB: 3900 })
for (const count of [1000, 10_000, 100_000]) {
  const table = load(flatWorld(count))
  for (const limit of [1, 10, 1000])
    time(`${count} flat, many match, limit ${limit}`, table, request([small], { limit }))
  if (count < 100_000) continue
  time(`${count} flat, few match by trait`, table, request([{ ...small, required: [['CUSTOM_GOLD']] }], { limit: 10 }))
  time(`${count} flat, few match by trait, no limit`, table, request([{ ...small, required: [['CUSTOM_GOLD']] }]))
  time(`${count} flat, few match by capacity`, table, request([large], { limit: 10 }))
  time(`${count} flat, few match by capacity, no limit`, table, request([large]))
  time(`${count} flat, seeded, limit 10`, table, request([small], { limit: 10, seed: 1 }), 50)
  time(`${count} flat, limit 1000, oldest form`, table, request([small], { limit: 1000, nested: false }), 200, OLDEST)
  time(`${count} flat, no limit`, table, request([small]), 5)
}

const nested = load(nestedWorld(1000))
const numa = [
  group('', { DISK_GB: 100 }),
  group('_CPU', { VCPU: 4, MEMORY_MB: 4096 }, { required: [['CUSTOM_FAST']] }),
  group('_ACC', { FPGA: 1 }, { required: [['CUSTOM_FPGA_A']] }),
]
const together = { groupPolicy: 'none' as const, sameSubtree: [['_CPU', '_ACC']] }
for (const limit of [1, 10, 1000, null]) {
  time(
    `7000 nested, same_subtree, limit ${limit}`,
    nested,
    request(numa, { ...together, limit }),
    limit === null ? 20 : 100,
  )
}
time('7000 nested, none fits', nested, request([group('', { DISK_GB: 1900, VCPU: 64, FPGA: 2 })]), 50)
time(
  '7000 nested, unsuffixed only, limit 10',
  nested,
  request([group('', { DISK_GB: 10, VCPU: 1, FPGA: 1 })], { limit: 10 }),
)

for (const [children, groups] of [
  [8, 6],
  [8, 8],
  [16, 16],
] as const) {
  const table = load(wideWorld(children, 8))
  const asked = Array.from({ length: groups }, (_, i) => group(String(i + 1), { VCPU: 1 }))
  for (const groupPolicy of ['none', 'isolate'] as const) {
    time(`wide ${children} x ${groups}, ${groupPolicy}, limit 10`, table, request(asked, { groupPolicy, limit: 10 }))
  }
}
const narrow = load(wideWorld(16, 4))
const heavy = Array.from({ length: 17 }, (_, i) => group(String(i + 1), { VCPU: 3 }))
time('wide 16 x 17, none can fit (pigeonhole)', narrow, request(heavy, { groupPolicy: 'none', limit: 10 }), 20)
const mixed = Array.from({ length: 20 }, (_, i) => group(String(i + 1), { VCPU: (i % 3) + 1 }))
time(
  'wide 16 x 20, mixed amounts, barely fits',
  load(wideWorld(16, 3)),
  request(mixed, { groupPolicy: 'none', limit: 10 }),
  20,
)
time(
  'wide 12 x 20, mixed amounts, just too few',
  load(wideWorld(12, 3)),
  request(mixed, { groupPolicy: 'none', limit: 10 }),
  5,
)

function sharingWorld(hosts: number): ProviderSnapshot[] {
  const pools = [1, 2, 3, 4, 5].map(id =>
    provider(id, {
      inventories: [inventory('DISK_GB', 1e6)],
      traits: ['MISC_SHARES_VIA_AGGREGATE'],
      aggregates: [AGGREGATE],
    }),
  )
  const computes = Array.from({ length: hosts }, (_, i) =>
    provider(i + 10, {
      inventories: [inventory('VCPU', 128, Math.floor(random() * 128)), inventory('MEMORY_MB', 524_288)],
      aggregates: [AGGREGATE],
    }),
  )
  return [...pools, ...computes]
}

const shared = load(sharingWorld(10_000))
time(
  '10000 hosts + 5 shared pools, limit 10',
  shared,
  request([group('', { VCPU: 4, MEMORY_MB: 4096, DISK_GB: 100 })], { limit: 10 }),
)
time(
  '10000 hosts + 5 shared pools, none fits',
  shared,
  request([group('', { VCPU: 129, MEMORY_MB: 4096, DISK_GB: 1 })], { limit: 10 }),
  20,
)
time(
  '10000 hosts + 5 shared pools, no limit',
  shared,
  request([group('', { VCPU: 4, MEMORY_MB: 4096, DISK_GB: 100 })]),
  3,
)

console.log('\nlongest stretch without a breath, milliseconds (breathEvery 2000, workMax 5 million)')
longest('wide 16 x 20, every candidate', load(wideWorld(16, 8)), request(askedOf(20, 1), { groupPolicy: 'none' }))
longest('wide 40 x 20, same_subtree, tight, hopeless', load(wideWorld(40, 3)), hopeless())
longest('7000 nested, every candidate', nested, request(numa, { ...together, limit: null }))
longest('10000 hosts + 5 shared pools, every candidate', shared, request([group('', { VCPU: 4, DISK_GB: 100 })]))
longest('100000 flat, every candidate', load(flatWorld(100_000)), request([small]))

console.log('\nexplain, milliseconds')
explainTime(
  '100000 flat, no such room',
  load(flatWorld(100_000)),
  request([group('', { VCPU: 129, MEMORY_MB: 4096 }, { required: [['COMPUTE_NODE']] })]),
)
explainTime(
  '7000 nested, wrong trait',
  nested,
  request([...numa.slice(0, 2), group('_ACC', { FPGA: 2 }, { required: [['CUSTOM_FPGA_A']] })], together),
)

function askedOf(count: number, amount: number) {
  return Array.from({ length: count }, (_, i) => group(String(i + 1), { VCPU: amount }))
}

function hopeless(): CandidateRequest {
  const asked = Array.from({ length: 20 }, (_, i) => group(String(i + 1), { VCPU: (i % 2) + 2 }))
  return request([...asked, ...Array.from({ length: 30 }, (_, i) => group(`x${i}`, { VCPU: 2 }))], {
    groupPolicy: 'none',
    limit: 10,
  })
}

function longest(name: string, table: CandidateTable, question: CandidateRequest): void {
  let most = 0
  let total = 0
  let note = ''
  const running = search(table, question, { workMax: 5_000_000, breathEvery: 2000 })
  for (;;) {
    const start = performance.now()
    const turn = running.next()
    const took = performance.now() - start
    total += took
    most = Math.max(most, took)
    if (!turn.done) continue
    note = `${turn.value.count} found, ${turn.value.steps} steps${turn.value.exhausted ? ', exhausted' : ''}`
    let longestAnswer = 0
    for (const writing = answerYielding(table, turn.value, NEWEST); ;) {
      const from = performance.now()
      const part = writing.next()
      longestAnswer = Math.max(longestAnswer, performance.now() - from)
      if (part.done) break
    }
    console.log(
      `${name.padEnd(52)} ${most.toFixed(1).padStart(7)} of ${total.toFixed(0).padStart(6)}, answer ${longestAnswer.toFixed(1)}; ${note}`,
    )
    return
  }
}

function explainTime(name: string, table: CandidateTable, question: CandidateRequest): void {
  let most = 0
  const begun = performance.now()
  const running = explain(table, question, { workMax: 5_000_000, breathEvery: 2000 })
  for (;;) {
    const start = performance.now()
    const turn = running.next()
    most = Math.max(most, performance.now() - start)
    if (!turn.done) continue
    const total = performance.now() - begun
    const said = turn.value.relaxations.map(one => one.sentence).join('; ')
    console.log(`${name.padEnd(52)} ${total.toFixed(0).padStart(6)}, longest stretch ${most.toFixed(1)}: ${said}`)
    return
  }
}

function measureMemory(): void {
  // Before anything else is loaded, so that other garbage isn't counted.
  const before = usage()
  let snapshots = flatWorld(100_000)
  const start = performance.now()
  const table = load(snapshots)
  const loaded = performance.now() - start
  snapshots = []
  const bytes = (usage() - before) / 100_000
  answer(table, searchNow(table, request([group('', { VCPU: 1 })]), WORK_MAX), NEWEST)
  const cached = (usage() - before) / 100_000
  const claims = 1_000_000
  const startUse = performance.now()
  for (let i = 0; i < claims; i++) table.use(asId((i % 100_000) + 1), 'VCPU', i % 100, i)
  const claim = ((performance.now() - startUse) / claims) * 1e6
  const exact = globalThis.gc === undefined ? ' (run with --expose-gc for exact memory)' : ''
  console.log(`load of 100000 flat providers ${loaded.toFixed(0)} ms; a claim ${claim.toFixed(0)} ns`)
  console.log(`memory ${bytes.toFixed(0)} bytes a provider, ${cached.toFixed(0)} with every summary cached${exact}\n`)
}

function usage(): number {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
