// The life of a lease over a Nova, with one request of it going wrong: each in turn, in each way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NovaFault, SeenRequest, TestNova } from '../support/nova.ts'
import { isLong } from '../support/rounds.ts'
import { eachTestCloud, type TestCloud } from './clouds.ts'
import { eventually, Scene } from './scene.ts'

/** Holdfast's, and not the test's. */
const OURS = { version: '2.61', path: /flavors|servers|migrations/ }
/** All requests take six minutes, so that is for HOLDFAST_LONG=1; else every seventh goes wrong, another in each way. */
const STEP = isLong ? 1 : 7

const WAYS: [string, Pick<NovaFault, 'kind' | 'status'>][] = [
  ['the answer is lost', { kind: 'lost' }],
  ['it is not done', { kind: 'drop' }],
  ['the token is refused', { kind: 'status', status: 401 }],
  ['it fails', { kind: 'status', status: 500 }],
  ['it is busy', { kind: 'status', status: 503 }],
]

const asked = (nova: TestNova): SeenRequest[] =>
  nova.requests.filter(({ version, path }) => version === OURS.version && OURS.path.test(path))

/** A lease that is changed before it starts, with one server that stays in it and one that is resized out of it. */
async function live(over: TestCloud): Promise<void> {
  const scene = new Scene(over)
  await scene.enroll(2)
  await scene.outside(1)
  const lease = await scene.lease([scene.instances({ amount: 2 })])
  await eventually(async () => assert.notEqual(await scene.flavor(lease.reservation, 'root'), null))
  await scene.change(lease, { reservations: [{ id: lease.reservation, vcpus: 2 }] })
  await over.passTo(lease.start)
  await scene.until(lease, 'ACTIVE')
  await eventually(async () => assert.equal((await scene.flavor(lease.reservation))?.vcpus, 2))
  const [stays, leaves] = [await scene.running(lease.reservation), await scene.running(lease.reservation)]
  await scene.act(leaves, 'resize', { flavorRef: await scene.plainFlavor() }, 'alice')
  await scene.untilStatus(leaves, 'VERIFY_RESIZE')
  await scene.ended(lease)
  assert.equal(await scene.server(stays), null)
  assert.equal((await scene.untilStatus(leaves, 'ACTIVE'))['OS-EXT-STS:vm_state'], 'active')
  await eventually(async () => assert.equal((await scene.show(lease)).degraded, false))
  await scene.leave()
  const { nova } = over.cloud
  assert.deepEqual(nova.errors, [])
  assert.deepEqual(
    [...nova.flavors.values()].filter(({ name }) => name.startsWith('reservation:')),
    [],
  )
  assert.equal(nova.servers.size, 0)
}

eachTestCloud('a lease of which one request to Nova goes wrong', 'nova', over => {
  for (const [at, [name, fault]] of WAYS.entries()) {
    void test(name, async () => {
      const { nova } = over().cloud
      const before = asked(nova).length
      await live(over())
      const requests = asked(nova).slice(before)
      assert.ok(requests.length > 15)
      let [tried, struck] = [0, 0]
      for (let skip = at % STEP; skip < requests.length; skip += STEP) {
        const planned = nova.fail({ ...OURS, ...fault, skip, times: 1 })
        try {
          await live(over())
        } catch (error) {
          const { method, path } = requests[skip]!
          throw new Error(`with request ${skip}, such as ${method} ${path}`, { cause: error })
        }
        nova.heal()
        tried++
        if (planned.times === 0) struck++
      }
      // A life may do with a request less than another.
      assert.ok(struck > tried / 2, `${struck} of ${tried}`)
    })
  }
})
