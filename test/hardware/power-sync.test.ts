// Power that changes behind our back is written down; machines that don't answer go out of use, and come back.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { pino } from 'pino'
import { recorded } from '../../src/audit/record.ts'
import { witnessOf } from '../../src/audit/witness.ts'
import { systemClock } from '../../src/clock/clock.ts'
import { EVERYTHING } from '../../src/metal/access.ts'
import { signIn } from '../../src/metal/conductors/rows.ts'
import { FakeHardware } from '../../src/metal/drivers/fake.ts'
import { type Driver, HardwareFailure, type Machine, type PowerState } from '../../src/metal/drivers/port.ts'
import { driversOf } from '../../src/metal/drivers/registry.ts'
import { listHistory } from '../../src/metal/history/rows.ts'
import { createNode, setMaintenance } from '../../src/metal/nodes/lifecycle.ts'
import { NOBODY } from '../../src/metal/nodes/provider.ts'
import { findNode, lockNodeById, saveNode } from '../../src/metal/nodes/rows.ts'
import { startPower } from '../../src/metal/nodes/transitions.ts'
import { PowerSync } from '../../src/metal/power-sync/sync.ts'
import { limits } from '../../src/shared/limits.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { uuid, waitFor } from '../support/baremetal.ts'
import { FaultyStore } from '../support/faulty-store.ts'
import { eachDatabase } from '../support/stores.ts'

const clock = systemClock
const log = pino({ level: 'silent' })
const witness = witnessOf({ clock, isAudited: true }, () => 'c1')
const entry = () => witness({ action: 'test', outcome: 'done' })

/** Machines whose power the test sets, and which can be away or hang. */
class Machines extends FakeHardware implements Driver {
  override readonly name = 'machines'
  readonly power = new Map<string, PowerState | 'away' | 'hangs' | 'broken'>()
  readonly asked: string[] = []
  /** Called between the question and its answer. */
  meanwhile: (uuid: string) => Promise<unknown> = async () => {}

  constructor() {
    super({ delayMs: 0, pause: async () => {} })
  }

  async readPower({ uuid }: Machine, _signal: AbortSignal): Promise<PowerState> {
    this.asked.push(uuid)
    const power = this.power.get(uuid) ?? 'power off'
    if (power === 'hangs') return new Promise<never>(() => {})
    await this.meanwhile(uuid)
    if (power === 'away') throw new HardwareFailure('no route to (an address)')
    if (power === 'broken') throw new TypeError('x is not a function')
    return power
  }
}

const conductor = (hostname: string, drivers = ['machines']) => ({ hostname, incarnation: uuid(), group: '', drivers })

