// What fsck sees of promises that were broken in the database itself.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { checkEverything } from '../../src/measure/fsck.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { Baremetal } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'
import { instances, Reservation, type Shown } from '../support/reservation.ts'
import { startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

eachDatabase('fsck on leases', databases => {
  void describe('', () => {
    let store: Store | null = null
    let [nodes, ofNodes, ofInstances]: [string[], Shown, Shown] = [[], null, null]
    // A lease of a node and one of instances, both running; nobody is there any more who would repair them.
    before(async () => {
      const database = await databases.create()
      const server = await startServer(database, { testClock: true })
      const [api, metal] = [new Reservation(), new Baremetal(server.origin)]
      api.at(server.origin)
      nodes = [
        await metal.node({ resource_class: 'checked' }, 'available'),
        await metal.node({ resource_class: 'checked' }, 'available'),
      ]
      expectStatus(await api.operate('PUT', `/leasable-nodes/${nodes[0]}`), 200, 201)
      await api.pool(1)
      const wish = { resource_type: 'physical:node', resource_class: 'checked', min: 1, max: 1 }
      const leases = [await api.lease([wish], { from: 1 }), await api.lease([instances({ amount: 2 })], { from: 1 })]
      await api.advance(2)
      ;[ofNodes, ofInstances] = [await api.until(leases[0].id, 'ACTIVE'), await api.until(leases[1].id, 'ACTIVE')]
      api.close()
      metal.close()
      await server.stop()
      store = openStore(database)
    })
    after(() => store?.close())

    const broken = async (): Promise<string[]> => {
      const findings = await checkEverything(store!)
      return findings.filter(({ violations }) => violations > 0).map(({ invariant }) => invariant)
    }
    /** What fsck finds with this damage, which is undone again. */
    async function damaged(damage: string, repair: string): Promise<string[]> {
      assert.deepEqual(await broken(), [])
      await store!.script(run => run(damage))
      const found = await broken()
      await store!.script(run => run(repair))
      assert.deepEqual(await broken(), [])
      return found
    }
    const LEASED = 'a node that a running lease was given is leased to its project, and no other node is leased'

    void test('a node that isn’t leased to the project whose lease has it, and one that still is', async () => {
      const set = (what: string, uuid: string) => `update nodes set ${what} where uuid = '${uuid}'`
      const leased = `leased_to = '${ofNodes.project_id}'`
      const [given, other] = nodes as [string, string]
      assert.deepEqual(await damaged(set('leased_to = null', given), set(leased, given)), [LEASED])
      assert.deepEqual(await damaged(set(leased, other), set('leased_to = null', other)), [LEASED])
    })

    void test('a running lease that never got its node', async () => {
      const [{ allocation }] = ofNodes.reservations[0].nodes
      const give = (what: string) => `update bookings set allocation = ${what} where lease_id = '${ofNodes.id}'`
      const found = await damaged(give('null'), give(`'${allocation}'`))
      assert.ok(
        found.includes('a running lease has each node that it booked, or says that it lacks some'),
        found.join(),
      )
    })

    void test('a lease that is starting for ever, though it has all its nodes', async () => {
      const of = `lease_id = '${ofNodes.id}'`
      const step = (lease: string, reservation: string, due: string) =>
        `update leases set status = '${lease}' where id = '${ofNodes.id}';
         update lease_reservations set status = '${reservation}' where ${of};
         update lease_events set due_at = ${due} where ${of} and event_type = 'start_lease'`
      const found = await damaged(step('STARTING', 'pending', 'time'), step('ACTIVE', 'active', 'null'))
      assert.deepEqual(found, ['a lease of nodes that is starting waits for one of them'])
    })

    void test('a reservation with more slots than it asked for', async () => {
      const [{ id }] = ofInstances.reservations
      const ask = (from: number, to: number) =>
        `update lease_reservations set terms = replace(terms, '"amount":${from}', '"amount":${to}') where id = '${id}'`
      assert.deepEqual(await damaged(ask(2, 1), ask(1, 2)), [
        'a reservation of instances has no more slots than it asked for',
      ])
    })
  })
})
