// Side by side with the real Placement: the same ten clients ask both for the same, in turns.
import { SMALL_QUESTION } from './candidates-cases.ts'
import { candidatesText, Connection } from './candidates-client.ts'
import type { BenchOptions, StoreName } from './options.ts'
import { askOnce, missingForPlacement, startPlacement } from './real-placement.ts'
import { figure, type Report } from './report.ts'
import * as requests from './requests.ts'
import { freePort, holdfast, type Server, startServer } from './server.ts'
import { median } from './statistics.ts'
import { type BenchStore, openStore } from './stores.ts'

const CLIENTS = 10
const PROVIDERS = 1_000
const TOTAL = 1_000_000_000
const WARM_UP_SECONDS = 2
const CONFLICT = 409
const AGGREGATE = '00000000-0000-4000-8000-0000000000a6'

type Ask = (request: string) => Promise<{ status: number; text: string }>

interface Subject {
  name: string
  /** A client with a connection of its own. */
  client: () => { ask: Ask; close: () => void }
  providers: string[]
  /** Of the server and its database. */
  cpuSeconds(): number
  stop(): Promise<void>
}

interface Work {
  name: string
  /** At least so many times the real one. */
  goals?: Record<StoreName, number>
  act: (ask: Ask, providers: readonly string[]) => Promise<void>
}

const WORKS: Work[] = [
  { name: 'claim, spread', goals: { sqlite: 100, postgres: 60 }, act: (ask, all) => claim(ask, anyOf(all)) },
  { name: 'claim, one hot provider', goals: { sqlite: 200, postgres: 80 }, act: (ask, all) => claim(ask, all[0]!) },
  { name: 'POST of 2 consumers', goals: { sqlite: 100, postgres: 60 }, act: claimTwo },
  { name: 'candidates and claim', goals: { sqlite: 300, postgres: 120 }, act: searchAndClaim },
  { name: 'candidates, limit 10', act: async ask => void (await search(ask)) },
  { name: 'new provider, 4 requests', goals: { sqlite: 40, postgres: 10 }, act: makeProvider },
]

export async function benchPlacement(options: BenchOptions): Promise<Report> {
  const report: Report = {
    title: `Beside the real Placement on PostgreSQL, ${CLIENTS} clients`,
    measured: { columns: ['request', 'store', 'a second', 'the real one', 'times', 'less CPU, times'], rows: [] },
    limits: { columns: ['besides', ''], rows: [] },
    goals: [],
    faults: [],
  }
  const missing = missingForPlacement()
  if (missing !== undefined) {
    report.limits.rows.push(['left out', missing])
    return report
  }
  const postgres = await openStore('postgres')
  const sqlite = await openStore('sqlite')
  const subjects: Subject[] = []
  try {
    options.progress('the real Placement starts')
    const real = await startReal(postgres)
    subjects.push(real)
    for (const name of options.stores) {
      const store = name === 'postgres' ? postgres : sqlite
      subjects.push(await startOurs(store))
    }
    const count = options.seconds < 1 ? PROVIDERS / 10 : PROVIDERS
    for (const subject of subjects) {
      options.progress(`${subject.name}: ${count} providers`)
      await fill(subject, count)
    }
    for (const work of WORKS) await compare(work, real, subjects.slice(1), options, report)
  } finally {
    for (const subject of subjects) await subject.stop()
    await sqlite.stop()
    await postgres.stop()
  }
  return report
}

async function startReal(store: BenchStore): Promise<Subject> {
  const server = await startPlacement(await store.database())
  // Its API is at the root.
  const ask: Ask = request => askOnce(server.port, request.replace(' /placement/', ' /'))
  return { name: 'real', client: () => ({ ask, close: () => {} }), ...subjectOf(server, store) }
}

async function startOurs(store: BenchStore): Promise<Subject> {
  const port = await freePort()
  const database = await store.database()
  const argv = [holdfast, 'serve', '--port', `${port}`, '--database', database, '--auth', 'noauth2']
  const server = await startServer({ argv, port, readyPath: '/placement/' })
  const client = () => {
    const connection = new Connection(port)
    return { ask: (request: string) => connection.send(request, true), close: () => connection.close() }
  }
  return { name: store.name, client, ...subjectOf(server, store) }
}

function subjectOf(server: Server, store: BenchStore): Omit<Subject, 'name' | 'client'> {
  const cpuSeconds = () => server.cpuSeconds() + store.cpuSeconds()
  return { providers: [], cpuSeconds, stop: async () => void (await server.stop()) }
}

