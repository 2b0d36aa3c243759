// One fail-over under load, and what must be true after it.
import { setTimeout as sleep } from 'node:timers/promises'
import { Baremetal, waitFor } from '../support/baremetal.ts'
import type { Postgres } from '../support/postgres.ts'
import { clear, everything, type Kind, KINDS, type Load, startLoad, type World } from './load.ts'
import { ask, cutPower, type Pair, setSynchronous } from './pair.ts'
import { Promises } from './promises.ts'
import { differingMemory, type Service } from './service.ts'

/** What becomes of the old primary. */
export const ENDS = {
  killed: 'kill -9 of its postmaster',
  'power cut': 'kill -9 of all its processes at once',
  'left running': 'it lives on, as a primary that no longer has its standby',
  'comes back': 'kill -9, and later it is a primary again that nobody has demoted',
} as const
export type End = keyof typeof ENDS

export interface Scene {
  pair: Pair
  service: Service
  world: World
  database: string
}

export interface Figures {
  end: End
  /** Until every process had a claim answered: from the end of the old primary, and from the promotion. */
  claimMs: { fromEnd: number; fromPromotion: number }
  /** Until every process had an allocation decided by a conductor, or a lease answered, from the promotion. */
  allocationMs: number
  leaseMs: number
  counts: Promises['counts']
  faults: string[]
}

const DEADLINE_MS = 120_000
export const ENOUGH = { claim: 30, allocation: 3, hold: 3, lease: 3 }
/** Rows of the log. */
const LOOKED_AT = 100
const DAYS_MS = 10 * 24 * 3_600_000

export async function failOver(scene: Scene, end: End, seed: number, waitMs: number): Promise<Figures> {
  const { pair, service, world } = scene
  const promises = new Promises()
  const origins = service.apis.map(api => api.origin)
  const load = startLoad({ origins, world, promises, seed })
  let old: Postgres
  let endedAt: number
  let promotedAt: number
  try {
    await until('the load runs', load, ENOUGH, 0)
    endedAt = performance.now()
    if (end === 'power cut') await cutPower(pair.primary)
    else if (end !== 'left running') await pair.primary.kill9()
    // As long as it takes to notice.
    await sleep(waitMs)
    old = await pair.promote()
    promotedAt = performance.now()
    await until('every process serves again', load, ENOUGH, promotedAt)
    if (end === 'comes back') await goOnBeside(scene, old, load, promises)
  } finally {
    await load.stop()
  }
  if (end === 'left running') await checkNothingMore(scene, old, promises)
  if (end === 'comes back' || end === 'left running') await checkLeft(scene, old, promises)
  await old.kill9()
  await checkAll(scene, promises)
  const first = (kind: Kind) => Math.max(...load.successes.map(all => all[kind].find(at => at > promotedAt)!))
  return {
    end,
    claimMs: { fromEnd: first('claim') - endedAt, fromPromotion: first('claim') - promotedAt },
    allocationMs: first('allocation') - promotedAt,
    leaseMs: first('lease') - promotedAt,
    counts: promises.counts,
    faults: promises.faults,
  }
}

/** Whether every process has had so many of each kind answered after this time. */
export const hasEnough = (load: Load, enough: Record<Kind, number>, since: number): boolean =>
  load.successes.every(all => KINDS.every(kind => all[kind].filter(at => at > since).length >= enough[kind]))

/** Waits until every process has had so many. */
export async function until(
  what: string,
  load: Load,
  enough: Record<Kind, number>,
  since: number,
  deadlineMs = DEADLINE_MS,
): Promise<void> {
  await waitFor(what, async () => hasEnough(load, enough, since), deadlineMs)
}

/** The old primary is started again and takes writes, and nobody must go back to it. */
async function goOnBeside({ database }: Scene, old: Postgres, load: Load, promises: Promises): Promise<void> {
  await old.restart()
  await setSynchronous(old, '')
  const before = JSON.stringify(await written(old, database))
  await until('every process goes on beside the old primary', load, ENOUGH, performance.now())
  const isSame = JSON.stringify(await written(old, database)) === before
  if (!isSame) promises.faults.push('someone wrote to the old primary, which was left behind')
}

/** What was last written down there. */
const written = (server: Postgres, database: string) =>
  ask<object>(server, `select id, at, action, objects from log order by id desc limit ${LOOKED_AT}`, database)

/** Nobody works with a primary that a promotion has left behind, but for commits that wait there for ever. */
async function checkLeft({ database }: Scene, old: Postgres, promises: Promises): Promise<void> {
  const AT_WORK = `select application_name from pg_stat_activity where datname = '${database}'
    and application_name like 'holdfast%' and application_name <> 'holdfast probe' and wait_event is distinct from 'SyncRep'`
  await waitFor('nobody works with the old primary', async () => (await ask(old, AT_WORK)).length === 0).catch(
    (error: unknown) => promises.faults.push(String(error)),
  )
}

/** All that can be seen on a primary that lost its standby is also on the one that was promoted. */
async function checkNothingMore({ pair, database }: Scene, old: Postgres, promises: Promises): Promise<void> {
  const seen = await written(old, database)
  const ids = seen.map(row => (row as { id: string }).id)
  const sql = `select id, at, action, objects from log where id in (${ids.join()}) order by id desc`
  const kept = await ask<object>(pair.primary, sql, database)
  if (JSON.stringify(kept) !== JSON.stringify(seen))
    promises.faults.push('the old primary shows what the new one lacks')
}

export async function checkAll(
  { service, world }: Pick<Scene, 'service' | 'world'>,
  promises: Promises,
): Promise<void> {
  const { origin } = service.apis[0]!
  const found = await everything(origin, world)
  for (const kind of KINDS) promises.check(kind, found[kind])
  promises.checkNobodySharedANode()
  const window = [Date.now(), Date.now() + DAYS_MS].map(at => new Date(at).toISOString()).join('/')
  promises.faults.push(...(await differingMemory(service, window)))
  for (const api of service.apis) {
    const answer = await fetch(`${api.origin}/holdfast/v1/fsck`, { headers: { 'x-auth-token': 'admin' } })
    const report = (await answer.json()) as { violations: number; invariants: { violations: number }[] }
    const violated = report.invariants.filter(({ violations }) => violations > 0)
    if (report.violations !== 0) promises.faults.push(`fsck: ${JSON.stringify(violated)}`)
  }
  await clear(origin, world)
  await atRest(origin, world)
}

/** Every node is free again, and nothing has it locked. */
async function atRest(origin: string, { nodes }: World): Promise<void> {
  const metal = new Baremetal(origin)
  for (const node of nodes) await metal.until(node, 'available', DEADLINE_MS)
  metal.close()
}
