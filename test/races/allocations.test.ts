// Many who want the same nodes by different ways: each node has one owner in the end, and nobody is told no without cause.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Baremetal,
  classInPlacement,
  eachMetalRace,
  NEWEST,
  newClass,
  uuid,
  waitFor,
} from '../support/baremetal.ts'
import { expectStatus, isFull } from '../support/placement.ts'
import { rounds } from '../support/rounds.ts'
import { chance, clients, inParallel } from './clients.ts'

const CROWD = rounds(40, 100)

const races = (api: Baremetal) => {
  /** A full second some minutes from now. */
  const soon = async () => Math.ceil((await api.now()) / 1000 + 600) * 1000

  /** Acts while the clock passes the end: a third of it before, a third as it passes, a third after. */
  async function aroundTheEnd<T>(count: number, end: number, act: (index: number) => Promise<T>): Promise<T[]> {
    const third = Math.floor(count / 3)
    const early = await clients(third, act)
    const [passing] = await Promise.all([
      clients(count - 2 * third, async index => {
        await sleep(index * 3)
        return act(third + index)
      }),
      api.moveTo(end + 100),
    ])
    await waitFor('every server is past the end', async () => {
      const times = await Promise.all(api.origins.map(() => api.now()))
      return times.every(now => now > end)
    })
    return [...early, ...passing, ...(await clients(third, index => act(count - third + index)))]
  }

  void test(`${2 * CROWD} at once on ${CROWD} nodes: half of them have a node each, half are told why not`, async () => {
    const resource_class = newClass()
    const nodes = await api.nodes(CROWD, { resource_class })
    const asked = await clients(2 * CROWD, async () => (await api.allocate({ resource_class })).uuid as string)
    const settled = await api.settledOf(resource_class)
    assert.deepEqual(settled.map(({ uuid: id }) => id).sort(), asked.toSorted())
    const active = settled.filter(({ state }) => state === 'active')
    assert.deepEqual(active.map(({ node_uuid }) => node_uuid!).sort(), nodes.toSorted())
    for (const { uuid: id, last_error, node_uuid } of settled.filter(({ state }) => state === 'error')) {
      assert.equal(node_uuid, null)
      assert.ok(last_error!.startsWith(`Failed to process allocation ${id}: `), last_error!)
    }
    for (const { uuid: id, node_uuid } of active) {
      const { instance_uuid, allocation_uuid } = await api.show(node_uuid!)
      assert.deepEqual([instance_uuid, allocation_uuid], [id, id])
    }
    await api.fsck()
  })

  void test('allocations, holds, claims in Placement and instances by hand share out 20 nodes', async () => {
    const resource_class = newClass()
    const amounts = { [classInPlacement(resource_class)]: 1 }
    const nodes = await api.nodes(20, { resource_class })
    for (let round = 0; round < rounds(1, 3); round++) {
      const below = chance(round)
      const any = () => nodes[below(nodes.length)]!
      const rotated = () => nodes.toSpliced(0, below(nodes.length)).concat(nodes)
      // Whoever got a node, and how to give it back.
      const won = await clients(120, async index => {
        const id = uuid()
        if (index % 4 === 0) {
          await api.allocate({ resource_class, uuid: id, candidate_nodes: nodes })
          const { state, node_uuid, last_error } = await api.settled(id, 60_000)
          if (state === 'error') assert.ok(last_error)
          return [node_uuid, () => api.del(`/v1/allocations/${id}`)] as const
        }
        if (index % 4 === 1) {
          const body = { instance_uuid: id, node_uuid: rotated() }
          const { status, body: answer } = await api.post('/v1/reservations', body, NEWEST)
          if (status === 409) return [null] as const
          assert.equal(status, 201, JSON.stringify(answer))
          const { uuid: hold, node_uuid } = answer.reservation
          return [node_uuid, () => api.del(`/v1/reservations/${hold}`, NEWEST)] as const
        }
        const node = any()
        if (index % 4 === 2) {
          const answer = await api.placement.claim(id, { [node]: amounts })
          if (isFull(answer)) return [null] as const
          expectStatus(answer, 204)
          return [node, () => api.placement.del(`/allocations/${id}`)] as const
        }
        const { status } = expectStatus(await api.change(node, 'instance_uuid', id), 200, 409)
        return status === 409 ? ([null] as const) : ([node, () => api.change(node, 'instance_uuid')] as const)
      })
      const winners = won.filter(([node]) => node !== null)
      assert.equal(winners.length, nodes.length)
      assert.deepEqual(new Set(winners.map(([node]) => node)), new Set(nodes))
      for (const node of nodes) assert.deepEqual(await api.placement.usages(node), amounts)
      await api.fsck()
      for (const [, giveBack] of winners) expectStatus(await giveBack!(), 200, 204)
      for (const node of nodes) {
        assert.deepEqual(await api.placement.usages(node), { [classInPlacement(resource_class)]: 0 })
      }
    }
  })

  void test('a node is to be had from the moment it is shown as free, also before whoever freed it is answered', async () => {
    await clients(6, async () => {
      const resource_class = newClass()
      const [node] = await api.nodes(1, { resource_class })
      for (let round = 0; round < rounds(6, 20); round++) {
        expectStatus(await api.put(`/v1/nodes/${node}/maintenance`), 202)
        const freeing = api.del(`/v1/nodes/${node}/maintenance`)
        for (;;) if (!(await api.show(node!)).maintenance) break
        const { uuid: id } = await api.allocated({ resource_class })
        expectStatus(await freeing, 202)
        expectStatus(await api.del(`/v1/allocations/${id}`), 204)
      }
    })
  })

  void test('a hold that lapses while it is deployed with: it was in time, or the node is free', async () => {
    const nodes = await api.nodes(24)
    const end = await soon()
    const holds = await inParallel(8, 24, i => api.hold([nodes[i]!], { expires_at: new Date(end).toISOString() }))
    const deployed = await aroundTheEnd(24, end, async index => {
      const more = { reservation_uuid: holds[index].uuid }
      const answers = await clients(3, () => api.provision(nodes[index]!, 'active', more, NEWEST))
      for (const answer of answers) expectStatus(answer, 202, 400, 409)
      return answers.filter(({ status }) => status === 202).length
    })
    for (const [index, taken] of deployed.entries()) {
      const [node, hold] = [nodes[index]!, holds[index]]
      assert.ok(taken <= 1)
      if (taken === 1) {
        expectStatus(await api.get(`/v1/reservations/${hold.uuid}`, NEWEST), 404)
        assert.equal((await api.until(node, 'active')).instance_uuid, hold.instance_uuid)
        assert.deepEqual(Object.keys(await api.placement.claims(hold.instance_uuid)), [node])
      } else {
        const next = await waitFor('the node is free', async () => {
          const answer = await api.post('/v1/reservations', { instance_uuid: uuid(), node_uuid: [node] }, NEWEST)
          return answer.status === 201 && answer
        })
        assert.equal(next.body.reservation.node_uuid, node)
        assert.deepEqual(await api.placement.claims(hold.instance_uuid), {})
      }
    }
    // Those before the end were in time, those after it too late.
    assert.deepEqual(new Set(deployed.slice(0, 8)), new Set([1]))
    assert.deepEqual(new Set(deployed.slice(-8)), new Set([0]))
    await api.fsck()
  })

  void test('deleted while it becomes active: the allocation is gone and its node is free', async () => {
    const resource_class = newClass()
    const nodes = await api.nodes(8, { resource_class })
    await inParallel(16, rounds(64, 160), async index => {
      const { uuid: id } = await api.allocate({ resource_class, ...(index % 3 === 0 && { wait_until: '1h' }) })
      if (index % 2 === 0) await sleep(index % 7)
      const answers = await clients(2, () => api.del(`/v1/allocations/${id}`))
      for (const answer of answers) expectStatus(answer, 204, 404)
      assert.equal(answers.filter(({ status }) => status === 204).length, 1)
      expectStatus(await api.get(`/v1/allocations/${id}`), 404)
    })
    for (const node of nodes) {
      const { instance_uuid, allocation_uuid } = await api.show(node)
      assert.deepEqual([instance_uuid, allocation_uuid], [null, null])
      assert.deepEqual(await api.placement.usages(node), { [classInPlacement(resource_class)]: 0 })
    }
    await api.fsck()
  })

  void test('nodes that go into maintenance, change or vanish under the search are not given away', async () => {
    const resource_class = newClass()
    const nodes = await api.nodes(24, { resource_class })
    const disturb = async (index: number) => {
      const node = nodes[index]!
      const answers = [
        () => api.put(`/v1/nodes/${node}/maintenance`),
        () => api.change(node, 'resource_class', `${resource_class}-other`),
        () => api.del(`/v1/nodes/${node}`),
        () => api.provision(node, 'manage'),
      ]
      expectStatus(await answers[index % answers.length]!(), 200, 202, 204, 400, 409)
    }
    await Promise.all([
      clients(24, disturb),
      clients(24, async () => (await api.allocate({ resource_class })).uuid as string),
    ])
    const settled = await api.settledOf(resource_class)
    for (const { uuid: id, state, node_uuid } of settled) {
      if (state !== 'active') continue
      const { instance_uuid, resource_class: its } = await api.show(node_uuid!)
      assert.deepEqual([instance_uuid, its], [id, resource_class])
    }
    const given = settled.filter(({ state }) => state === 'active').map(({ node_uuid }) => node_uuid)
    assert.equal(new Set(given).size, given.length)
    await api.fsck()
  })

  void test('as many wait as nodes become free, all at once: each gets one', async () => {
    const resource_class = newClass()
    const nodes = await api.nodes(20, { resource_class })
    const holders = await clients(20, async () => (await api.allocate({ resource_class })).uuid as string)
    await api.settledOf(resource_class)
    const [, waiting] = await Promise.all([
      inParallel(4, 20, async i => expectStatus(await api.del(`/v1/allocations/${holders[i]}`), 204)),
      clients(20, async () => (await api.allocate({ resource_class, wait_until: '1h' })).uuid as string),
    ])
    const got = await Promise.all(waiting.map(async id => (await api.settled(id, 30_000)).node_uuid as string))
    assert.deepEqual(got.sort(), nodes.toSorted())
    await api.fsck()
  })

  void test('whoever came first is served first, whichever conductor has them', async () => {
    const resource_class = newClass()
    await api.nodes(2, { resource_class })
    const holders = [(await api.allocated({ resource_class })).uuid, (await api.allocated({ resource_class })).uuid]
    const waiting: string[] = []
    for (let i = 0; i < 12; i++) waiting.push((await api.allocate({ resource_class, wait_until: '1h' })).uuid)
    for (const [i, id] of waiting.entries()) {
      expectStatus(await api.del(`/v1/allocations/${holders[i] ?? waiting[i - 2]}`), 204)
      assert.equal((await api.settled(id)).state, 'active')
      const left = await Promise.all(waiting.slice(i + 1).map(async later => (await api.allocation(later)).state))
      assert.deepEqual(new Set(left), new Set(left.length > 0 ? ['allocating'] : []), `after ${i}`)
    }
    await api.fsck()
  })

  void test('a newcomer overtakes nobody who waits, whichever server it asks', async () => {
    const resource_class = newClass()
    const [node] = await api.nodes(1, { resource_class })
    let holder = (await api.allocated({ resource_class })).uuid
    for (let round = 0; round < rounds(6, 15); round++) {
      const { uuid: first } = await api.allocate({ resource_class, wait_until: '1h' })
      const [newcomers] = await Promise.all([
        clients(6, async i => (await api.allocate({ resource_class, ...(i % 2 === 0 && { wait_until: '1h' }) })).uuid),
        api.del(`/v1/allocations/${holder}`),
      ])
      assert.equal((await api.settled(first)).node_uuid, node)
      for (const id of newcomers) expectStatus(await api.del(`/v1/allocations/${id}`), 204)
      holder = first
    }
    await api.fsck()
  })

  void test('a hold that is renewed as it lapses lives on, or is gone and its node free', async () => {
    const nodes = await api.nodes(18)
    const end = await soon()
    const holds = await inParallel(8, 18, i => api.hold([nodes[i]!], { expires_at: new Date(end).toISOString() }))
    const renewals = await aroundTheEnd(18, end, async index => {
      const [node, id] = [nodes[index]!, holds[index].uuid]
      // An hour, because a server that has not heard of the clock's move yet counts from the time before it.
      const hold = { node_uuid: [node], expires_at: '1h' }
      const others = async () => api.post('/v1/reservations', { ...hold, instance_uuid: uuid() }, NEWEST)
      const [renewed, ...rivals] = await Promise.all([
        api.put(`/v1/reservations/${id}`, { expires_at: '1h' }, NEWEST),
        others(),
        others(),
      ])
      expectStatus(renewed, 200, 404)
      for (const rival of rivals) expectStatus(rival, 201, 409)
      const isRenewed = renewed.status === 200
      assert.ok(rivals.filter(({ status }) => status === 201).length <= (isRenewed ? 0 : 1))
      const { reservation_uuid } = (await api.get(`/v1/nodes/${node}`, NEWEST)).body
      const taken = rivals.find(({ status }) => status === 201)?.body.reservation.uuid ?? null
      assert.equal(reservation_uuid, isRenewed ? id : taken)
      return isRenewed
    })
    assert.deepEqual(new Set(renewals.slice(0, 6)), new Set([true]))
    assert.deepEqual(new Set(renewals.slice(-6)), new Set([false]))
    await api.fsck()
  })

  void test('an allocation that ends while its node is deployed leaves the node free and whole', async () => {
    const resource_class = newClass()
    const amounts = { [classInPlacement(resource_class)]: 0 }
    const nodes = await api.nodes(18, { resource_class })
    const end = await soon()
    const terms = { resource_class, expires_at: new Date(end).toISOString() }
    const allocations = await inParallel(8, 18, i => api.allocated({ ...terms, candidate_nodes: [nodes[i]] }))
    const answers = await aroundTheEnd(18, end, index => api.provision(nodes[index]!, 'active'))
    for (const [index, deployed] of answers.entries()) {
      expectStatus(deployed, 202, 400, 409)
      const [node, id] = [nodes[index]!, allocations[index].uuid]
      await waitFor('the allocation is gone', async () => (await api.get(`/v1/allocations/${id}`)).status === 404)
      const shown = await waitFor('the node is at rest', async () => {
        const { body } = await api.get(`/v1/nodes/${node}`)
        return body.target_provision_state === null && body.reservation === null && body
      })
      // Deployed a moment after the end, it is nobody's and stays as it was asked for.
      if (deployed.status !== 202) assert.equal(shown.provision_state, 'available')
      assert.ok(['available', 'active'].includes(shown.provision_state), shown.provision_state)
      assert.deepEqual([shown.instance_uuid, shown.allocation_uuid], [null, null])
      assert.deepEqual(await api.placement.usages(node), amounts)
    }
    await api.fsck()
  })
}

eachMetalRace('allocations in a race', races, { testClock: true })
