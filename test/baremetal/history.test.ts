// The history of nodes: what became of each, who did it, and who is told names.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { Baremetal, eachMetal, expectFault, newClass, uuid } from '../support/baremetal.ts'
import { as } from '../support/callers.ts'
import { expectStatus } from '../support/placement.ts'

interface Line {
  uuid: string
  created_at: string
  severity: string
  event: string
  event_type: string
  conductor: string | null
  user: string | null
  output: string | null
}

const linesOf = async (api: Baremetal, node: string, options = {}): Promise<Line[]> =>
  expectStatus(await api.get(`/v1/nodes/${node}/history/detail`, options), 200).body.history
const eventsOf = async (api: Baremetal, node: string, options = {}) =>
  (await linesOf(api, node, options)).map(({ event }) => event)

eachMetal('the history of a node', api => {
  void test('says what became of it, and who did it', async () => {
    const node = await api.node({}, 'available')
    const lines = await linesOf(api, node)
    assert.deepEqual(
      lines.map(({ event }) => event),
      [
        'Enrolled with the driver fake-hardware, in state enroll.',
        'From enroll to verifying, on the way to manageable.',
        'From verifying to manageable.',
        'Power changed from unknown to off.',
        'From manageable to cleaning, on the way to available.',
        'From cleaning to available.',
      ],
    )
    assert.deepEqual(
      lines.map(({ user, conductor }) => [user === null, conductor === null]),
      [
        [false, true],
        [false, true],
        [true, false],
        [true, false],
        [false, true],
        [true, false],
      ],
    )
    assert.deepEqual([...new Set(lines.map(({ severity }) => severity))], ['INFO'])
  })

  void test('has failures with their reason', async () => {
    const node = await api.node({ driver_info: { fake_fail: ['clean', 'power on'] } }, 'manageable')
    await api.provision(node, 'provide')
    const { last_error } = await api.until(node, 'clean failed')
    expectStatus(await api.put(`/v1/nodes/${node}/states/power`, { target: 'power on' }), 202)
    await api.until(node, 'clean failed')
    const errors = (await linesOf(api, node)).filter(({ severity }) => severity === 'ERROR')
    assert.deepEqual(
      errors.map(({ event, event_type }) => [event_type, event]),
      [
        ['provisioning', `From cleaning to clean failed: ${last_error}`],
        ['power', 'fake-hardware was told to fail at power on'],
      ],
    )
  })

  void test('has reboots, power changes, maintenance, traits and drivers', async () => {
    const node = await api.node({}, 'manageable')
    for (const target of ['power on', 'rebooting']) {
      expectStatus(await api.put(`/v1/nodes/${node}/states/power`, { target }), 202)
      await api.until(node, 'manageable')
    }
    expectStatus(await api.put(`/v1/nodes/${node}/maintenance`, { reason: 'disk' }), 202)
    expectStatus(await api.put(`/v1/nodes/${node}/maintenance`, { reason: 'fan' }), 202)
    expectStatus(await api.del(`/v1/nodes/${node}/maintenance`), 202)
    expectStatus(await api.put(`/v1/nodes/${node}/traits`, { traits: ['CUSTOM_A', 'CUSTOM_B'] }), 200, 204)
    expectStatus(await api.put(`/v1/nodes/${node}/traits`, { traits: ['CUSTOM_B', 'CUSTOM_C'] }), 200, 204)
    assert.deepEqual((await eventsOf(api, node)).slice(4), [
      'Asked for: power on.',
      'Power changed from off to on.',
      'Asked for: rebooting.',
      'Maintenance began: disk',
      'The reason for the maintenance is now: fan',
      'Maintenance is over.',
      'Traits: added CUSTOM_A, CUSTOM_B.',
      'Traits: added CUSTOM_C; removed CUSTOM_A.',
    ])
  })

  void test('what changes nothing leaves no line', async () => {
    const node = await api.node({}, 'available')
    const count = (await eventsOf(api, node)).length
    expectStatus(await api.provision(node, 'rescue'), 400)
    expectStatus(await api.change(node, 'extra/x', 1), 200)
    expectStatus(await api.operator('GET', `/explain/deletions/nodes/${node}`), 200)
    assert.equal((await eventsOf(api, node)).length, count)
  })

  void test('has hand-overs: allocations, instances and holds', async () => {
    const resource_class = newClass()
    const node = await api.node({ resource_class, owner: 'p1' }, 'available')
    const start = (await eventsOf(api, node)).length
    const allocation = await api.allocated({ resource_class, name: 'job', owner: 'p1', expires_at: '1h' })
    expectStatus(await api.del(`/v1/allocations/${allocation.uuid}`), 204)
    const hold = await api.hold([node])
    expectStatus(await api.del(`/v1/reservations/${hold.uuid}`, { version: '1.83' }), 204)
    const instance = uuid()
    expectStatus(await api.change(node, 'instance_uuid', instance), 200)
    expectStatus(await api.change(node, 'instance_uuid'), 200)
    const lines = (await linesOf(api, node)).slice(start)
    const patterns = [
      /^Given to an allocation until \S+: job \(\S+\), of user \S+ in project p1$/,
      /^Taken back from an allocation, because it was ended: job /,
      /^Held until \S+: \S+, for instance \S+ of project /,
      /^The hold was released: /,
      /^Given to an instance: \S+, of user \S+ in project \S+$/,
      /^Taken back from an instance, because someone took the instance away: /,
    ]
    assert.equal(lines.length, patterns.length, lines.map(({ event }) => event).join('\n'))
    for (const [i, pattern] of patterns.entries()) assert.match(lines[i]!.event, pattern)
    assert.deepEqual([...new Set(lines.map(line => line.event_type))], ['hand-over'])
  })

  void test('a machine that is deployed and torn down is taken back then', async () => {
    const resource_class = newClass()
    const node = await api.node({ resource_class }, 'available')
    await api.allocated({ resource_class })
    await api.go(node, 'active', 'active')
    await api.go(node, 'deleted', 'available')
    const events = await eventsOf(api, node)
    assert.ok(
      events.some(event => event.startsWith('Taken back from an allocation, because the machine was torn down')),
    )
  })

  void test('others are told that a node was given away, and no names', async () => {
    const resource_class = newClass()
    const node = await api.node({ resource_class, owner: 'lab' }, 'available')
    const allocation = await api.allocated({ resource_class, name: 'secret-job', owner: 'lab' })
    expectStatus(await api.del(`/v1/allocations/${allocation.uuid}`), 204)
    const foreign = uuid()
    expectStatus(await api.change(node, 'instance_uuid', foreign, as('admin', 'rivals')), 200)
    const lab = as('reader', 'lab')
    const seen = await linesOf(api, node, lab)
    assert.ok(seen.some(({ event }) => event.includes('secret-job')))
    const all = JSON.stringify(seen)
    assert.ok(!all.includes('rivals'), all)
    // The instance was claimed for the owner, so it may be named; the user who did it is of another project.
    assert.deepEqual([...new Set(seen.map(({ user }) => user))], [null])
    const asAdmin = await linesOf(api, node)
    assert.ok(asAdmin.every(({ user, conductor }) => user !== null || conductor !== null))
    expectStatus(await api.get(`/v1/nodes/${node}/history`, as('reader', 'rivals')), 404)
  })
})