async function fill(subject: Subject, count: number): Promise<void> {
  await clients(
    subject,
    () => subject.providers.length < count,
    async ask => {
      const uuid = crypto.randomUUID()
      subject.providers.push(uuid)
      await expect(ask, requests.createProvider(uuid), 200)
      await expect(ask, requests.setInventories(uuid, TOTAL), 200)
    },
  )
}

/** Lets all clients repeat an act while it goes on. Returns how often it was done. */
async function clients(subject: Subject, goesOn: () => boolean, act: (ask: Ask) => Promise<void>): Promise<number> {
  let done = 0
  const one = async () => {
    const { ask, close } = subject.client()
    while (goesOn()) {
      await act(ask)
      done++
    }
    close()
  }
  await Promise.all(Array.from({ length: CLIENTS }, one))
  return done
}

interface Turn {
  perSecond: number
  cpuSeconds: number
}

async function turn(subject: Subject, work: Work, seconds: number): Promise<Turn> {
  const start = performance.now()
  const before = subject.cpuSeconds()
  const goesOn = () => performance.now() - start < seconds * 1000
  const done = await clients(subject, goesOn, ask => work.act(ask, subject.providers))
  const perSecond = (done * 1000) / (performance.now() - start)
  return { perSecond, cpuSeconds: (subject.cpuSeconds() - before) / done }
}

async function compare(work: Work, real: Subject, ours: readonly Subject[], options: BenchOptions, report: Report) {
  options.progress(work.name)
  for (const subject of [real, ...ours]) await turn(subject, work, Math.min(WARM_UP_SECONDS, options.seconds))
  const rounds: { real: Turn; ours: Turn[] }[] = []
  for (let round = 0; round < options.rounds; round++) {
    const one = { real: await turn(real, work, options.seconds), ours: [] as Turn[] }
    for (const subject of ours) one.ours.push(await turn(subject, work, options.seconds))
    rounds.push(one)
  }
  for (const [at, { name }] of ours.entries()) {
    const of = (value: (own: Turn, real: Turn) => number) => median(rounds.map(one => value(one.ours[at]!, one.real)))
    const times = of((own, others) => own.perSecond / others.perSecond)
    const rates = [of(own => own.perSecond), of((_, others) => others.perSecond), times]
    const cpuTimes = of((own, others) => others.cpuSeconds / own.cpuSeconds)
    report.measured.rows.push([work.name, name, ...[...rates, cpuTimes].map(figure)])
    const atLeast = work.goals?.[name as StoreName]
    if (atLeast) report.goals.push({ text: `${name}: ${work.name}, times the real Placement`, value: times, atLeast })
  }
}

/** Conflicts by generation are repeated, as clients of Placement do. */
async function expect(ask: Ask, request: string, status: number): Promise<string> {
  for (;;) {
    const answer = await ask(request)
    if (answer.status === status) return answer.text
    if (answer.status !== CONFLICT) throw new Error(`answered ${answer.status}: ${answer.text.slice(0, 500)}`)
  }
}

const anyOf = (all: readonly string[]) => all[Math.floor(Math.random() * all.length)]!

async function claim(ask: Ask, provider: string): Promise<void> {
  await expect(ask, requests.putAllocation(crypto.randomUUID(), provider, 3), 204)
}

async function claimTwo(ask: Ask, all: readonly string[]): Promise<void> {
  const two = [0, 1].map(() => ({ consumer: crypto.randomUUID(), provider: anyOf(all) }))
  await expect(ask, requests.postAllocations(two, 3), 204)
}

async function search(ask: Ask): Promise<string[]> {
  const text = await expect(ask, candidatesText(`${SMALL_QUESTION}&limit=10`), 200)
  const found = JSON.parse(text) as { allocation_requests: { allocations: Record<string, object> }[] }
  return found.allocation_requests.flatMap(({ allocations }) => Object.keys(allocations))
}

async function searchAndClaim(ask: Ask): Promise<void> {
  await claim(ask, anyOf(await search(ask)))
}

async function makeProvider(ask: Ask): Promise<void> {
  const uuid = crypto.randomUUID()
  await expect(ask, requests.createProvider(uuid), 200)
  await expect(ask, requests.setInventories(uuid, TOTAL), 200)
  const put = (what: string, body: object) =>
    expect(ask, requests.withBody('PUT', `/resource_providers/${uuid}/${what}`, JSON.stringify(body)), 200)
  await put('traits', { resource_provider_generation: 1, traits: ['COMPUTE_NODE', 'HW_CPU_X86_VMX'] })
  await put('aggregates', { resource_provider_generation: 2, aggregates: [AGGREGATE] })
}
