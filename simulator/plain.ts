// The clients against real servers in real time, without faults: shows that actors, model and checks are right on sound
// code, and find mutants that need no race. `node simulator/plain.ts MIX [MUTANT] [SEED]`.
import pg from 'pg'
import { mutantNamed } from './mutants.ts'
import { applyMutant } from './mutate.ts'
import type { Finding, Request, Service } from './port.ts'

const [mix = 'claims', mutant = '', seed = '1'] = process.argv.slice(2)
if (mutant !== '') applyMutant(mutantNamed(mutant))

const { loadConfig } = await import('../src/config/config.ts')
const { driversOf } = await import('../src/metal/drivers/registry.ts')
const { FakeHardware } = await import('../src/metal/drivers/fake.ts')
const { assembleApi } = await import('../src/process/serve.ts')
const { migrated } = await import('../test/support/server.ts')
const { sharedPostgres } = await import('../test/support/postgres.ts')
const { Cast } = await import('./cast.ts')
const { Stream } = await import('./chance.ts')
const { Metrics } = await import('../src/measure/metrics.ts')
const { createLog } = await import('../src/measure/log.ts')
const { checkEverything } = await import('../src/measure/fsck.ts')

const log = createLog('silent')
const TAKE_OVER_MS = 5_000
const sleep = (ms: number) => new Promise<void>(resolve => void setTimeout(resolve, ms))

const postgres = await sharedPostgres()
const database = await migrated(await postgres.createEmpty())
await using opened = new AsyncDisposableStack()
opened.defer(() => postgres.stop())
const deeds: { node: string; process: string; step: string; began: number; ended: number | null; isDone: boolean }[] =
  []

/** Says what it has done. */
class Machines extends FakeHardware {
  readonly #process: string

  constructor(process: string) {
    super({ delayMs: 20, pause: sleep })
    this.#process = process
  }

  override async run(...[task, machine, site]: Parameters<InstanceType<typeof FakeHardware>['run']>) {
    const deed = {
      node: machine.uuid,
      process: `${this.#process}.1`,
      step: task.step as string,
      began: Date.now(),
      ended: null as number | null,
      isDone: false,
    }
    deeds.push(deed)
    const result = await super.run(task, machine, site)
    deed.ended = Date.now()
    deed.isDone = result.kind === 'done'
    return result
  }
}

const servers: Awaited<ReturnType<typeof assembleApi>>[] = []
for (const conductorName of ['p0', 'p1']) {
  const config = loadConfig(
    { port: 0, auth: 'noauth2', placementPolicy: 'legacy', logLevel: 'silent', conductorName },
    {},
    undefined,
  )
  const drivers = driversOf(new Machines(conductorName))
  const made = await assembleApi({ ...config, database, takeOverMs: TAKE_OVER_MS }, 'serve', opened, {
    drivers,
    log,
    metrics: new Metrics(),
  })
  await made.app.ready()
  servers.push(made)
}
const sql = new pg.Client({
  connectionString: database,
  types: {
    getTypeParser: (oid, format) =>
      (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as never,
  },
})
await sql.connect()
opened.defer(() => sql.end())

const chance = new Stream(seed)
const travel = chance.stream('travel')
const service: Service = {
  now: () => Date.now(),
  sleep,
  async send({ method, url, headers, body }: Request, process?: number) {
    const { app } = process === undefined ? travel.pick(servers) : servers[process % servers.length]!
    const answer = await app.inject({
      method,
      url,
      headers: headers ?? {},
      ...(body !== undefined && { payload: body as object }),
    })
    const { payload } = answer
    let read: unknown = payload === '' ? null : payload
    try {
      read = payload === '' ? null : JSON.parse(payload)
    } catch {
      // A text.
    }
    return { status: answer.statusCode, headers: answer.headers as Record<string, string>, body: read }
  },
}
const inside = {
  dialect: 'postgres' as const,
  rows: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
    (await sql.query(text, [...values])).rows as Row[],
  now: () => Date.now(),
  takeOverMs: TAKE_OVER_MS,
  memories: () => servers.map(({ memory }, i) => ({ name: `p${i}`, memory })),
  deeds,
  conductors: () => servers.map((_, i) => `p${i}`),
  outage: { since: 0, until: 0 },
}
const findings: Finding[] = []
const told = (finding: Finding) => {
  if (findings.push(finding) <= 10) console.log(`${finding.check}: ${finding.text}`)
}
const take = (found: readonly Finding[]) => found.forEach(told)
const loadMs = Number(process.env['LOAD_MS'] ?? 6_000)
const cast = new Cast({ mix, service, chance, told, loadMs, pauseMs: 150 })
const over = new AbortController()
const watching = (async () => {
  while (!over.signal.aborted) {
    take(await cast.afterCommit(inside))
    await sleep(5)
  }
})()
await cast.prepare()
await cast.act()
const quietSince = Date.now()
await sleep(Number(process.env['SETTLE_MS'] ?? 7_000))
take(await cast.whenQuiet(inside))
take(await cast.examine(inside, quietSince))
const store = servers[0]!.memory && (await import('../src/store/open.ts')).openStore(database)
for (const { invariant, violations } of await checkEverything(store)) {
  if (violations > 0) told({ check: 'fsck', text: `${invariant}: ${violations}` })
}
await store.close()
over.abort()
await watching
console.log(`${mix}${mutant && ` with ${mutant}`}: ${findings.length} findings`)
await opened.disposeAsync()
process.exit(findings.length === 0 ? 0 : 1)