eachMetal('lists of the history', api => {
  let node = ''
  let all: Line[]
  before(async () => {
    node = await api.node({ name: 'n1' }, 'available')
    all = await linesOf(api, 'n1')
  })

  void test('short rows, rows in detail, one row', async () => {
    const { body } = expectStatus(await api.get('/v1/nodes/n1/history'), 200)
    assert.deepEqual(Object.keys(body.history[0]).sort(), ['created_at', 'event', 'links', 'severity', 'uuid'])
    const detailed = expectStatus(await api.get('/v1/nodes/n1/history?detail=true'), 200)
    assert.deepEqual(detailed.body.history, all)
    const one = expectStatus(await api.get(`/v1/nodes/n1/history/${all[1]!.uuid}`), 200)
    assert.equal(one.body.links[0].href, `${api.origin}/baremetal/v1/nodes/${node}/history/${all[1]!.uuid}`)
    assert.deepEqual(one.body, all[1])
  })

  void test('pages in both orders give each line once', async () => {
    for (const order of ['asc', 'desc']) {
      const found: string[] = []
      let path: string | undefined = `/v1/nodes/n1/history?limit=2&sort_dir=${order}`
      while (path !== undefined) {
        const { body }: { body: { history: Line[]; next?: string } } = expectStatus(await api.get(path), 200)
        found.push(...body.history.map(line => line.uuid))
        path = body.next?.split('/baremetal')[1]
      }
      const expected = all.map(line => line.uuid)
      assert.deepEqual(found, order === 'asc' ? expected : expected.toReversed())
    }
  })

  void test('what makes no sense is refused', async () => {
    for (const query of ['limit=0', 'limit=x', 'marker=x', 'detail=perhaps', 'sort_dir=up', 'fields=uuid'])
      expectFault(await api.get(`/v1/nodes/n1/history?${query}`), 400)
    expectFault(await api.get('/v1/nodes/n1/history/x'), 400)
    expectFault(await api.get(`/v1/nodes/n1/history/${uuid()}`), 404)
    expectFault(await api.get(`/v1/nodes/n1/history?marker=${uuid()}`), 404)
    const other = await api.node()
    expectFault(await api.get(`/v1/nodes/${other}/history/${all[0]!.uuid}`), 404)
    expectFault(await api.get(`/v1/nodes/${uuid()}/history`), 404)
    expectStatus(await api.get('/v1/nodes/n1/history', { version: '1.77' }), 404)
  })

  void test('a deleted node takes its history along', async () => {
    const gone = await api.node({ instance_uuid: uuid() })
    expectStatus(await api.put(`/v1/nodes/${gone}/maintenance`, {}), 202)
    expectStatus(await api.del(`/v1/nodes/${gone}`), 204)
    expectFault(await api.get(`/v1/nodes/${gone}/history`), 404)
  })
})
