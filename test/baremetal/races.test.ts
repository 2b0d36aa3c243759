// The same node patched, locked, given away and deleted by many at once: it never ends in a mixed state.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chance, clients } from '../races/clients.ts'
import { type Baremetal, eachMetalRace, uuid } from '../support/baremetal.ts'
import { type Answer } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { rounds } from '../support/rounds.ts'

const CLIENTS = 32
const ROUNDS = rounds(2, 6)

function races(api: Baremetal): void {
  void test(`${CLIENTS} clients do everything to one node at once`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const node = await api.node({ resource_class: 'race' }, 'available')
      await clients(CLIENTS, async index => {
        const below = chance(round * 100 + index)
        for (let i = 0; i < 6; i++) expectStatus(await act(api, node, below), 200, 202, 204, 400, 404, 409)
      })
      await expectWhole(api, node)
    }
    await api.fsck()
  })

  void test('of many who want a free node, through both APIs, exactly one gets it', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const node = await api.node({ resource_class: 'race' }, 'available')
      const outcomes = await clients(CLIENTS, async index => {
        const consumer = uuid()
        const answer =
          index % 2 === 0
            ? await api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/instance_uuid', value: consumer }])
            : await api.placement.claim(consumer, { [node]: { CUSTOM_RACE: 1 } })
        expectStatus(answer, 200, 204, 409)
        return answer.status < 300
      })
      assert.equal(outcomes.filter(Boolean).length, 1)
      assert.deepEqual(await api.placement.usages(node), { CUSTOM_RACE: 1 })
    }
    await api.fsck()
  })

  void test('of many verbs at once one is taken, and the others are told that the node is locked or elsewhere', async () => {
    const node = await api.node({ driver_info: { fake_delay: 0.05 } }, 'manageable')
    const answers = await clients(CLIENTS, () => api.provision(node, 'provide'))
    for (const answer of answers) expectStatus(answer, 202, 400, 409)
    assert.equal(answers.filter(answer => answer.status === 202).length, 1)
    await api.until(node, 'available')
  })

  void test('traits that are added one by one by many are all there', async () => {
    const node = await api.node()
    await clients(CLIENTS, async i => expectStatus(await api.put(`/v1/nodes/${node}/traits/CUSTOM_RACE_${i}`), 204))
    assert.equal((await api.show(node)).traits.length, CLIENTS)
    await api.fsck()
  })

  void test('a name that many want is had by one', async () => {
    const name = `n-${uuid()}`
    const answers = await clients(CLIENTS, () => api.post('/v1/nodes', { driver: 'fake-hardware', name }))
    for (const answer of answers) expectStatus(answer, 201, 409)
    assert.equal(answers.filter(answer => answer.status === 201).length, 1)
    await api.fsck()
  })
}

function act(api: Baremetal, node: string, below: (limit: number) => number): Promise<Answer> {
  const path = `/v1/nodes/${node}`
  const patch = (...patches: object[]) => api.patch(path, patches)
  const actions: (() => Promise<Answer>)[] = [
    () => patch({ op: 'add', path: '/extra/a', value: below(9) }),
    () => patch({ op: 'add', path: '/instance_uuid', value: uuid() }),
    () => patch({ op: 'remove', path: '/instance_uuid' }),
    () => patch({ op: 'add', path: '/resource_class', value: `race${below(3)}` }),
    () => api.provision(node, 'active'),
    () => api.provision(node, 'deleted'),
    () => api.provision(node, 'manage'),
    () => api.provision(node, 'provide'),
    () => api.put(`${path}/states/power`, { target: 'rebooting' }),
    () => api.put(`${path}/maintenance`),
    () => api.del(`${path}/maintenance`),
    () => api.put(`${path}/traits/CUSTOM_RACE_${below(5)}`),
    () => api.placement.claim(uuid(), { [node]: { CUSTOM_RACE: 1 } }),
  ]
  return below(60) === 0 ? api.del(path) : actions[below(actions.length)]!()
}

/** Gone from both APIs, or settled and the same in both; fsck looks at the rest. */
async function expectWhole(api: Baremetal, node: string): Promise<void> {
  const shown = await api.get(`/v1/nodes/${node}`)
  if (shown.status === 404) {
    expectStatus(await api.placement.get(`/resource_providers/${node}`), 404)
    return
  }
  for (;;) {
    const { body } = expectStatus(await api.get(`/v1/nodes/${node}`), 200)
    if (body.reservation === null && body.target_provision_state === null && body.target_power_state === null) break
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  await api.fsck()
}

eachMetalRace('races for nodes', races)
