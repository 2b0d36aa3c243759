// Whoever follows the events of an object knows its present state, whatever was done to it in whatever order.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { BEGINNING } from '../../src/events/event.ts'
import { eventsAfter } from '../../src/events/read.ts'
import { openStore } from '../../src/store/open.ts'
import { type Baremetal, eachMetal, NEWEST, newClass, waitFor } from '../support/baremetal.ts'
import type { Answer } from '../support/client.ts'
import { Log, type Told } from '../support/told-events.ts'
import { Placement } from '../support/placement.ts'
import { rounds } from '../support/rounds.ts'
import { startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

const DEEDS = rounds(40, 200)

/** Reproducible: the seed is in the name of the test. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

interface State {
  provision: string | null
  power: string | null
  maintenance: boolean
  traits: Set<string>
  instance: string | null
}

/** The node as its events tell it. Each change begins where the one before it ended. */
function nodeFrom(events: readonly Told[]): State {
  const state: State = { provision: null, power: null, maintenance: false, traits: new Set(), instance: null }
  for (const { type, data } of events) {
    if (type === 'node.created') state.provision = data.provision_state
    if (type === 'node.provision_state') {
      assert.equal(data.from, state.provision)
      state.provision = data.to
    }
    if (type === 'node.power_state') {
      assert.equal(data.from, state.power)
      state.power = data.to
    }
    if (type === 'node.maintenance') state.maintenance = data.maintenance
    if (type === 'node.traits') {
      for (const name of data.removed) assert.ok(state.traits.delete(name))
      for (const name of data.added) state.traits.add(name)
    }
    if (type === 'node.changed' && 'instance_uuid' in data) state.instance = data.instance_uuid
  }
  return state
}

/** The state of an allocation as its events tell it; null when it is gone. */
function allocationFrom(events: readonly Told[]): string | null {
  let state: string | null = null
  for (const { type, data } of events) {
    if (type !== 'allocation.created' && 'from' in data) assert.equal(data.from, state)
    if ('to' in data) state = data.to
    if (type === 'allocation.ended') state = null
  }
  return state
}

eachMetal('following events', api => {
  const log = new Log()
  before(() => log.at(...api.origins))
  after(() => log.close())

  for (const seed of [1, 2]) {
    void test(`of nodes and allocations, after ${DEEDS} deeds (seed ${seed})`, async () => {
      const resource_class = newClass()
      const nodes = await api.nodes(2, { resource_class })
      const allocations: string[] = []
      const below = seeded(seed)
      const deeds = deedsOn(api, resource_class, nodes, allocations, below)
      for (let i = 0; i < DEEDS; i++) {
        const { status } = await deeds[below(deeds.length)]!()
        assert.ok(status < 500, `answered ${status}`)
      }
      for (const node of nodes) {
        // Conductors may still be at work.
        await waitFor('the events tell what is', async () => {
          const [shown, told] = [await api.show(node), nodeFrom(await log.of('node', node))]
          const { traits } = (await api.get(`/v1/nodes/${node}/traits`)).body
          const isSettled = shown.reservation === null && shown.target_provision_state === null
          return (
            isSettled &&
            told.provision === shown.provision_state &&
            told.power === shown.power_state &&
            told.maintenance === shown.maintenance &&
            told.instance === shown.instance_uuid &&
            [...told.traits].toSorted().join() === traits.join()
          )
        })
      }
      for (const uuid of allocations) {
        await waitFor('the events tell what is', async () => {
          const { status, body } = await api.get(`/v1/allocations/${uuid}`, NEWEST)
          return allocationFrom(await log.of('allocation', uuid)) === (status === 404 ? null : body.state)
        })
      }
    })
  }
})

function deedsOn(
  api: Baremetal,
  resource_class: string,
  nodes: readonly string[],
  allocations: string[],
  below: (limit: number) => number,
): (() => Promise<Answer>)[] {
  const node = () => nodes[below(nodes.length)]!
  const allocation = () => `/v1/allocations/${allocations[below(allocations.length)] ?? resource_class}`
  const verbs = ['manage', 'provide', 'active', 'deleted', 'rebuild', 'inspect', 'abort']
  const allocate = async (more: object) => {
    const answer = await api.post('/v1/allocations', { resource_class, ...more }, NEWEST)
    if (answer.status === 201) allocations.push(answer.body.uuid)
    return answer
  }
  return [
    () => api.provision(node(), verbs[below(verbs.length)]!),
    () => api.provision(node(), 'active'),
    () => api.provision(node(), 'deleted'),
    () => api.put(`/v1/nodes/${node()}/states/power`, { target: below(2) === 0 ? 'power on' : 'power off' }),
    () => api.put(`/v1/nodes/${node()}/maintenance`, { reason: 'a test' }),
    () => api.del(`/v1/nodes/${node()}/maintenance`),
    () => api.put(`/v1/nodes/${node()}/traits/CUSTOM_FOLLOW_${below(3)}`),
    () => api.del(`/v1/nodes/${node()}/traits/CUSTOM_FOLLOW_${below(3)}`),
    () => api.change(node(), 'instance_uuid'),
    () => allocate({}),
    () => allocate({}),
    () => allocate({ expires_at: '2h', wait_until: '1h' }),
    () => api.patch(allocation(), [{ op: 'add', path: '/expires_at', value: '3h' }], NEWEST),
    () => api.del(allocation(), NEWEST),
    () => api.del(`/v1/nodes/${node()}/allocation`, NEWEST),
  ]
}

eachDatabase('the log with the audit off', ({ create }) => {
  void test('says what became of things, and not who did it', async () => {
    const database = await create()
    const server = await startServer(database, { audit: 'off' })
    const placement = new Placement(server.origin)
    const provider = await placement.provider({ VCPU: 1 }).finally(() => placement.close())
    await server.stop()
    const store = openStore(database)
    try {
      await store.ordered()
      const { events } = await store.read(() => eventsAfter(BEGINNING, 1_000))
      const mine = events.filter(({ object }) => object === provider)
      assert.deepEqual(
        mine.map(({ kind, became }) => `${kind}.${became}`),
        ['provider.created', 'provider.inventory'],
      )
      assert.deepEqual(new Set(events.map(({ by }) => by.user)), new Set(['']))
    } finally {
      await store.close()
    }
  })
})
