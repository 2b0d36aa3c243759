// Whose turn is next: priorities, fair shares and places, with one conductor and with two.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Baremetal, employConductor, NEWEST, newClass, waitFor } from '../support/baremetal.ts'
import { as } from '../support/callers.ts'
import type { Options } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

const HOUR_MS = 3_600_000
const SETTINGS = { auth: 'noauth2', testClock: true, queue: 'fair' } as const

interface Queued {
  uuid: string
  place: number
  of: number
  start: string | null
  because: { node: { uuid: string }; what: string; end: string } | null
}

const member = (project: string) => as('member', project)
let projects = 0
const newProject = () => `project-${++projects}`

eachDatabase('the queue', ({ create, kind }) => {
  const api = new Baremetal()
  const stops: (() => Promise<void>)[] = []
  before(async () => {
    const database = await create()
    const server = await startServer(database, { ...SETTINGS, conductorName: 'one' })
    stops.push(() => server.stop())
    api.origins = api.placement.origins = [server.origin]
    if (kind === 'sqlite') return
    const conductor = await employConductor(database, 'two', SETTINGS)
    stops.unshift(() => conductor.stop())
  })
  after(async () => {
    try {
      await api.fsck()
    } finally {
      api.close()
      for (const stop of stops) await stop()
    }
  })

  const ask = (method: string, path: string, who: Options = {}, body?: object) => api.operator(method, path, body, who)
  const waits = async (resource_class: string, project: string, more: object = {}) => {
    const wish = { resource_class, wait_until: '100d', ...more }
    return (await api.allocate(wish, { ...NEWEST, ...member(project) })).uuid
  }
  const queue = async (who?: Options): Promise<Queued[]> =>
    expectStatus(await ask('GET', '/queue', who), 200).body.queue
  const order = async (who?: Options) => (await queue(who)).map(({ uuid }) => uuid)
  const release = async (ident: string) => expectStatus(await api.del(`/v1/allocations/${ident}`, NEWEST), 204)
  const isGiven = (ident: string) =>
    waitFor(`${ident} has a node`, async () => (await api.allocation(ident)).state === 'active')
  const set = async (project: string, body: object) =>
    expectStatus(await ask('PUT', `/queue/projects/${project}`, {}, body), 200).body
  const sharesOf = async (project: string) => expectStatus(await ask('GET', `/queue/projects/${project}`), 200).body

  /** A node that two projects may have, and that an admin has. */
  const contested = async (resource_class: string, [owner, lessee]: readonly string[], more: object = {}) => {
    const node = await api.node({ resource_class, owner, lessee }, 'available')
    const { uuid: holder } = await api.allocated({ resource_class, ...more })
    return { node, holder }
  }

  void test('a project of higher priority is served first, though it came later; all are told their places', async () => {
    const [resource_class, low, high] = [newClass(), newProject(), newProject()]
    const { node, holder } = await contested(resource_class, [low, high], { expires_at: '2h' })
    const ends = (await api.allocation(holder)).expires_at
    const first = await waits(resource_class, low)
    const second = await waits(resource_class, high, { expires_at: '3h' })
    assert.deepEqual(await order(), [first, second])

    expectStatus(await ask('PUT', `/queue/projects/${high}`, member(high), { priority: 1 }), 403)
    expectStatus(await ask('PUT', `/queue/projects/${high}`, {}, { priority: 11 }), 400)
    expectStatus(await ask('PUT', `/queue/projects/${high}`, {}, {}), 400)
    const { priority, share } = await set(high, { priority: 1 })
    assert.deepEqual([priority, share], [1, 1])
    const [next, last] = await queue()
    const because = { node: (await api.show(node)).uuid, what: 'allocation' }
    assert.deepEqual([next!.uuid, next!.place, next!.of], [second, 1, 2])
    assert.deepEqual({ node: next!.because!.node.uuid, what: next!.because!.what }, because)
    assert.equal(Date.parse(next!.start!), Date.parse(ends))
    // The one before has said when it ends.
    assert.deepEqual([last!.uuid, last!.place, last!.because!.what], [first, 2, 'ahead'])
    assert.equal(Date.parse(last!.start!), Date.parse((await api.allocation(second)).expires_at))

    assert.deepEqual(await order(member(low)), [first])
    assert.equal((await queue(member(low)))[0]!.place, 2)
    const explained = expectStatus(await ask('GET', `/explain/allocations/${first}`, member(low)), 200).body
    assert.equal(explained.ahead, 1)
    // Who has the node is no business of that project.
    assert.deepEqual([explained.queue.holders, explained.queue.others], [[], [{ what: 'allocation', count: 1 }]])
    const { queue: full } = expectStatus(await ask('GET', `/explain/allocations/${first}`), 200).body
    assert.equal(full.holders[0].allocation.uuid, holder)

    await release(holder)
    await isGiven(second)
    assert.equal((await api.allocation(first)).state, 'allocating')
    await release(second)
    await isGiven(first)
    const { entries } = expectStatus(await ask('GET', `/audit?object=${high}`), 200).body
    assert.equal(entries[0].action, 'holdfast:queue:set')
    const usual = await set(high, { priority: 0, share: 1 })
    assert.deepEqual([usual.priority, usual.share], [0, 1])
  })

  void test('who used less lately is served first, at whichever conductor it waits', async () => {
    const [resource_class, greedy, modest] = [newClass(), newProject(), newProject()]
    const node = await api.node({ resource_class, owner: greedy, lessee: modest }, 'available')
    const has = await waits(resource_class, greedy)
    await isGiven(has)
    expectStatus(await ask('POST', '/clock', {}, { advance: (10 * HOUR_MS) / 1_000 }), 200)
    const used = async () => (await sharesOf(greedy)).used_hours
    await waitFor('the ten hours are counted', async () => (await used()) > 9)
    const asked: string[] = []
    for (let i = 0; i < 4; i++) asked.push(await waits(resource_class, greedy))
    for (let i = 0; i < 4; i++) asked.push(await waits(resource_class, modest))
    const inOrder = await order()
    assert.deepEqual(inOrder, [...asked.slice(4), ...asked.slice(0, 4)])
    let present = has
    for (const next of inOrder) {
      await release(present)
      await isGiven(next)
      present = next
    }
    assert.equal((await api.show(node)).allocation_uuid, present)
    await release(present)
    // What has ended is counted on, and no more than once.
    expectStatus(await ask('POST', '/clock', {}, { advance: 120 }), 200)
    await waitFor('the end is counted', async () => (await used()) > 9)
    assert.ok((await used()) < 10.5)
    const { projects: all } = expectStatus(await ask('GET', '/queue/projects'), 200).body
    assert.ok(all.some(({ project_id }: { project_id: string }) => project_id === greedy))
    expectStatus(await ask('GET', '/queue/projects', member(greedy)), 403)
    expectStatus(await ask('GET', `/queue/projects/${greedy}`, member(greedy)), 200)
    expectStatus(await ask('GET', `/queue/projects/${greedy}`, member(modest)), 403)
  })

  void test('who gave up and tries again comes after those who wait', async () => {
    const [resource_class, project] = [newClass(), newProject()]
    const { uuid: again } = await api.refused({ resource_class, owner: project })
    const waiting = await waits(resource_class, project)
    expectStatus(await ask('POST', `/allocations/${again}/retry`, {}, { wait_until: '1h' }), 202)
    assert.deepEqual(await order(member(project)), [waiting, again])
    for (const ident of [waiting, again]) await release(ident)
  })
})
