// Several conductors look at Nova's hosts, and answers come late: what was asked for last counts.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { pino } from 'pino'
import { witnessOf } from '../../src/audit/witness.ts'
import { unusableHypervisors } from '../../src/compute/hypervisors.ts'
import { systemClock } from '../../src/clock/clock.ts'
import { createProvider } from '../../src/ledger/new-provider.ts'
import { listProviders } from '../../src/ledger/providers.ts'
import { NovaHosts } from '../../src/leases/nova/hosts.ts'
import { NovaAway, type NovaHypervisor } from '../../src/nova/port.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { eachDatabase } from '../support/stores.ts'

eachDatabase('looks at the hosts of Nova', databases => {
  void describe('', () => {
    let store: Store
    let now = 1_000
    const told: object[] = []
    const log = pino({ level: 'info' }, { write: (line: string) => void told.push(JSON.parse(line)) })
    const clock = { ...systemClock, now: () => now++ }
    const witness = witnessOf({ clock, isAudited: true }, () => 'here')
    /** A conductor, and the Nova that it asks: its answer is what the test says, when it says it. */
    function conductor() {
      let asked: (answer: (listed: readonly NovaHypervisor[] | Error) => void) => void = () => {}
      const hypervisors = () =>
        new Promise<NovaHypervisor[]>((resolve, reject) => {
          asked(listed => (listed instanceof Error ? reject(listed) : resolve([...listed])))
        })
      const hosts = new NovaHosts({ store, clock, log, witness, nova: { hypervisors }, pollMs: 3_600_000 })
      /** Resolves once Nova is asked. What is returned gives the answer, and resolves when it is written down. */
      const ask = async () => {
        const asking = new Promise<Parameters<typeof asked>[0]>(resolve => (asked = resolve))
        const looked = hosts.duty.wake()
        const answer = await asking
        return (listed: readonly NovaHypervisor[] | Error) => {
          answer(listed)
          return looked
        }
      }
      return { hosts, ask, look: async (listed: readonly NovaHypervisor[] | Error) => (await ask())(listed) }
    }
    const listed = (id: string, more: Partial<NovaHypervisor> = {}): NovaHypervisor => ({
      id,
      hostname: 'compute-3',
      service: 'compute-3',
      state: 'up',
      status: 'enabled',
      disabledReason: null,
      ...more,
    })
    const provider = async () => (await store.read(() => listProviders({ name: 'compute-3' })))[0]!
    const isDown = async (): Promise<boolean> => (await store.read(unusableHypervisors)).has((await provider()).id)
    const uuids = Array.from({ length: 3 }, () => crypto.randomUUID())
    const [first, second, third] = uuids as [string, string, string]

    before(async () => {
      store = openStore(await databases.create())
      await store.write(() => createProvider({ uuid: first, name: 'compute-3', parentUuid: null }, 1))
      const { look, hosts } = conductor()
      await look([listed(first, { state: 'down' })])
      assert.equal(await isDown(), true)
      await hosts.duty.stop()
    })
    after(() => store.close())

    void test('an older answer does not undo a newer one', async () => {
      const [late, quick] = [conductor(), conductor()]
      const answerLate = await late.ask()
      await quick.look([listed(first)])
      assert.equal(await isDown(), false)
      await answerLate([listed(first, { state: 'down' })])
      assert.equal(await isDown(), false)
      await late.look([listed(first, { state: 'down' })])
      assert.equal(await isDown(), true)
      for (const { hosts } of [late, quick]) await hosts.duty.stop()
    })

    void test('nor does it bring an old uuid back, or mark a renewed host as gone', async () => {
      const [late, quick] = [conductor(), conductor()]
      const answerLate = await late.ask()
      await quick.look([listed(second)])
      const renewed = await provider()
      assert.equal(renewed.uuid, second)
      await answerLate([listed(first, { state: 'down' })])
      assert.deepEqual(await provider(), renewed)
      assert.equal(await isDown(), false)
      for (const { hosts } of [late, quick]) await hosts.duty.stop()
    })

    void test('of two that see the same at once one writes it', async () => {
      const all = Array.from({ length: 4 }, conductor)
      const before = await provider()
      const answers = await Promise.all(all.map(({ ask }) => ask()))
      await Promise.all(answers.map(answer => answer([listed(third)])))
      const { uuid, generation } = await provider()
      assert.deepEqual([uuid, generation], [third, before.generation + 1])
      for (const { hosts } of all) await hosts.duty.stop()
    })

    void test('a name that Nova lists twice is not guessed at', async () => {
      const { look, hosts } = conductor()
      await look([listed(crypto.randomUUID()), listed(crypto.randomUUID())])
      assert.equal((await provider()).uuid, third)
      assert.equal(await isDown(), true)
      await look([listed(third)])
      assert.equal(await isDown(), false)
      await hosts.duty.stop()
    })

    void test('a list without any host is not believed', async () => {
      const { look, hosts } = conductor()
      await look([listed(third)])
      await look([])
      assert.equal(await isDown(), false)
      await look([listed(crypto.randomUUID(), { hostname: 'compute-4' })])
      assert.equal(await isDown(), true)
      await look([listed(third)])
      await hosts.duty.stop()
    })

    void test('a Nova that is away is told of once, and again when it is back', async () => {
      const { look, hosts } = conductor()
      told.length = 0
      for (let times = 0; times < 3; times++) await look(new NovaAway('nobody answers'))
      assert.ok(hosts.silentSeconds > 0)
      assert.equal(await isDown(), false)
      assert.equal(told.length, 1)
      const silent = hosts.silentSeconds
      await look([listed(third)])
      assert.equal(told.length, 2)
      assert.ok(hosts.silentSeconds < silent)
      await hosts.duty.stop()
    })
  })
})
