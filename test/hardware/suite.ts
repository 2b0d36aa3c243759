// What every driver must do, whatever its machines are: one suite, and a small adapter for each driver.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Config } from '../../src/config/config.ts'
import { type Done, type Driver, type Machine, type Part, type Site, type Task } from '../../src/metal/drivers/port.ts'
import { interfacesFor } from '../../src/metal/drivers/registry.ts'
import type { Json } from '../../src/shared/json.ts'
import { Baremetal } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'
import { type Server, startServer } from '../support/server.ts'

/** A machine that tests look at from outside, not through the driver. */
export interface TestedMachine {
  driverInfo: Json
  /** What a deployment needs in instance_info. */
  instanceInfo: Json
  /** What it really is; null: nobody can tell but the driver. */
  power(): 'power on' | 'power off' | null
  /** What is in it from a deployment; empty after an undeploy. */
  left(): unknown[]
  /** What was done to it and must not be done twice, in order. */
  deeds(): string[]
}

export interface Tested {
  driver: string
  /** What the server must be told for it. */
  settings?: Partial<Config>
  /** The driver itself, for steps without a server. */
  make(): Driver
  /** A new machine. */
  machine(): Promise<TestedMachine>
  /** The machine's BMC is away, or fails in another way; what last_error must then say. */
  failures?: readonly { name: string; happens: (machine: TestedMachine) => void; says: RegExp }[]
  /** What no error may repeat. */
  secrets?: readonly string[]
  stop(): Promise<void>
}

/** Drivers ask again for a while before they give up. */
const FAILURE_MS = 120_000

export function suite(tested: Tested): void {
  void describe(`driver ${tested.driver}`, () => {
    let server: Server
    let api: Baremetal
    before(async () => {
      server = await startServer('sqlite::memory:', { mediaUrl: 'http://holdfast.example:8780', ...tested.settings })
      api = new Baremetal(server.origin)
    })
    after(async () => {
      await api.fsck()
      api.close()
      await server.stop()
      await tested.stop()
    })
    const nodeOf = ({ driverInfo }: TestedMachine, state: 'enroll' | 'manageable' | 'available') =>
      api.node({ driver: tested.driver, driver_info: driverInfo }, state)

    void test('a machine becomes available, and its power is known', async () => {
      const machine = await tested.machine()
      const shown = await api.show(await nodeOf(machine, 'available'))
      if (machine.power() !== null) assert.equal(shown.power_state, machine.power())
      assert.deepEqual([shown.last_error, shown.clean_step], [null, {}])
    })

    void test('power is what the machine really does', async () => {
      const machine = await tested.machine()
      const node = await nodeOf(machine, 'manageable')
      for (const [target, state] of [
        ['power on', 'power on'],
        ['power on', 'power on'],
        ['rebooting', 'power on'],
        ['power off', 'power off'],
        ['rebooting', 'power on'],
        ['soft power off', 'power off'],
      ] as const) {
        expectStatus(await api.put(`/v1/nodes/${node}/states/power`, { target }), 202)
        const shown = await api.until(node, 'manageable')
        assert.deepEqual([shown.power_state, shown.last_error], [state, null], target)
        assert.ok([state, null].includes(machine.power()), target)
      }
    })

    void test('a deployment leaves the machine on, and an undeploy leaves nothing of it', async () => {
      const machine = await tested.machine()
      const node = await nodeOf(machine, 'available')
      const patch = [{ op: 'add', path: '/instance_info', value: machine.instanceInfo }]
      expectStatus(await api.patch(`/v1/nodes/${node}`, patch), 200)
      const active = await api.go(node, 'active', 'active')
      assert.deepEqual([active.power_state, active.deploy_step], ['power on', {}])
      assert.ok(['power on', null].includes(machine.power()))
      const freed = await api.go(node, 'deleted', 'available')
      assert.deepEqual([freed.instance_info, freed.last_error], [{}, null])
      assert.ok(['power off', null].includes(machine.power()) || freed.power_state === 'power on')
      assert.deepEqual(machine.left(), [])
    })

    void test('a deployment that another conductor goes on with, at any part, does nothing twice', async () => {
      const undisturbed = await deployed(tested, [])
      for (let part = 0; part < undisturbed.parts.length; part++) {
        for (const when of ['before', 'after'] as const) {
          const { deeds, found } = await deployed(tested, [{ part, when }])
          assert.deepEqual(deeds, undisturbed.deeds, `died ${when} ${undisturbed.parts[part]}`)
          assert.equal(found.powerState, undisturbed.found.powerState)
        }
      }
    })

    void describe('failures', { concurrency: true }, () => {
      for (const { name, happens, says } of tested.failures ?? []) {
        void test(`${name}: the error says so, and other machines go on`, async () => {
          const [sick, well] = [await tested.machine(), await tested.machine()]
          const [node, other] = [await nodeOf(sick, 'enroll'), await nodeOf(well, 'manageable')]
          happens(sick)
          expectStatus(await api.provision(node, 'manage'), 202)
          await api.go(other, 'provide', 'available')
          const shown = await api.until(node, 'enroll', FAILURE_MS)
          assert.match(shown.last_error, says)
          for (const secret of tested.secrets ?? []) assert.ok(!shown.last_error.includes(secret))
        })
      }
    })
  })
}

class Died extends Error {}

interface Death {
  part: number
  when: 'before' | 'after'
}

/** Deploys a new machine with a driver whose conductor dies on the way, and another that goes on. */
async function deployed(tested: Tested, deaths: readonly Death[]) {
  const machine = await tested.machine()
  const driver = tested.make()
  const parts: string[] = []
  let begun = 0
  let found: Done = {}
  const begin = async (index: number, { interface: kind, step }: Part, death: Death | undefined) => {
    if (death?.when === 'after' && index === death.part + 1) throw new Died()
    begun = index
    parts[index] = `${kind} ${step}`
    if (death?.when === 'before' && index === death.part) throw new Died()
  }
  for (const death of [...deaths, undefined]) {
    const site: Site = {
      part: begun,
      begin: (index, part) => begin(index, part, death),
      note: async () => {},
      signal: new AbortController().signal,
    }
    const task: Task = { step: 'deploy', args: {}, resumed: false, attempt: 'a', holder: null }
    try {
      const result = await driver.run(task, machineOf(driver, machine), site)
      // After the last part nobody begins another: it dies before it has told of the end.
      if (death) continue
      found = result.kind === 'done' ? result.found : {}
    } catch (error) {
      if (!(error instanceof Died)) throw error
    }
  }
  await driver.stop?.()
  return { parts, found, deeds: machine.deeds() }
}

const machineOf = (driver: Driver, { driverInfo, instanceInfo }: TestedMachine): Machine => ({
  uuid: 'c0ffee00-0000-4000-8000-000000000001',
  name: null,
  resourceClass: null,
  powerState: null,
  driverInfo,
  driverInternalInfo: {},
  properties: {},
  extra: {},
  instanceInfo,
  instanceUuid: null,
  targetRaidConfig: {},
  interfaces: interfacesFor(driver, {}),
})