eachDatabase('power sync', ({ create }) => {
  let store: Store
  let faulty: FaultyStore
  let machines: Machines
  let sync: PowerSync

  const syncOf = (hostname: string, more: object = {}) =>
    new PowerSync({
      store: faulty,
      clock,
      log,
      drivers: driversOf(machines),
      witness,
      group: '',
      hostname: () => hostname,
      silentMs: 60_000,
      periodMs: 60_000,
      ...more,
    })
  const rounds = async (count: number) => {
    for (let i = 0; i < count; i++) await sync.round()
  }
  const newNode = async (state: 'available' | 'enroll' = 'available', attributes: object = {}): Promise<string> => {
    const wanted = { uuid: uuid(), attributes: { driver: 'machines', ...attributes }, state }
    return (await store.write(() => recorded(createNode(wanted, driversOf(machines), NOBODY, clock.now()), entry())))
      .uuid
  }
  const show = (ident: string) => store.read(() => findNode(ident, EVERYTHING))
  const eventsOf = async (ident: string) => {
    const { id } = await show(ident)
    const lines = await store.read(() => listHistory(id, { descending: false, limit: 1_000, marker: null }))
    return lines.map(({ event }) => event)
  }
  const maintain = (ident: string, reason: string | null | false) =>
    store.write(() => recorded(setMaintenance(ident, EVERYTHING, reason, clock.now()), entry()))

  before(async () => {
    store = openStore(await create())
    await store.write(() => signIn(conductor('c1'), true, 1_000, 'spare'))
  })
  after(() => store.close())

  const fresh = () => {
    faulty = new FaultyStore(store)
    machines = new Machines()
    sync = syncOf('c1')
  }

  void test('what the machine says is written down, and said in the history', async () => {
    fresh()
    const node = await newNode()
    await rounds(1)
    assert.equal((await show(node)).power_state, 'power off')
    const { revision } = await show(node)
    await rounds(2)
    assert.equal((await show(node)).revision, revision, 'what is so already is not written again')
    machines.power.set(node, 'power on')
    await rounds(1)
    assert.equal((await show(node)).power_state, 'power on')
    assert.deepEqual((await eventsOf(node)).slice(1), [
      'Power is off, as the machine says.',
      'Power changed behind our back: it was off and is on.',
    ])
  })

  void test('a machine that does not answer four times goes out of use, and comes back by itself', async () => {
    fresh()
    const node = await newNode()
    await rounds(1)
    machines.power.set(node, 'away')
    await rounds(limits.powerFailuresMax - 1)
    assert.equal((await show(node)).maintenance, 0)
    await rounds(1)
    const out = await show(node)
    assert.deepEqual([out.maintenance, out.fault, out.power_state], [1, 'power failure', null])
    assert.equal(out.maintenance_reason, 'The power could not be read 4 times in a row: no route to (an address)')
    await rounds(3)
    assert.equal((await show(node)).revision, out.revision, 'it is told once')
    machines.power.set(node, 'power on')
    await rounds(1)
    const back = await show(node)
    assert.deepEqual(
      [back.maintenance, back.fault, back.maintenance_reason, back.power_state],
      [0, null, null, 'power on'],
    )
    assert.deepEqual((await eventsOf(node)).slice(2), [
      'Power changed from off to unknown.',
      `Maintenance began: ${out.maintenance_reason}`,
      'Power is on, as the machine says.',
      'Maintenance is over.',
    ])
  })

  void test('one answer in between, and the count begins anew', async () => {
    fresh()
    const node = await newNode()
    for (let i = 0; i < 3; i++) {
      machines.power.set(node, 'away')
      await rounds(limits.powerFailuresMax - 1)
      machines.power.set(node, 'power off')
      await rounds(1)
    }
    assert.equal((await show(node)).maintenance, 0)
  })

  void test("a person's maintenance is left alone, also when it began as ours", async () => {
    fresh()
    const [theirs, taken] = [await newNode(), await newNode()]
    await maintain(theirs, 'new fans')
    for (const node of [theirs, taken]) machines.power.set(node, 'away')
    await rounds(limits.powerFailuresMax + 1)
    const untouched = await show(theirs)
    assert.deepEqual([untouched.maintenance_reason, untouched.fault], ['new fans', null])
    assert.ok(!machines.asked.includes(theirs))
    assert.equal((await show(taken)).fault, 'power failure')
    await maintain(taken, 'I look at it')
    for (const node of [theirs, taken]) machines.power.set(node, 'power on')
    await rounds(2)
    assert.equal((await show(taken)).maintenance_reason, 'I look at it')
    assert.equal((await show(theirs)).maintenance_reason, 'new fans')
  })

  void test('a person ends the maintenance: the machine gets as many tries as at first', async () => {
    fresh()
    const node = await newNode()
    machines.power.set(node, 'away')
    await rounds(limits.powerFailuresMax + 2)
    await maintain(node, false)
    await rounds(limits.powerFailuresMax - 1)
    assert.deepEqual([(await show(node)).maintenance, (await show(node)).fault], [0, null])
    await rounds(1)
    assert.equal((await show(node)).maintenance, 1)
  })

  void test('a verb that begins while the machine is asked wins', async () => {
    fresh()
    const node = await newNode()
    await rounds(1)
    machines.power.set(node, 'power on')
    machines.meanwhile = asked =>
      asked === node
        ? store.write(() => startPower(node, EVERYTHING, { target: 'rebooting', args: {} }, clock.now()))
        : Promise.resolve()
    await rounds(1)
    const now = await show(node)
    assert.deepEqual([now.power_state, now.target_power_state], ['power off', 'power on'])
    machines.meanwhile = async () => {}
    machines.asked.length = 0
    await rounds(1)
    assert.ok(!machines.asked.includes(node), 'nobody asks while a conductor is to switch it')
  })

  void test('enrolled nodes are not asked, nor those of other drivers and groups', async () => {
    fresh()
    await store.write(() => signIn({ ...conductor('g1'), group: 'other' }, true, 1_000, 'spare'))
    const [enrolled, elsewhere] = [await newNode('enroll'), await newNode('available', { conductor_group: 'other' })]
    await rounds(1)
    assert.ok(!machines.asked.includes(enrolled) && !machines.asked.includes(elsewhere))
  })

  void test('trouble with the database is not blamed on the machine', async () => {
    fresh()
    const node = await newNode()
    await rounds(1)
    machines.power.set(node, 'power on')
    machines.meanwhile = async () => {
      faulty.isAway = true
    }
    await rounds(1)
    faulty.isAway = false
    assert.equal((await show(node)).power_state, 'power off')
    machines.meanwhile = async () => {}
    await rounds(1)
    assert.deepEqual([(await show(node)).power_state, (await show(node)).maintenance], ['power on', 0])
  })

  void test('an error of ours is not told in its own words', async () => {
    fresh()
    const node = await newNode()
    machines.power.set(node, 'broken')
    await rounds(limits.powerFailuresMax)
    assert.match((await show(node)).maintenance_reason!, /in a row: The conductor met an error of its own/)
    await maintain(node, 'over')
  })

  void test('machines that hang take no time from those that answer', async () => {
    fresh()
    const hanging = await Promise.all(Array.from({ length: limits.powerLooksMax * 2 }, () => newNode()))
    const nodes = await Promise.all(Array.from({ length: 5 }, () => newNode()))
    for (const node of hanging) machines.power.set(node, 'hangs')
    for (const node of nodes) machines.power.set(node, 'power on')
    // The first time nobody knows who hangs, and each of them has its time.
    sync = syncOf('c1', { lookMs: 20, periodMs: 40 })
    await sync.round()
    for (const node of nodes) assert.equal((await show(node)).power_state, 'power on')
    // Now they have their own places: with all of these taken for ever, the others are asked all the same.
    const patient = syncOf('c1', { lookMs: 20, periodMs: 40 })
    await patient.round()
    for (const node of nodes) machines.power.set(node, 'power off')
    void patient.duty.wake()
    await waitFor('the others were asked', async () => {
      const seen = await Promise.all(nodes.map(show))
      return seen.every(({ power_state }) => power_state === 'power off')
    })
    await waitFor('those that hang are out of use', async () => {
      const seen = await Promise.all(hanging.map(show))
      return seen.every(({ fault }) => fault === 'power failure')
    })
    const [one] = await Promise.all(hanging.slice(0, 1).map(show))
    assert.match(one!.maintenance_reason!, /did not say within 0.02 s whether it is on/)
    await patient.stop()
    for (const node of hanging) await maintain(node, 'over')
  })

  void test('who stops waits for nobody, and writes nothing more', async () => {
    fresh()
    const node = await newNode()
    machines.power.set(node, 'hangs')
    sync = syncOf('c1', { periodMs: 20 })
    void sync.duty.wake()
    await waitFor('it is asked', async () => machines.asked.includes(node))
    await sync.stop()
    assert.equal((await show(node)).maintenance, 0)
    await maintain(node, 'over')
  })

  void test('a change of the node between reading and writing is not overwritten', async () => {
    fresh()
    const node = await newNode()
    await rounds(1)
    machines.power.set(node, 'power on')
    machines.meanwhile = async asked => {
      if (asked !== node) return
      const { id } = await show(node)
      await store.write(function* () {
        const row = (yield* lockNodeById(id))!
        yield* saveNode(row, { ...row, description: 'changed' })
      })
    }
    await rounds(1)
    assert.deepEqual([(await show(node)).description, (await show(node)).power_state], ['changed', 'power off'])
    machines.meanwhile = async () => {}
    await rounds(1)
    assert.deepEqual([(await show(node)).description, (await show(node)).power_state], ['changed', 'power on'])
  })

  void describe('several conductors', () => {
    void test('share the nodes, and take over those of one that is gone', async () => {
      fresh()
      const nodes = await Promise.all(Array.from({ length: 12 }, () => newNode()))
      const second = conductor('c2')
      await store.write(() => signIn(second, true, 1_000, 'spare'))
      // It has other drivers, so it looks at nothing.
      await store.write(() => signIn(conductor('c3', ['fake-hardware']), true, 1_000, 'spare'))
      const other = syncOf('c2')
      const askedBy = async (who: PowerSync) => {
        machines.asked.length = 0
        await who.round()
        return machines.asked.filter(node => nodes.includes(node))
      }
      const [mine, theirs] = [await askedBy(sync), await askedBy(other)]
      assert.deepEqual([...mine, ...theirs].sort(), [...nodes].sort())
      assert.ok(mine.length > 0 && theirs.length > 0)
      const gone = syncOf('c1', { silentMs: -60_000 })
      assert.deepEqual((await askedBy(gone)).sort(), [...nodes].sort())
    })

    void test('only one of two that found the same writes it down', async () => {
      fresh()
      const alone = { silentMs: -60_000 }
      const node = await newNode()
      await syncOf('c1', alone).round()
      machines.power.set(node, 'power on')
      await Promise.all([syncOf('c1', alone).round(), syncOf('c9', alone).round()])
      const found = (await eventsOf(node)).filter(event => event.includes('behind our back'))
      assert.equal(found.length, 1)
    })
  })
})
