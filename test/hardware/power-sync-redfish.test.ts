// The power sync of a running server, with BMCs that speak Redfish.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eachMetal, newClass, uuid, waitFor } from '../support/baremetal.ts'
import { startBmc, type TestBmc } from '../support/bmc.ts'
import { expectStatus } from '../support/placement.ts'

const PERIOD_SECONDS = 0.2

eachMetal(
  'power sync with redfish',
  api => {
    const bmcs: (TestBmc & { stop(): Promise<void> })[] = []
    before(async () => {
      for (let i = 0; i < 2; i++) bmcs.push(await startBmc({ machines: [{}] }))
    })
    after(() => Promise.all(bmcs.map(bmc => bmc.stop())))

    const newNode = async (bmc: TestBmc, more: object = {}) => {
      const node = await api.node({ driver: 'redfish', driver_info: bmc.driverInfo(), ...more })
      await api.go(node, 'manage', 'manageable')
      return node
    }
    const until = (node: string, what: string, holds: (shown: Record<string, unknown>) => boolean) =>
      waitFor(`${node} ${what}`, async () => {
        const shown = await api.show(node)
        return holds(shown) && shown
      })

    void test('the power that someone switched is seen', async () => {
      const bmc = bmcs[0]!
      const node = await newNode(bmc)
      for (const [word, state] of [
        ['On', 'power on'],
        ['Off', 'power off'],
      ] as const) {
        bmc.machine.power = word
        await until(node, `is ${state}`, ({ power_state }) => power_state === state)
      }
      const { history } = expectStatus(await api.get(`/v1/nodes/${node}/history`), 200).body
      assert.equal(history.at(-1).event, 'Power changed behind our back: it was on and is off.')
      expectStatus(await api.put(`/v1/nodes/${node}/maintenance`, {}), 202)
    })

    void test('a BMC that refuses its login takes the node out of use, others stay, and it comes back', async () => {
      const [bmc, other] = [bmcs[0]!, bmcs[1]!]
      const resource_class = newClass()
      const [node, neighbour] = [await newNode(bmc, { resource_class }), await newNode(other)]
      const instance_uuid = uuid()
      expectStatus(await api.change(node, 'instance_uuid', instance_uuid), 200)
      const password = bmc.password
      bmc.password = 'changed-by-hand'
      bmc.forgetSessions()
      const out = await until(node, 'is in maintenance', ({ maintenance }) => maintenance === true)
      assert.deepEqual([out.fault, out.power_state, out.instance_uuid], ['power failure', null, instance_uuid])
      assert.match(out.maintenance_reason, /^The power could not be read 4 times in a row: ./)
      const said = JSON.stringify(expectStatus(await api.get(`/v1/nodes/${node}/history/detail`), 200).body)
      for (const secret of [password, bmc.password])
        assert.ok(!said.includes(secret) && !JSON.stringify(out).includes(secret))
      assert.equal((await api.show(neighbour)).maintenance, false)
      bmc.password = password
      const back = await until(node, 'is back', ({ maintenance }) => maintenance === false)
      assert.deepEqual([back.fault, back.maintenance_reason, back.instance_uuid], [null, null, instance_uuid])
      assert.notEqual(back.power_state, null)
    })

    void test('a machine whose holder leaves while its BMC is away is taken back when the BMC is there again', async () => {
      const bmc = bmcs[0]!
      const resource_class = newClass()
      const driver_info = { ...bmc.driverInfo(), boot_iso: 'http://images.example/boot.iso' }
      const node = await api.node({ driver: 'redfish', driver_info, resource_class }, 'available')
      const { uuid: allocation } = await api.allocated({ resource_class })
      await api.go(node, 'active', 'active')
      const { password } = bmc
      bmc.password = 'changed-by-hand'
      bmc.forgetSessions()
      await until(node, 'is in maintenance', ({ maintenance }) => maintenance === true)
      expectStatus(await api.del(`/v1/allocations/${allocation}`), 204)
      const left = await api.show(node)
      assert.deepEqual([left.provision_state, left.instance_uuid], ['active', null])
      bmc.password = password
      await api.until(node, 'available')
      assert.deepEqual([bmc.machine.power, bmc.machine.cd['Inserted']], ['Off', false])
    })

    void test('the duty is among those that operators see, and its looks are counted', async () => {
      const { body } = expectStatus(await api.operator('GET', '/health'), 200)
      assert.ok(JSON.stringify(body).includes('power sync'))
      const metrics = await (await fetch(`${api.origin}/metrics`)).text()
      assert.match(metrics, /holdfast_power_look_seconds_count\{outcome="same"\} [1-9]/)
      assert.match(metrics, /holdfast_power_sync_nodes [1-9]/)
    })
  },
  { powerSyncSeconds: PERIOD_SECONDS },
)
