// Every word for a machine, reached through the APIs; what is shown of it, to whom, and what each may do with it.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { Baremetal, NEWEST, waitFor } from '../support/baremetal.ts'
import { asSystem } from '../support/callers.ts'
import type { Options } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { as, eachReservation, type Shown } from '../support/reservation.ts'

const alice = as('alice', 'vision')
const bob = as('bob', 'nlp')
const rita = as('rita', 'vision', 'reader')
const MINUTE_MS = 60_000

eachReservation('the status', api => {
  const metal = new Baremetal()
  before(() => (metal.origins = metal.placement.origins = api.origins))
  after(() => metal.close())

  const status = async (query = '', who?: Options): Promise<Shown> =>
    expectStatus(await api.operate('GET', `/status${query}`, undefined, who), 200).body
  const rowOf = async (name: string, who?: Options): Promise<Shown> =>
    (await status('', who)).machines.find((machine: Shown) => machine.name === name)
  const machine = (name: string, more: object = {}, state: Parameters<Baremetal['node']>[1] = 'available') =>
    metal.node({ name, resource_class: name, ...more }, state)
  const has = async (name: string, wanted: object) => {
    const row = await rowOf(name)
    assert.deepEqual(Object.fromEntries(Object.keys(wanted).map(field => [field, row[field]])), wanted, name)
  }
  const inMinutes = async (minutes: number) => new Date((await api.now()) + minutes * MINUTE_MS).toISOString()

  void test('says of each machine what it is, in one word', async () => {
    await machine('free')
    await has('free', { state: 'free', verb: null, who: null, kind: null, until: null, next: null, mine: false })

    await machine('new', {}, 'enroll')
    await has('new', { state: 'setup', provision: 'enroll' })

    await machine('mended')
    expectStatus(await metal.put('/v1/nodes/mended/maintenance', { reason: 'a fan' }), 202)
    await has('mended', { state: 'maintenance', maintenance: true, reason: 'a fan' })

    await machine('old', {}, 'manageable')
    expectStatus(await metal.change('old', 'retired', true), 200)
    expectStatus(await metal.change('old', 'retired_reason', 'too loud'), 200)
    await has('old', { state: 'retired', reason: 'too loud' })

    await machine('cleaned', { driver_info: { fake_wait: { clean: 3_000 } } }, 'manageable')
    expectStatus(await metal.provision('cleaned', 'provide'), 202)
    await waitFor('it cleans itself', async () => (await rowOf('cleaned')).provision === 'clean wait')
    await has('cleaned', { state: 'working', verb: 'cleaning' })
    expectStatus(await metal.provision('cleaned', 'abort'), 202)
    await has('cleaned', { state: 'broken', provision: 'clean failed' })
  })

  void test('says who has it, for what, and until when', async () => {
    await machine('given')
    const until = await inMinutes(90)
    const wish = { resource_class: 'given', name: 'a-job', expires_at: until, owner: 'vision' }
    const mine = { ...alice, ...NEWEST }
    expectStatus(await metal.change('given', 'owner', 'vision'), 200)
    const { uuid } = expectStatus(await metal.post('/v1/allocations', wish, mine), 201).body
    await metal.settled(uuid)
    const shown = {
      state: 'taken',
      who: 'alice',
      project: 'vision',
      what: 'a-job',
      kind: 'allocation',
      id: uuid,
      until,
    }
    await has('given', { ...shown, mine: false })
    assert.equal((await rowOf('given', alice)).mine, true)

    const later = await inMinutes(120)
    expectStatus(
      await metal.patch(`/v1/allocations/${uuid}`, [{ op: 'replace', path: '/name', value: 'b-job' }], mine),
      200,
    )
    const renewal = [{ op: 'add', path: '/expires_at', value: later }]
    expectStatus(await metal.patch(`/v1/allocations/${uuid}`, renewal, mine), 200)
    await has('given', { what: 'b-job', until: later })

    expectStatus(await metal.del(`/v1/allocations/${uuid}`, mine), 204)
    await has('given', { state: 'free', who: null, what: null, until: null })
  })

  void test('a broken machine keeps who has it', async () => {
    await machine('cursed', { driver_info: { fake_fail: 'deploy' } })
    const { uuid } = await metal.allocated({ resource_class: 'cursed', name: 'unlucky' })
    await metal.go('cursed', 'active', 'deploy failed')
    await has('cursed', { state: 'broken', who: 'admin', what: 'unlucky', kind: 'allocation', id: uuid })
    assert.match((await rowOf('cursed')).error, /told to fail/)
  })

  void test('an instance and a claim of another service take it too', async () => {
    const instance = randomUUID()
    await machine('deployed')
    expectStatus(await metal.change('deployed', 'instance_uuid', instance), 200)
    await has('deployed', { state: 'taken', kind: 'instance', id: instance })

    const claimed = await machine('claimed')
    const consumer = randomUUID()
    expectStatus(await metal.placement.claim(consumer, { [claimed]: { CUSTOM_CLAIMED: 1 } }), 204)
    await has('claimed', { state: 'taken', kind: 'claim', id: consumer, who: 'a-user', project: 'a-project' })
  })

  void test('a hold ends by itself', async () => {
    const node = await machine('kept')
    const until = await inMinutes(10)
    const hold = await metal.hold([node], { expires_at: until })
    await has('kept', { state: 'held', kind: 'hold', id: hold.uuid, until })
    await metal.moveTo((await api.now()) + 11 * MINUTE_MS)
    await has('kept', { state: 'free', kind: null })
  })

  void test('a booking is ahead, then a lease has it, then it is free', async () => {
    const node = await machine('leased')
    expectStatus(await api.operate('PUT', `/leasable-nodes/${node}`), 200, 201)
    await has('leased', { state: 'free', bookable: true })
    const terms = [{ resource_type: 'physical:node', resource_class: 'leased', min: 1, max: 1 }]
    const lease = await api.lease(terms, { name: 'a-week' }, alice)
    const { state, next, may } = await rowOf('leased')
    assert.deepEqual([state, next.name, next.who, next.project], ['booked', 'a-week', 'alice', 'vision'])
    assert.ok(may.includes('book') && !may.includes('reserve'))
    await api.update(lease.id, { name: 'a-fortnight' }, alice)
    assert.equal((await rowOf('leased')).next.name, 'a-fortnight')

    await api.advance(61)
    const shown = { state: 'taken', kind: 'lease', id: lease.id, what: 'a-fortnight', who: 'alice', lessee: 'vision' }
    await has('leased', { ...shown, next: null })
    const mine = await rowOf('leased', alice)
    assert.deepEqual(
      [mine.mine, mine.may.filter((verb: string) => /extend|move|release|kick/.test(verb))],
      [true, ['extend', 'move', 'release']],
    )
    const { spans } = await status('?spans=0s/1d', alice)
    assert.deepEqual(
      spans.filter((span: Shown) => span.machine === node).map((span: Shown) => [span.kind, span.name, span.mine]),
      [['lease', 'a-fortnight', true]],
    )

    await api.end(lease.id)
    await waitFor('it is back', async () => (await rowOf('leased')).state === 'free')
  })

  void test('says where a machine stands', async () => {
    const chassis = expectStatus(await metal.post('/v1/chassis', { description: 'r1: a rack' }), 201).body.uuid
    await machine('r1-07', { chassis_uuid: chassis })
    await has('r1-07', { rack: 'r1', slot: '07' })
    expectStatus(
      await metal.patch(`/v1/chassis/${chassis}`, [{ op: 'replace', path: '/description', value: 'r2' }]),
      200,
    )
    await has('r1-07', { rack: 'r2', slot: null })
    expectStatus(await metal.change('r1-07', 'extra', { rack: 9, slot: 'top' }), 200)
    await has('r1-07', { rack: '9', slot: 'top' })
  })

  void test('lists traits once, and machines say where theirs are', async () => {
    await machine('fast')
    expectStatus(await metal.put('/v1/nodes/fast/traits', { traits: ['CUSTOM_FAST', 'CUSTOM_RED'] }), 204)
    const { traits, machines } = await status()
    const { traits: places } = machines.find((row: Shown) => row.name === 'fast')
    assert.deepEqual(
      places.map((place: number) => traits[place]),
      ['CUSTOM_FAST', 'CUSTOM_RED'],
    )
    assert.equal(new Set(traits).size, traits.length)
    const names = (await status('?trait=CUSTOM_RED')).machines.map((row: Shown) => row.name)
    assert.deepEqual(names, ['fast'])
  })

  void test('says who waits, and who gave up', async () => {
    const wish = { resource_class: 'nowhere', name: 'patient', wait_until: await inMinutes(60), owner: 'nlp' }
    const { uuid } = expectStatus(await metal.post('/v1/allocations', wish, { ...bob, ...NEWEST }), 201).body
    const failed = await metal.refused({ resource_class: 'nowhere', name: 'hasty' })
    const { waiting } = await status('?class=nowhere')
    assert.deepEqual(
      waiting.map((row: Shown) => [row.uuid, row.state, row.place, row.who, row.project, row.mine]),
      [
        [uuid, 'waiting', 1, 'bob', 'nlp', false],
        [failed.uuid, 'gave up', null, 'admin', 'admin', true],
      ],
    )
    assert.ok(waiting[1].reason)
    const seen = async (who: Options) =>
      (await status('', who)).waiting.map((row: Shown) => [row.uuid, row.mine, row.may])
    assert.deepEqual(await seen(bob), [[uuid, true, ['delete', 'wait']]])
    assert.deepEqual(await seen(alice), [])
    expectStatus(await metal.del(`/v1/allocations/${uuid}`, { ...bob, ...NEWEST }), 204)
    assert.deepEqual(await seen(bob), [])
  })

  void test('says when one who waits is likely to begin, and because of whose end', async () => {
    const node = await machine('scarce', { owner: 'nlp' })
    const until = await inMinutes(30)
    const first = { resource_class: 'scarce', name: 'runs', expires_at: until }
    await metal.allocated(first)
    const wish = { resource_class: 'scarce', wait_until: await inMinutes(60), owner: 'nlp' }
    const ask = async (name: string) =>
      expectStatus(await metal.post('/v1/allocations', { ...wish, name }, { ...bob, ...NEWEST }), 201).body.uuid
    const uuids = [await ask('next'), await ask('after')]
    const { waiting } = await status('?class=scarce')
    assert.deepEqual(
      waiting.map((row: Shown) => [row.name, row.place, row.of, row.start, row.suits, row.may]),
      [
        ['next', 1, 2, until, [node], ['delete', 'priority', 'wait']],
        ['after', 2, 2, null, [node], ['delete', 'priority', 'wait']],
      ],
    )
    assert.deepEqual(waiting[0].because, { machine: node, what: 'runs', end: until })
    const his = (await status('?class=scarce', bob)).waiting
    assert.deepEqual([his[0].because, his[0].may], [{ machine: node, what: null, end: until }, ['delete', 'wait']])
    for (const uuid of uuids) expectStatus(await metal.del(`/v1/allocations/${uuid}`, { ...bob, ...NEWEST }), 204)
  })

  void test('a project sees its machines, and of others no names', async () => {
    await machine('shared', { owner: 'vision', lessee: 'nlp', description: 'near the door' })
    await machine('private', { owner: 'ops' })
    const wish = { resource_class: 'shared', name: 'secret-job', owner: 'nlp', expires_at: await inMinutes(60) }
    const { uuid } = expectStatus(await metal.post('/v1/allocations', wish, { ...bob, ...NEWEST }), 201).body
    await metal.settled(uuid)

    for (const who of [alice, rita]) {
      const { machines, hosts } = await status('', who)
      assert.equal(
        machines.find(({ name }: Shown) => name === 'private'),
        undefined,
      )
      assert.deepEqual(hosts, [])
      const row = machines.find(({ name }: Shown) => name === 'shared')
      assert.deepEqual(
        [row.state, row.who, row.project, row.what, row.id, row.owner, row.lessee, row.note, row.mine],
        ['taken', null, null, null, null, 'vision', null, 'near the door', false],
      )
      const text = JSON.stringify(await status('?spans=0s/1d', who))
      for (const hidden of ['secret-job', 'bob', 'nlp', uuid]) assert.ok(!text.includes(hidden), hidden)
      assert.equal(machines.length, (await status('?project=vision', who)).machines.length)
      assert.deepEqual((await status('?who=bob', who)).machines, [])
    }
    const hers = (await rowOf('shared', alice)).may
    assert.ok(
      hers.includes('maintenance') && hers.includes('note') && !hers.includes('kick') && !hers.includes('delete'),
    )
    assert.deepEqual((await rowOf('shared', rita)).may, [])
    const his = await rowOf('shared', bob)
    assert.deepEqual([his.who, his.what, his.owner, his.lessee, his.mine], ['bob', 'secret-job', null, 'nlp', true])
    assert.ok(his.may.includes('release') && his.may.includes('extend') && !his.may.includes('maintenance'))
    const colleague = (await rowOf('shared', as('ben', 'nlp'))).may
    assert.ok(colleague.includes('kick') && !colleague.includes('release'))
    assert.deepEqual(
      (await status('?mine', bob)).machines.map(({ name }: Shown) => name),
      ['shared'],
    )
    assert.deepEqual((await status('', as('eve', 'office'))).machines, [])
    const { who, what, may } = await rowOf('shared', asSystem('reader'))
    assert.deepEqual([who, what, may], ['bob', 'secret-job', []])
    expectStatus(await api.operate('GET', '/status', undefined, as('eve', 'office', '')), 403)

    const one = await api.operate('GET', '/status/shared', undefined, alice)
    const text = JSON.stringify(expectStatus(one, 200).body)
    for (const hidden of ['secret-job', 'bob', 'nlp', uuid]) assert.ok(!text.includes(hidden), hidden)
    expectStatus(await api.operate('GET', '/status/private', undefined, alice), 404)
    expectStatus(await api.operate('GET', '/status/nothing', undefined, alice), 404)
  })

  void test('says all about one machine', async () => {
    const node = await machine('whole', { properties: { cpus: 8 } })
    expectStatus(await metal.post('/v1/ports', { node_uuid: node, address: '52:54:00:00:77:01' }), 201)
    const { uuid } = await metal.allocated({ resource_class: 'whole', name: 'first' })
    expectStatus(await metal.del(`/v1/allocations/${uuid}`, NEWEST), 204)
    for (const ident of ['whole', node]) {
      const { body } = expectStatus(await api.operate('GET', `/status/${ident}`), 200)
      assert.deepEqual([body.machine.name, body.machine.state], ['whole', 'free'])
      assert.deepEqual(
        body.ports.map(({ address }: Shown) => address),
        ['52:54:00:00:77:01'],
      )
      assert.deepEqual(body.hardware, { cpus: 8 })
      const verbs = new Map<string, Shown>(body.verbs.map((verb: Shown) => [verb.verb, verb]))
      assert.deepEqual(verbs.get('manage'), { verb: 'manage', may: true, why_not: null })
      assert.deepEqual(verbs.get('rescue'), { verb: 'rescue', may: false, why_not: 'Not in state available.' })
      const past = body.history.filter(({ what }: Shown) => what.startsWith('allocation'))
      assert.deepEqual(
        past.map(({ what, name, who }: Shown) => [what, name, who]),
        [
          ['allocation ended', 'first', 'admin'],
          ['allocation active', 'first', 'admin'],
        ],
      )
    }
    const { body } = expectStatus(await api.operate('GET', '/status/shared', undefined, rita), 200)
    assert.ok(body.verbs.every(({ may, why_not }: Shown) => !may && why_not === 'You may not.'))
  })

  void test('what it says can not be done is refused', async () => {
    const args: Record<string, object> = { clean: { clean_steps: [] }, rescue: { rescue_password: 'x' } }
    const provision = /^(manage|provide|inspect|clean|adopt|deploy|rebuild|undeploy|rescue|unrescue|abort)$/
    for (const name of ['free', 'new', 'mended', 'old', 'cursed', 'deployed', 'claimed', 'leased']) {
      const { body } = expectStatus(await api.operate('GET', `/status/${name}`), 200)
      for (const { verb, why_not } of body.verbs) {
        if (why_not === null || !provision.test(verb)) continue
        const { status: answered } = await metal.provision(name, verb, args[verb])
        assert.ok(answered >= 400 && answered < 500, `${verb} of ${name}: ${answered}, although ${why_not}`)
      }
      assert.equal((await rowOf(name)).state, body.machine.state)
    }
  })

  void test('refuses what it does not know, in words', async () => {
    const refused = async (query: string, words: RegExp) => {
      const { body } = expectStatus(await api.operate('GET', `/status?${query}`), 400)
      assert.match(body.error.message, words)
    }
    await refused('colour=red', /colour/)
    await refused('state=sleepy', /sleepy/)
    await refused('mine=perhaps', /perhaps/)
    await refused('spans=today', /two times with a slash/)
    await refused('spans=2026-01-02T00:00:00Z/2026-01-01T00:00:00Z', /end after they begin/)
    await refused('spans=2026-01-01T00:00:00Z/2036-01-01T00:00:00Z', /at most 400 days/)
    await refused('state=free&state=taken', /only once/)
    assert.deepEqual((await status('?class=no-such-class')).machines, [])
    const head = expectStatus(await api.operate('HEAD', '/status'), 200)
    assert.ok(Number(head.headers['content-length']) > 1_000)
  })
})
