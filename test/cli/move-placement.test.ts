// holdfast move placement: copies one Placement into another, both ways, and compares them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, test } from 'node:test'
import { connect } from '../../src/client/index.ts'
import { consumerBody, expectStatus, Placement } from '../support/placement.ts'
import { placementMissing, startRealPlacement } from '../support/real-placement.ts'
import { type Server, startServer } from '../support/server.ts'
import { type Databases, eachDatabase } from '../support/stores.ts'
import { fill, gateTo, moves, movesTo, OPEN } from './moving.ts'

class World {
  readonly #databases: Databases
  readonly #running: { stop(): Promise<void> }[] = []

  constructor(databases: Databases) {
    this.#databases = databases
  }

  async holdfast(): Promise<Placement> {
    const server = await startServer(await this.#databases.create(), OPEN)
    const api = new Placement(server.origin)
    this.#running.push({ stop: async () => (api.close(), server.stop()) })
    return api
  }

  async gate(api: Placement, options: Parameters<typeof gateTo>[1]): Promise<string> {
    const gate = await gateTo(api.origin, options)
    this.#running.push(gate)
    return `${gate.origin}/placement`
  }

  async stop(): Promise<void> {
    for (const one of this.#running.splice(0).toReversed()) await one.stop()
  }
}

const at = (api: Placement) => `${api.origin}/placement`
const between = (from: Placement, to: Placement) => `placement --from ${at(from)} --to ${at(to)}`
const serverOn = async (api: Placement, claims: Record<string, Record<string, number>>, more = {}) => {
  const uuid = randomUUID()
  expectStatus(await api.put(`/allocations/${uuid}`, consumerBody(claims, null, more)), 204)
  return uuid
}

async function isSound(api: Placement): Promise<void> {
  assert.equal((await (await connect({ url: api.origin, env: {} })).fsck()).violations, 0)
}

eachDatabase('holdfast move placement', databases => {
  const world = new World(databases)
  // Each test has servers of its own, and a database gives out only so many connections.
  afterEach(() => world.stop())

  test('everything is copied, a second run finds it copied, and forth and back gives the same', async () => {
    const [from, to, back] = [await world.holdfast(), await world.holdfast(), await world.holdfast()]
    const { rack, card, other } = await fill(from)
    const server = await serverOn(from, { [rack]: { VCPU: 4, MEMORY_MB: 512 }, [card]: { CUSTOM_CARD: 2 } })
    await serverOn(from, { [other]: { VCPU: 1 } }, { project_id: 'p2', user_id: 'u2', consumer_type: 'MIGRATION' })

    const first = await movesTo(0, between(from, to))
    assert.match(
      first.stdout,
      /^classes: 1 created.*\ntraits: 1 created.*\nproviders: 3 created.*\nconsumers: 2 created/,
    )
    const second = await movesTo(0, between(from, to))
    assert.match(
      second.stdout,
      /^providers: 0 created, 0 changed, 3 as they were\nconsumers: 0 created, 0 changed, 2 as/,
    )
    assert.match((await movesTo(0, `${between(from, to)} --compare`)).stdout, /no differences/)
    const { body } = await to.get(`/allocations/${server}`)
    assert.deepEqual(body.allocations[card].resources, { CUSTOM_CARD: 2 })
    assert.equal(body.consumer_type, 'INSTANCE')

    await movesTo(0, between(to, back))
    assert.match((await movesTo(0, `${between(from, back)} --compare`)).stdout, /no differences/)
    await isSound(to)
    await isSound(back)
  })

  test('a change at the source follows, also where two servers have changed places', async () => {
    const [from, to] = [await world.holdfast(), await world.holdfast()]
    const [one, two] = [await from.provider({ VCPU: 1 }), await from.provider({ VCPU: 1 })]
    const a = await serverOn(from, { [one]: { VCPU: 1 } })
    const b = await serverOn(from, { [two]: { VCPU: 1 } })
    await movesTo(0, between(from, to))
    for (const uuid of [a, b]) expectStatus(await from.del(`/allocations/${uuid}`), 204)
    expectStatus(await from.put(`/allocations/${a}`, consumerBody({ [two]: { VCPU: 1 } })), 204)
    expectStatus(await from.put(`/allocations/${b}`, consumerBody({ [one]: { VCPU: 1 } })), 204)

    const before = await moves(`${between(from, to)} --compare -f json`)
    assert.equal(before.code, 1)
    const kinds = JSON.parse(before.stdout).map(({ kind, id }: { kind: string; id: string }) => `${kind} ${id}`)
    assert.deepEqual(new Set(kinds), new Set([`consumer ${a}`, `consumer ${b}`]))
    assert.match(before.stderr, /different: 2 consumers/)
    await movesTo(0, between(from, to))
    assert.match((await movesTo(0, `${between(from, to)} --compare`)).stdout, /no differences/)

    // A has ended: the target still has it.
    expectStatus(await from.del(`/allocations/${a}`), 204)
    const kept = await movesTo(1, between(from, to))
    assert.match(kept.stdout, new RegExp(`${a} +only the target has it; --delete removes it`))
    await movesTo(0, `${between(from, to)} --delete`)
    assert.match((await movesTo(0, `${between(from, to)} --compare`)).stdout, /no differences/)
    await isSound(to)
  })

  test('a quick run reads single consumers only where amounts differ', async () => {
    const [from, to] = [await world.holdfast(), await world.holdfast()]
    const { rack, card, other } = await fill(from)
    const both = await serverOn(from, { [rack]: { VCPU: 4 }, [card]: { CUSTOM_CARD: 2 } })
    const still = await serverOn(from, { [other]: { VCPU: 1 } })
    await movesTo(0, between(from, to))
    const { consumer_generation } = (await from.get(`/allocations/${both}`)).body
    const less = consumerBody({ [rack]: { VCPU: 4 }, [card]: { CUSTOM_CARD: 1 } }, consumer_generation)
    expectStatus(await from.put(`/allocations/${both}`, less), 204)
    const read = new Set<string>()
    const gate = await world.gate(to, {
      answers: ({ method, path }) => (method === 'GET' && read.add(path), null),
    })
    const { stdout } = await movesTo(0, `placement --from ${at(from)} --to ${gate} --quick`)
    assert.match(stdout, /consumers: 0 created, 1 changed, 1 as they were/)
    assert.ok(read.has(`/placement/allocations/${both}`))
    assert.ok(!read.has(`/placement/allocations/${still}`))
    assert.match((await movesTo(0, `${between(from, to)} --compare --quick`)).stdout, /2 consumers[^]*no differences/)
    await movesTo(0, `${between(from, to)} --compare`)
  })

  test('what only the target has stays, unless it is to be deleted', async () => {
    const [from, to] = [await world.holdfast(), await world.holdfast()]
    const parent = await to.provider({ VCPU: 4 })
    const child = await to.provider({ VCPU: 4 }, { parent })
    const server = await serverOn(to, { [parent]: { VCPU: 1 }, [child]: { VCPU: 1 } })
    const { stdout } = await movesTo(1, between(from, to))
    for (const uuid of [parent, child, server]) assert.match(stdout, new RegExp(uuid))
    assert.equal((await to.get('/resource_providers')).body.resource_providers.length, 2)
    await movesTo(0, `${between(from, to)} --delete`)
    assert.deepEqual((await to.get('/resource_providers')).body.resource_providers, [])
    await isSound(to)
  })

  test('what the target refuses is listed with its reason, and the rest is copied', async () => {
    const [from, to] = [await world.holdfast(), await world.holdfast()]
    const good = await from.provider({ VCPU: 4 })
    const bad = await from.provider({ VCPU: 4 }, { name: 'taken' })
    await to.provider({}, { name: 'taken' })
    const server = await serverOn(from, { [good]: { VCPU: 1 } })
    const lost = await serverOn(from, { [bad]: { VCPU: 1 } })
    const { stdout, stderr } = await movesTo(4, between(from, to))
    assert.match(stdout, new RegExp(`provider +${bad} +.*taken`))
    assert.match(stdout, new RegExp(`consumer +${lost}`))
    assert.doesNotMatch(stdout, new RegExp(server))
    assert.match(stderr, /2 refused by the target/)
    assert.equal(Object.keys((await to.get(`/allocations/${server}`)).body.allocations).length, 1)
    await isSound(to)
  })

  test('a host whose inventory is below its use comes over as it is', async () => {
    const [from, to] = [await world.holdfast(), await world.holdfast()]
    const host = await from.provider({ VCPU: 8, DISK_GB: 10 })
    for (let i = 0; i < 4; i++) await serverOn(from, { [host]: { VCPU: 2, DISK_GB: 1 } })
    expectStatus(await from.setInventories(host, { VCPU: { total: 2, max_unit: 1 }, DISK_GB: 10 }), 200)
    await movesTo(0, between(from, to))
    assert.match((await movesTo(0, `${between(from, to)} --compare`)).stdout, /no differences/)
    assert.equal((await to.usages(host))['VCPU'], 8)
    await isSound(to)
  })

  test('a consumer without a type stays without one', async () => {
    const [from, to] = [await world.holdfast(), await world.holdfast()]
    const host = await from.provider({ VCPU: 8 })
    const uuid = randomUUID()
    const { consumer_type: _, ...untyped } = consumerBody({ [host]: { VCPU: 1 } })
    expectStatus(await from.put(`/allocations/${uuid}`, untyped, { version: '1.36' }), 204)
    await movesTo(0, between(from, to))
    assert.equal((await to.get(`/allocations/${uuid}`)).body.consumer_type, 'unknown')
  })

  test('a run that was interrupted is finished by the next one', async () => {
    const [from, to] = [await world.holdfast(), await world.holdfast()]
    const { rack, other } = await fill(from)
    for (let i = 0; i < 12; i++) await serverOn(from, { [i % 2 ? rack : other]: { VCPU: 1 } })
    for (const passes of [3, 9, 20, 30]) {
      const gate = await world.gate(to, { passes })
      await movesTo(6, `placement --from ${at(from)} --to ${gate}`)
    }
    await movesTo(0, between(from, to))
    assert.match((await movesTo(0, `${between(from, to)} --compare`)).stdout, /no differences/)
    await isSound(to)
  })

  test('what moves while it is read is not counted as different', async () => {
    const [from, to] = [await world.holdfast(), await world.holdfast()]
    const host = await from.provider({ VCPU: 8 })
    const uuid = await serverOn(from, { [host]: { VCPU: 1 } })
    await movesTo(0, between(from, to))
    let answered = 0
    const early = consumerBody({ [host]: { VCPU: 2 } }, 1)
    const gate = await world.gate(to, {
      answers: ({ path }) => (path.endsWith(`/allocations/${uuid}`) && answered++ === 0 ? early : null),
    })
    const { stdout } = await movesTo(0, `placement --from ${at(from)} --to ${gate} --compare`)
    assert.match(stdout, /moved while they were read, and not counted: 1\n.*no differences/)
    assert.equal(answered, 2)
  })

  test('answers in a form that no Placement has are said in one line', async () => {
    const [from, to] = [await world.holdfast(), await world.holdfast()]
    const { rack } = await fill(from)
    await serverOn(from, { [rack]: { VCPU: 1 } })
    for (const [path, own] of [
      [/\/resource_classes$/, { resource_classes: [null, { name: 5 }] }],
      [/\/resource_providers$/, [1]],
      [/\/traits$/, { traits: 'x' }],
      [/\/inventories$/, { inventories: { VCPU: { total: 'x' } } }],
      [/\/allocations$/, { allocations: { x: null } }],
    ] as const) {
      const gate = await world.gate(from, { answers: asked => (path.test(asked.path) ? own : null) })
      const { stderr } = await movesTo(1, `placement --from ${gate} --to ${at(to)}`)
      assert.match(stderr, /holdfast: \S+ was answered in a form that no Placement has\n$/)
    }
    await isSound(to)
  })

  test('nodes of a Holdfast are its own: named, not counted', async () => {
    const [from, to] = [await world.holdfast(), await world.holdfast()]
    await fill(from)
    const { nodes } = await connect({ url: to.origin, env: {} })
    await nodes.create({ driver: 'fake-hardware', name: 'n1', resource_class: 'gpu' })
    const copied = await movesTo(0, between(from, to))
    assert.match(copied.stdout, /left out: 1 provider that Holdfast keeps by itself/)
    assert.match((await movesTo(0, `${between(from, to)} --compare`)).stdout, /left out: 1 provider[^]*no differences/)
    assert.match((await movesTo(0, `${between(to, from)} --compare`)).stdout, /left out: 1 provider[^]*no differences/)
  })
})

describe('holdfast move placement, said wrongly', () => {
  test('what is missing or makes no sense is said in one line', async () => {
    for (const [line, code, said] of [
      ['placement', 2, /say with --from or --from-cloud where the placement service is/],
      ['placement --from http://127.0.0.1:9', 2, /say with --to or --to-cloud where/],
      ['placement --from http://127.0.0.1:9 --to http://127.0.0.1:10', 6, /no answer from/],
      ['placement --from nowhere --to http://127.0.0.1:9', 2, /'nowhere' is no URL/],
      ['placement --from-cloud none --to http://127.0.0.1:9', 2, /no clouds.yaml/],
      ['placement --from http://127.0.0.1:9 --to http://127.0.0.1:9 --show 0', 2, /no number above zero/],
    ] as const) {
      const { stderr } = await movesTo(code, line)
      assert.match(stderr, said)
    }
  })

  test('a server that is no Placement, or too old, is refused before anything is written', async () => {
    for (const [root, said] of [
      [{}, /is no Placement: it names no versions/],
      [{ versions: [{ max_version: '1.27' }] }, /speaks 1\.27; 1\.28 is needed/],
      [{ versions: [{ max_version: 'new' }] }, /is no Placement/],
    ] as const) {
      const old = await gateTo('', { answers: () => root })
      const other = await gateTo('', { answers: () => root })
      const { stderr } = await movesTo(2, `placement --from ${old.origin} --to ${other.origin}`)
      assert.match(stderr, said)
      await movesTo(2, `placement --from ${old.origin} --to ${old.origin}/`)
      await old.stop()
      await other.stop()
    }
  })
})

eachDatabase('holdfast move placement with a real Placement', databases => {
  const world = new World(databases)
  const real: Server[] = []
  before(async () => {
    if (placementMissing) return
    real.push(await startRealPlacement(), await startRealPlacement())
  })
  after(async () => {
    await world.stop()
    for (const one of real) await one.stop()
  })

  test('in and out again gives the same', { skip: placementMissing }, async () => {
    const [old, returned] = real.map(({ origin }) => origin)
    const [seed, holdfast] = [await world.holdfast(), await world.holdfast()]
    const { rack, card, other } = await fill(seed)
    await serverOn(seed, { [rack]: { VCPU: 4 }, [card]: { CUSTOM_CARD: 2 } })
    for (let i = 0; i < 6; i++) await serverOn(seed, { [other]: { VCPU: 1 } }, { project_id: `p${i}` })
    expectStatus(await seed.setInventories(other, { VCPU: 3 }), 200)
    await movesTo(0, `placement --from ${at(seed)} --to ${old}`)
    await movesTo(0, `placement --from ${old} --to ${at(holdfast)}`)
    assert.match((await movesTo(0, `placement --from ${old} --to ${at(holdfast)} --compare`)).stdout, /no differences/)
    await movesTo(0, `placement --from ${at(holdfast)} --to ${returned}`)
    assert.match((await movesTo(0, `placement --from ${old} --to ${returned} --compare`)).stdout, /no differences/)
    await isSound(holdfast)
  })
})
