// Nodes are shown from memory. Whoever asks sees all that was committed before, in this process and in others.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Baremetal, NEWEST, newClass } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'
import type { Answer } from '../support/client.ts'
import { type Server, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

interface Shown {
  uuid: string
}

const isAnswer = (made: unknown): made is Answer => typeof made === 'object' && made !== null && 'status' in made
const inOrder = (nodes: readonly Shown[]) => nodes.toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1))

eachDatabase('nodes from memory', ({ kind, create }) => {
  const servers: Server[] = []
  const apis: Baremetal[] = []

  before(async () => {
    const database = await create()
    // On SQLite there is one process.
    for (let i = 0; i < (kind === 'sqlite' ? 1 : 2); i++) {
      servers.push(await startServer(database, { conductorName: `c${i}` }))
      apis.push(new Baremetal(servers[i]!.origin))
    }
  })
  after(() => Promise.all(servers.map(server => server.stop())))

  /** The order of creation is made in memory, any other one by the database. */
  async function expectFresh(step: string): Promise<void> {
    for (const api of apis.toReversed()) {
      const { nodes } = expectStatus(await api.get('/v1/nodes/detail?include_children=True', NEWEST), 200).body
      const asked = '/v1/nodes/detail?include_children=True&sort_key=created_at'
      assert.deepEqual(inOrder(nodes), inOrder(expectStatus(await api.get(asked, NEWEST), 200).body.nodes), step)
      for (const node of nodes) {
        assert.deepEqual(expectStatus(await api.get(`/v1/nodes/${node.uuid}`, NEWEST), 200).body, node, step)
      }
    }
  }

  void test('every change of a node is seen at once, in every process', async () => {
    const api = apis[0]!
    const resource_class = newClass()
    const node = await api.node({ name: 'one', resource_class }, 'available')
    await expectFresh('created, and provided by a conductor')
    const child = { driver: 'fake-hardware', parent_node: node }
    const childId = expectStatus(await api.post('/v1/nodes', child, NEWEST), 201).body.uuid
    const path = `/v1/nodes/${node}`
    let held = ''
    let allocation = ''
    const steps: Record<string, () => Promise<unknown>> = {
      patched: () => api.patch(path, [{ op: 'add', path: '/extra/rack', value: 7 }]),
      'in maintenance': () => api.put(`${path}/maintenance`, { reason: 'why' }),
      'out of maintenance': () => api.del(`${path}/maintenance`),
      'with traits': () => api.put(`${path}/traits`, { traits: ['CUSTOM_A', 'CUSTOM_B'] }),
      'with one trait less': () => api.del(`${path}/traits/CUSTOM_A`),
      'turned on': async () => {
        expectStatus(await api.put(`${path}/states/power`, { target: 'power on' }), 202)
        await api.until(node, 'available')
      },
      held: async () => (held = (await api.hold([node])).uuid),
      'held for longer': () =>
        api.put(`/v1/reservations/${held}`, { expires_at: new Date(Date.now() + 7_200_000) }, NEWEST),
      'no longer held': () => api.del(`/v1/reservations/${held}`, NEWEST),
      allocated: async () => (allocation = (await api.allocated({ resource_class })).uuid),
      'no longer allocated': () => api.del(`/v1/allocations/${allocation}`),
      'of an owner': () => api.patch(path, [{ op: 'add', path: '/owner', value: 'ann' }]),
      'without its child': () => api.del(`/v1/nodes/${childId}`),
    }
    for (const [step, act] of Object.entries(steps)) {
      const answer = await act()
      if (isAnswer(answer)) assert.ok(answer.status < 300, `${step}: ${JSON.stringify(answer.body)}`)
      await expectFresh(step)
    }
  })
})
