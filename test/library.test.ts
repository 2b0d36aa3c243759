// The library as programs use it: work with a node that is theirs while it lasts, waits, and errors that can be told
// apart.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { connect, type Holdfast, isHoldfastError, NodeLost } from '../src/client/index.ts'
import { atLogin, atShell, type Person, until } from './cli/person.ts'

/** An allocation that is there no longer. */
const isGone = async ({ allocations }: Holdfast, uuid: string) => {
  await allocations.wait(uuid, { until: 'gone' }).catch(error => assert.ok(isHoldfastError(error, 'not_found')))
}

const aborted = (signal: AbortSignal) => new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))

const rejected = (work: Promise<unknown>) =>
  work.then(
    () => assert.fail('it should have failed'),
    (error: unknown) => error,
  )

atShell('withNode', (person: Person) => {
  test('gives the node to the work, keeps it meanwhile, and releases it whether the work returns or throws', async () => {
    const server = await person.library()
    const uuid = await person.node('w1', 'with')
    let had = ''
    const result = await server.withNode(
      { resource_class: 'with', keeper: 'nightly', for: '1h' },
      async (node, signal, allocation) => {
        had = allocation.uuid
        const seen = await server.allocations.show(had)
        assert.deepEqual([node.uuid, seen.keeper, signal.aborted], [uuid, 'nightly', false])
        assert.ok(seen.planned_end !== null)
        return 42
      },
    )
    assert.equal(result, 42)
    await isGone(server, had)
    const thrown = new Error('my own')
    const failed = server.withNode({ resource_class: 'with' }, async (_, __, allocation) => {
      had = allocation.uuid
      throw thrown
    })
    assert.equal(await rejected(failed), thrown)
    await isGone(server, had)
  })

  test('tells the work when someone takes the node back, and says who', async () => {
    const server = await person.library()
    await person.node('w2', 'kicked')
    const started = Promise.withResolvers<string>()
    const work = server.withNode({ resource_class: 'kicked' }, async (_, signal, { uuid }) => {
      started.resolve(uuid)
      await aborted(signal)
      return 'of no use'
    })
    const uuid = await started.promise
    await server.allocations.delete(uuid, { message: 'the demo needs it' })
    const error = await rejected(work)
    assert.ok(error instanceof NodeLost && isHoldfastError(error, 'lost'))
    assert.match(error.message, /the demo needs it/)
    assert.equal(error.ending?.message, 'the demo needs it')
    await isGone(server, uuid)
  })

  test('aborts the work when its time is over, when the caller wants that, and when the allocation is gone', async () => {
    const server = await person.library()
    await person.node('w3', 'over')
    const waits = async (_: unknown, signal: AbortSignal) => aborted(signal)
    assert.ok(isHoldfastError(await rejected(server.withNode({ resource_class: 'over', for: 50 }, waits)), 'timeout'))
    const stop = new AbortController()
    const stopped = server.withNode({ resource_class: 'over', signal: stop.signal, wait: '1m' }, async (_, signal) => {
      stop.abort(new Error('enough'))
      assert.ok(signal.aborted)
    })
    assert.match(String(await rejected(stopped)), /enough/)
    const gone = server.withNode({ resource_class: 'over', wait: '1m' }, async (_, signal, { uuid }) => {
      await server.allocations.delete(uuid, { now: true })
      await aborted(signal)
    })
    assert.match(String(await rejected(gone)), /it is gone/)
  })

  test('without a node says why, leaves nothing behind, and waits if it may', async () => {
    const server = await person.library()
    await person.node('w4', 'busy')
    const inside = server.withNode({ resource_class: 'busy' }, async () => {
      const error = await rejected(server.withNode({ resource_class: 'busy' }, async () => assert.fail('two have it')))
      assert.ok(isHoldfastError(error, 'no_fit'))
      assert.deepEqual(error.reasons, [{ reason: 'allocated', count: 1 }])
      const stop = new AbortController()
      const waiting = server.withNode({ resource_class: 'busy', wait: '1h', signal: stop.signal }, async () =>
        assert.fail('two have it'),
      )
      await until(
        () => server.allocations.list({ where: { resource_class: 'busy' } }),
        all => all.length === 2,
      )
      stop.abort(new Error('enough'))
      assert.match(String(await rejected(waiting)), /enough/)
      return server.allocations.list({ where: { resource_class: 'busy' } })
    })
    assert.equal((await inside).length, 1)
    const next = server.withNode({ resource_class: 'busy', wait: '1m' }, async node => node.name)
    assert.equal(await next, 'w4')
    const none = await rejected(server.withNode({}, async () => {}))
    assert.ok(isHoldfastError(none, 'invalid'))
  })
})

