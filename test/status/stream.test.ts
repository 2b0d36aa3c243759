// GET /holdfast/v1/status as a stream: whoever follows it knows what whoever asks is told, and no more.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'
import { seeded } from '../../src/clock/chance.ts'
import { holdfastAt } from '../../src/client/index.ts'
import { Baremetal, NEWEST, waitFor } from '../support/baremetal.ts'
import { noStreamsAt } from '../support/events.ts'
import { expectStatus } from '../support/placement.ts'
import { Reservation, type Shown } from '../support/reservation.ts'
import { type Server, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { randomChanges } from './random-changes.ts'
import { Viewer } from './viewer.ts'

const ADMIN = { 'x-auth-token': 'admin' }
const member = (user: string, project: string) => ({ 'x-auth-token': `${user}:${project}`, 'x-roles': 'member' })
const STEPS = 40

eachDatabase('a stream of the status', ({ kind, create }) => {
  let database: string
  const servers: Server[] = []
  const viewers: Viewer[] = []
  const metal = new Baremetal()
  const leases = new Reservation()

  before(async () => {
    database = await create()
    const names = kind === 'sqlite' ? ['one'] : ['one', 'two']
    for (const conductorName of names) servers.push(await startServer(database, { conductorName, testClock: true }))
    const origins = servers.map(({ origin }) => origin)
    metal.origins = metal.placement.origins = origins
    leases.at(...origins)
  })
  afterEach(() => {
    for (const viewer of viewers) viewer.hangUp()
  })
  after(async () => {
    metal.close()
    leases.close()
    for (const server of servers) await server.stop()
  })

  const origin = () => servers[0]!.origin
  const view = async (headers?: Record<string, string>, query?: string, at = origin()) => {
    const viewer = new Viewer(headers, query)
    viewers.push(viewer)
    return viewer.connect(at)
  }
  const asked = async (query = '', headers: Record<string, string> = ADMIN) => {
    const answer = await fetch(`${origin()}/holdfast/v1/status${query}`, { headers })
    return { status: answer.status, body: (await answer.json()) as Shown }
  }

  /** What the conductors do meanwhile may come a moment later: then it reads on. */
  async function seesAll(viewer: Viewer, spans: string, headers: Record<string, string>, tries = 10): Promise<void> {
    const { body } = await asked(`?${spans}`, headers)
    const named = (row: Shown) => ({ ...row, traits: row.traits.map((place: number) => body.traits[place]) })
    const byUuid = (a: Shown, b: Shown) => (a.uuid < b.uuid ? -1 : 1)
    const promised = (some: Shown[]) => some.map(span => JSON.stringify(span)).sort()
    try {
      assert.deepEqual([...viewer.machines.values()].sort(byUuid), body.machines.map(named).sort(byUuid))
      assert.deepEqual(promised([...viewer.spans.values()].flat()), promised(body.spans))
    } catch (error) {
      if (tries === 0) throw error
      const heard = () => viewer.changes.length + viewer.stream.parser.comments.length
      const before = heard()
      await viewer.until(() => heard() > before)
      await seesAll(viewer, spans, headers, tries - 1)
    }
  }

  void test('tells everything first, then each change, and what is gone', async () => {
    const kept = await metal.node({ name: 'kept', resource_class: 'some' }, 'available')
    const viewer = await view()
    const [first] = viewer.changes
    assert.deepEqual([first.since, first.gone, first.waiting], [null, [], []])
    assert.deepEqual([first.machines.length, viewer.named('kept').state], [1, 'free'])
    assert.match(viewer.stream.response.headers.get('content-type')!, /^text\/event-stream$/)

    expectStatus(await metal.change('kept', 'description', 'a note'), 200)
    await viewer.until(() => viewer.named('kept').note === 'a note')
    const last = viewer.changes.at(-1)
    assert.deepEqual([last.hosts, last.waiting, last.gone], [null, null, []])
    assert.notEqual(last.since, null)

    const passing = await metal.node({ name: 'passing', resource_class: 'some' })
    await viewer.until(() => viewer.machines.has(passing))
    expectStatus(await metal.del('/v1/nodes/passing'), 204)
    await viewer.until(() => !viewer.machines.has(passing))
    assert.ok(viewer.changes.at(-1).gone.includes(passing))
    assert.ok(viewer.machines.has(kept))
    viewer.hangUp()
  })

  void test('tells of claims of other services, of what time changes, of hosts, and of those who wait', async () => {
    const node = await metal.node({ name: 'claimed', resource_class: 'claimed' }, 'available')
    const viewer = await view()
    const consumer = randomUUID()
    expectStatus(await metal.placement.claim(consumer, { [node]: { CUSTOM_CLAIMED: 1 } }), 204)
    await viewer.until(() => viewer.named('claimed').state === 'taken')
    expectStatus(await metal.placement.del(`/allocations/${consumer}`), 204)
    await viewer.until(() => viewer.named('claimed').state === 'free')

    const soon = new Date((await metal.now()) + 600_000).toISOString()
    const hold = { instance_uuid: randomUUID(), node_uuid: [node], expires_at: soon }
    expectStatus(await metal.post('/v1/reservations', hold, NEWEST), 201)
    await viewer.until(() => viewer.named('claimed').state === 'held')
    await leases.advance(11)
    await viewer.until(() => viewer.named('claimed').state === 'free')

    const host = await leases.computeNode('a-host')
    await viewer.until(() => viewer.hosts.length === 1)
    expectStatus(await metal.placement.claim(randomUUID(), { [host]: { VCPU: 3 } }), 204)
    await viewer.until(() => viewer.hosts[0].used.VCPU === 3)

    const later = new Date((await metal.now()) + 3_600_000).toISOString()
    const wish = { resource_class: 'claimed', candidate_nodes: ['claimed'], wait_until: later }
    expectStatus(await metal.post('/v1/allocations', { ...wish, name: 'first' }, NEWEST), 201)
    await viewer.until(() => viewer.named('claimed').what === 'first')
    expectStatus(await metal.post('/v1/allocations', { ...wish, name: 'second' }, NEWEST), 201)
    await viewer.until(() => viewer.waiting.some(({ name, place }: Shown) => name === 'second' && place === 1))
    expectStatus(await metal.del('/v1/allocations/first', NEWEST), 204)
    await viewer.until(() => viewer.named('claimed').what === 'second' && viewer.waiting.length === 0)
    expectStatus(await metal.del('/v1/allocations/second', NEWEST), 204)
    viewer.hangUp()
  })

  void test('members hear of their own machines, of none that they never saw, and of no names of others', async () => {
    const own = await metal.node({ name: 'own', resource_class: 'own', owner: 'vision' }, 'available')
    const foreign = await metal.node({ name: 'foreign', resource_class: 'own', owner: 'nlp' }, 'available')
    const [ann, admin] = [await view(member('ann', 'vision')), await view()]
    assert.deepEqual([[...ann.machines.keys()], ann.hosts], [[own], []])

    const wish = { resource_class: 'own', candidate_nodes: ['own'], name: 'secret-job' }
    expectStatus(
      await metal.post('/v1/allocations', wish, { ...NEWEST, token: 'bob:nlp', headers: { 'x-roles': 'admin' } }),
      201,
    )
    await ann.until(() => ann.named('own').state === 'taken')
    expectStatus(await metal.change('foreign', 'description', 'elsewhere'), 200)
    await admin.until(() => admin.named('foreign').note === 'elsewhere')

    // It comes, goes, and comes to nothing.
    expectStatus(await metal.change('foreign', 'lessee', 'vision'), 200)
    await ann.until(() => ann.machines.has(foreign))
    assert.equal(ann.named('foreign').owner, null)
    expectStatus(await metal.change('foreign', 'lessee', 'audio'), 200)
    await ann.until(() => !ann.machines.has(foreign))
    expectStatus(await metal.change('foreign', 'lessee', 'video'), 200)
    await admin.until(() => admin.named('foreign').lessee === 'video')
    const never = await metal.node({ name: 'never', resource_class: 'own', owner: 'nlp' })
    expectStatus(await metal.del('/v1/nodes/never'), 204)
    expectStatus(await metal.change('own', 'description', 'the last'), 200)
    await ann.until(() => ann.named('own').note === 'the last')
    const told = JSON.stringify(ann.changes)
    for (const word of [never, 'secret-job', 'bob', 'nlp', 'audio', 'video']) assert.ok(!told.includes(word), word)
    assert.equal(ann.changes.flatMap(({ gone }) => gone).length, 1)
    ann.hangUp()
    admin.hangUp()
    expectStatus(await metal.del('/v1/allocations/secret-job', NEWEST), 204)
  })

  void test('tells addresses to those who may see ports, and the BMC to those who may see how it is driven', async () => {
    const body = { name: 'found', resource_class: 'found', owner: 'vision', lessee: 'nlp' }
    const node = await metal.node({ ...body, driver_info: { ipmi_address: '10.20.30.40', ipmi_password: 'secret' } })
    const viewers = [await view(), await view(member('ann', 'vision')), await view(member('bob', 'nlp'))]
    const address = '52:54:00:aa:bb:cc'
    const port = expectStatus(await metal.post('/v1/ports', { node_uuid: node, address }), 201).body
    const known = (viewer: Viewer) => viewer.named('found').addresses as string[]
    for (const viewer of viewers) await viewer.until(() => known(viewer).includes(address))
    assert.deepEqual(viewers.map(known), [[address, '10.20.30.40'], [address], [address]])
    expectStatus(await metal.change('found', 'lessee', 'audio'), 200)
    await viewers[2]!.until(viewer => !viewer.machines.has(node))
    expectStatus(await metal.del(`/v1/ports/${port.uuid}`), 204)
    for (const viewer of viewers.slice(0, 2)) await viewer.until(() => !known(viewer).includes(address))
    assert.ok(!JSON.stringify(viewers[0]!.changes).includes('secret'))
  })

  void test('goes on after the cursor that a client brings back, and tells everything after any other', async () => {
    const node = await metal.node({ name: 'back', resource_class: 'some' })
    const viewer = await view(ADMIN, 'spans=2030-01-01T00:00:00Z/2030-02-01T00:00:00Z')
    viewer.hangUp()
    const { cursor } = viewer
    expectStatus(await metal.change('back', 'description', 'meanwhile'), 200)
    expectStatus(await metal.del('/v1/nodes/passing'), 404)
    await viewer.connect(origin())
    await viewer.until(() => viewer.named('back').note === 'meanwhile')
    const { since, machines } = viewer.changes.at(-1)
    assert.notEqual(since, null)
    assert.deepEqual(
      machines.map(({ uuid }: Shown) => uuid),
      [node],
    )
    viewer.hangUp()

    const spans = 'spans=2030-01-01T00:00:00Z/2030-02-01T00:00:00Z'
    const since1 = (await asked(`?${spans}&since=${cursor}`)).body
    assert.deepEqual([since1.machines.length, since1.since !== null], [1, true])
    const nothingNew = (await asked(`?${spans}&since=${since1.cursor}`)).body
    assert.deepEqual([nothingNew.machines, nothingNew.gone], [[], []])
    const others: [string, Record<string, string>][] = [
      [`?since=${cursor}`, ADMIN],
      [`?${spans}&since=${cursor}`, { 'x-auth-token': 'eve:lab', 'x-roles': 'admin' }],
      [`?${spans}&since=${since1.sequence}`, ADMIN],
      [`?${spans}&since=${cursor!.replace(/~\d+~/, '~999999999~')}`, ADMIN],
      [`?${spans}&since=nonsense`, ADMIN],
    ]
    for (const [query, headers] of others) {
      const { body } = await asked(query, headers)
      assert.deepEqual([body.since, body.machines.length > 1], [null, true], query)
    }
    if (kind === 'sqlite') return
    const elsewhere = await view(ADMIN, spans)
    elsewhere.hangUp()
    const before = elsewhere.changes.length
    await elsewhere.connect(servers[1]!.origin)
    assert.equal(elsewhere.changes[before]?.since ?? null, null)
    elsewhere.hangUp()
  })

  void test('takes no filters, and asks for nothing that HEAD does not', async () => {
    const stream = { ...ADMIN, accept: 'text/event-stream' }
    for (const filter of ['class=some', 'mine', 'state=free']) {
      assert.equal((await asked(`?${filter}`, stream)).status, 400, filter)
      assert.equal((await asked(`?${filter}&since=1`)).status, 400, filter)
    }
    assert.equal((await asked('', { accept: 'text/event-stream' })).status, 401)
    const head = await fetch(`${origin()}/holdfast/v1/status`, { method: 'HEAD', headers: stream })
    assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'text/event-stream'])
    await noStreamsAt(origin())
  })

  for (const seed of [1, 2]) {
    void test(`whoever follows, and is cut off now and then, sees what is there (${seed})`, async () => {
      const random = seeded(seed * 11 + kind.length)
      const nodes: string[] = []
      for (let i = 0; i < 6; i++) {
        const body = { name: `m${seed}-${i}`, resource_class: 'some', owner: i % 2 ? 'p1' : 'p2' }
        const node = await metal.node(body, 'available')
        if (i < 3) expectStatus(await metal.operator('PUT', `/leasable-nodes/${node}`), 200, 201)
        nodes.push(node)
      }
      const change = randomChanges({ metal, leases, nodes })
      const spans = `spans=${new Date(await metal.now()).toISOString()}/${new Date((await metal.now()) + 86_400_000 * 30).toISOString()}`
      const watching = [await view(ADMIN, spans), await view(member('alice', 'p1'), spans), await view(ADMIN, spans)]
      for (let step = 0; step < STEPS; step++) {
        await change(random)
        if (random() < 0.2) await watching[0]!.connect(servers[step % servers.length]!.origin)
        if (random() < 0.1) await watching[1]!.connect(origin())
      }
      await waitFor('nobody is at work', async () => {
        const { body } = await asked()
        return !body.machines.some(({ verb }: Shown) => verb)
      })
      const word = `the end of ${seed}`
      const last = await metal.node({ name: word.replaceAll(' ', '-'), resource_class: 'some', owner: 'p1' })
      expectStatus(await metal.change(last, 'description', word), 200)
      for (const [i, viewer] of watching.entries()) {
        const headers = i === 1 ? member('alice', 'p1') : ADMIN
        await viewer.until(() => viewer.machines.get(last)?.note === word, 'the last change')
        await seesAll(viewer, spans, headers)
        viewer.hangUp()
      }
    })
  }

  void test('says every other second that it lives, and where it is', async t => {
    await noStreamsAt(origin())
    t.mock.timers.enable({ apis: ['setInterval'] })
    const viewer = await view()
    await viewer.stream.until(({ comments }) => {
      t.mock.timers.tick(2_000)
      return comments.includes('still here')
    }, 'a sign of life')
    viewer.hangUp()
    await noStreamsAt(origin())
  })

  void test('the library follows it, says that it hears, and comes back when the server does', async () => {
    const database = await create()
    let server = await startServer(database)
    const port = Number(new URL(server.origin).port)
    const over = new AbortController()
    const heard: string[] = []
    const client = holdfastAt({ url: server.origin, headers: ADMIN, user: null, project: null, who: null })
    const changes = client.followStatus({
      signal: over.signal,
      heard: () => heard.push('heard'),
      lost: () => heard.push('lost'),
    })
    const first = (await changes.next()).value!
    assert.equal(first.since, null)
    assert.ok(heard.includes('heard') && !heard.includes('lost'))
    const again = changes.next()
    await server.stop()
    server = await startServer(database, { port })
    assert.equal((await again).value!.since, null)
    assert.ok(heard.includes('lost'))
    over.abort()
    assert.equal((await changes.next()).done, true)
    await server.stop()
  })
})
