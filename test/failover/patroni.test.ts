// A real Patroni cluster under load, set up as docs/DEPLOYING.md says: whatever becomes of its members, nothing that was
// answered is lost, unless the database was put back and Holdfast refused it and said so.
import assert from 'node:assert/strict'
import { after, before, describe, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitFor } from '../support/baremetal.ts'
import { Placement } from '../support/placement.ts'
import { clear, makeWorld, startLoad, type World } from './load.ts'
import { Cluster, lacksPatroni } from './patroni.ts'
import { Promises } from './promises.ts'
import { checkAll, ENOUGH, hasEnough, until } from './round.ts'
import { type Service, startService } from './service.ts'

const DATABASE = 'holdfast'
/** Only a test that fails waits so long. */
const DEADLINE_MS = 300_000
const REFUSED = /lacks what was answered on timeline \d+.*restart all its processes/
/** Longer than `ttl`. */
const ETCD_AWAY_MS = 40_000
const SETTLE_MS = 120_000
const lacking = lacksPatroni()

describe('a Patroni cluster', { timeout: 1_800_000, skip: lacking ?? false }, () => {
  let cluster: Cluster
  let service: Service
  let world: World
  let seed = 1
  before(async () => {
    cluster = await Cluster.start()
    await cluster.createDatabase(DATABASE)
    service = await startService(cluster.url(DATABASE))
    world = await makeWorld(service.apis[0]!.origin)
  })
  after(async () => {
    await service?.stop()
    await cluster?.stop()
  })

  const isRefused = async () => {
    const answers = await Promise.all(service.apis.map(async ({ origin }) => (await fetch(`${origin}/readyz`)).text()))
    return answers.every(text => REFUSED.test(text))
  }

  /** Something happens under load. Returns whether the database was refused at last, and was not served from then on. */
  async function during(t: TestContext, act: () => Promise<void>): Promise<'served' | 'refused'> {
    const promises = new Promises()
    const load = startLoad({ origins: service.apis.map(({ origin }) => origin), world, promises, seed: seed++ })
    let outcome: 'served' | 'refused' = 'refused'
    try {
      await until('the load runs', load, ENOUGH, 0, DEADLINE_MS)
      await act()
      const since = performance.now()
      const isDecided = async () => {
        if (hasEnough(load, ENOUGH, since)) outcome = 'served'
        return outcome === 'served' || isRefused()
      }
      await waitFor('every process serves again, or refuses', isDecided, DEADLINE_MS)
    } finally {
      await load.stop()
    }
    t.diagnostic(`${outcome}: ${JSON.stringify(promises.counts)}`)
    if (outcome === 'refused') return outcome
    await checkAll({ service, world }, promises)
    assert.deepEqual(promises.faults, [], cluster.log)
    return outcome
  }

  test('loses nothing in a switchover', async t => {
    const { leader } = await cluster.settled()
    const outcome = await during(t, async () => {
      cluster.switchOver()
      await cluster.leaderOtherThan(leader)
    })
    assert.equal(outcome, 'served')
  })

  test('loses nothing when the primary’s machine dies, Patroni and PostgreSQL', async t => {
    const { leader } = await cluster.settled()
    let bringBack = () => {}
    const outcome = await during(t, async () => {
      bringBack = cluster.cutPower(leader)
      await cluster.leaderOtherThan(leader)
    })
    bringBack()
    assert.equal(outcome, 'served')
  })

  test('loses nothing when PostgreSQL of the primary is frozen and wakes, unless the database is refused', async t => {
    const { leader } = await cluster.settled()
    const outcome = await during(t, async () => {
      const goOn = cluster.freeze(leader)
      await cluster.leaderOtherThan(leader).finally(goOn)
      // The old one follows, or has put itself back and the new one is rewound. It may take long, which isn't ours to judge.
      await cluster.settled(SETTLE_MS).catch(() => {})
    })
    if (outcome === 'served') return
    // The operator accepts the loss.
    await service.stop()
    service = await startService(cluster.url(DATABASE))
    const { origin } = service.apis[0]!
    await clear(origin, world)
    const placement = new Placement(origin)
    await placement.fsck()
    placement.close()
  })

  // The last one: afterwards Patroni 3.0.2 no longer knows its synchronous replica, until it is started anew.
  test('loses nothing while etcd is away', async t => {
    const outcome = await during(t, async () => {
      const goOn = cluster.freezeEtcd()
      await sleep(ETCD_AWAY_MS)
      goOn()
    })
    assert.equal(outcome, 'served')
  })
})