atShell('waiting for objects', (person: Person) => {
  test('an allocation gets its node or says why not; a node reaches its state; a name will do', async () => {
    const server = await person.library()
    const { nodes, allocations } = server
    const { uuid } = await nodes.create({ driver: 'fake-hardware', name: 'o1', resource_class: 'object' })
    await nodes.provision(uuid, 'manage')
    assert.equal((await nodes.wait(uuid, { until: 'manageable' })).provision_state, 'manageable')
    const early = await allocations.create({ resource_class: 'object', name: 'early', wait_until: '10m' })
    const waiting = allocations.wait(early.uuid, { timeoutMs: 60_000 })
    await nodes.provision('o1', 'provide')
    assert.equal((await waiting).node_uuid, uuid)
    assert.ok((await nodes.wait('o1', { until: ({ instance_uuid }) => instance_uuid !== null })).instance_uuid)
    const late = await allocations.create({ resource_class: 'object' })
    assert.ok(isHoldfastError(await rejected(allocations.wait(late.uuid)), 'no_fit'))
    const never = nodes.wait(uuid, { until: 'deploying', timeoutMs: 1 })
    assert.ok(isHoldfastError(await rejected(never), 'timeout'))
    const stop = new AbortController()
    const stopped = allocations.wait('early', { until: 'gone', signal: stop.signal })
    stop.abort(new Error('enough'))
    assert.match(String(await rejected(stopped)), /enough/)
    const ended = allocations.wait('early', { until: 'gone' })
    await allocations.delete(early.uuid)
    // The end may come before the first look.
    await ended.catch(error => assert.ok(isHoldfastError(error, 'not_found')))
  })

  test('a lease starts, and is over', async () => {
    const { leases, nodes, leasableNodes } = await person.library()
    const uuid = await person.node('o2', 'leased')
    await leasableNodes.enrol(uuid)
    const reservation = { resource_type: 'physical:node', resource_class: 'leased', min: 1, max: 1 }
    const made = await leases.create({
      name: 'soon',
      start_date: 'now',
      end_date: '2099-01-01 10:00',
      reservations: [reservation],
    })
    const { status } = await leases.wait(made.id)
    assert.equal(status, 'ACTIVE')
    const full = { ...made, id: undefined, name: 'full', reservations: [reservation] }
    const refused = await rejected(
      leases.create({ ...full, start_date: '2098-01-01 10:00', end_date: '2098-01-02 10:00' }),
    )
    assert.ok(isHoldfastError(refused, 'no_fit'), String(refused))
    assert.ok(refused.reasons.length > 0)
    assert.ok((await nodes.show(uuid)).uuid)
  })
})

atLogin('errors of every API', ({ api }) => {
  const as = (name: string, OS_PASSWORD = `${name}-pw`) =>
    connect({ url: api.origin, env: { OS_USERNAME: name, OS_PASSWORD, OS_PROJECT_NAME: 'lab' } })

  test('have a kind', async () => {
    const [admin, reader] = [await as('alice'), await as('carol')]
    const nobody = await connect({ url: api.origin, env: {} })
    const provider = await admin.providers.create({ name: 'p1' })
    await admin.providers.setInventories(provider.uuid, { VCPU: { total: 1 } }, provider.generation)
    const other = randomUUID()
    const refusals: [string, Promise<unknown>][] = [
      ['unauthorized', as('alice', 'wrong')],
      ['unauthorized', nobody.nodes.list()],
      ['unavailable', connect({ url: 'http://127.0.0.1:9', env: {} }).then(({ nodes }) => nodes.list())],
      ['invalid', connect({ url: 'nonsense', env: {} })],
      ['not_found', admin.nodes.show('nobody')],
      ['not_found', admin.allocations.wait(other)],
      ['not_found', admin.leases.show(other)],
      ['not_found', admin.providers.show(other)],
      ['not_found', admin.servers.show(other)],
      ['not_found', admin.webhooks.delete(other)],
      ['forbidden', reader.nodes.create({ driver: 'fake-hardware' })],
      ['forbidden', reader.audit({})],
      ['forbidden', reader.flavors.create({ name: 'f', vcpus: 1, ram: 1, disk: 0 })],
      ['invalid', admin.nodes.create({ driver: 'fake-hardware', name: 'no name' })],
      ['invalid', admin.leases.create({ name: 'x', start_date: 'later', end_date: 'then', reservations: [] })],
      ['conflict', admin.providers.create({ name: provider.name })],
      ['no_fit', admin.claims.set(other, { [provider.uuid]: { resources: { VCPU: 9 } } })],
      [
        'conflict',
        admin.nodes
          .create({ driver: 'fake-hardware', name: 'e1' })
          .then(({ uuid }) => admin.nodes.provision(uuid, 'provide')),
      ],
    ]
    const kinds = await Promise.all(
      refusals.map(async ([, asked]) => {
        const error = await rejected(asked)
        return isHoldfastError(error) ? error.kind : String(error)
      }),
    )
    assert.deepEqual(
      kinds,
      refusals.map(([kind]) => kind),
    )
  })
})
