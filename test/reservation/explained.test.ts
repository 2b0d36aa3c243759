// What a lease or its change would come to: on random calendars, the explanation is what the real request then does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seeded } from '../../src/clock/chance.ts'
import { Baremetal, NEWEST } from '../support/baremetal.ts'
import type { Answer } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { as, dateAt, eachReservation, instances, type Shown } from '../support/reservation.ts'
import { rounds } from '../support/rounds.ts'

const ROUNDS = rounds(20, 600)
const MINUTE_MS = 60_000
const alice = as('alice', 'p1')
const bob = as('bob', 'p2')

eachReservation('explained leases', api => {
  const metal = new Baremetal()
  before(() => (metal.origins = metal.placement.origins = api.origins))
  after(() => metal.close())

  let classes = 0
  async function enrolled(count: number) {
    const resource_class = `explained-${++classes}`
    const names = Array.from({ length: count }, (_, i) => `${resource_class}-${i}`)
    for (const name of names) {
      await metal.node({ resource_class, name }, 'available')
      expectStatus(await api.operate('PUT', `/leasable-nodes/${name}`), 200)
    }
    return { resource_class, names }
  }
  const nodesOf = (resource_class: string, min: number, max = min) => ({
    resource_type: 'physical:node',
    resource_class,
    min,
    max,
  })
  const explained = (body: object, options?: object) => api.operate('POST', '/explain/leases', body, options)

  const faultIn = ({ body }: Answer): string => JSON.parse(body.error_message).faultstring

  /** Same status, same words; and the same machines where it fits. */
  function requireSame(told: Answer, real: Answer): void {
    const { status, body } = told
    if (status === 200 && body.fits) {
      assert.ok(real.status < 300, `explained as fitting, but ${JSON.stringify(real.body)}`)
      const parts: Shown[] = real.body.lease.reservations
      for (const [at, { nodes }] of parts.entries()) {
        if (!nodes) continue
        const names = nodes.map(({ name }: Shown) => name).toSorted()
        assert.deepEqual(Object.keys(body.places[at]).toSorted(), names)
      }
    } else if (status === 200) {
      assert.deepEqual([real.status, real.body.error_message], [409, body.message])
      const { reasons, windows, until_date, most } = body
      assert.deepEqual(real.body.details, { reasons, windows, until_date, most })
    } else assert.deepEqual([real.status, real.body.error_message], [status, body.error.message])
  }

  void test('the explanation of a lease or of a change is what the real request does', async () => {
    const { resource_class } = await enrolled(4)
    const { only } = await api.pool(3, { vcpus: 4 })
    const start = await api.now()
    for (const seed of [1, 2]) {
      const random = seeded(seed)
      const upTo = (max: number) => Math.floor(random() * max)
      const window = () => {
        const from = upTo(40) * 15 - 15
        return { start_date: dateAt(start, from), end_date: dateAt(start, from + upTo(30) * 15) }
      }
      const wish = () => {
        const min = 1 + upTo(3)
        return upTo(2) === 0
          ? nodesOf(resource_class, min, min + upTo(2))
          : instances({ vcpus: 1 + upTo(3), amount: 1 + upTo(4), resource_properties: only })
      }
      const made: string[] = []
      const verdicts = new Set<number>()
      for (let round = 0; round < ROUNDS; round++) {
        const id = made[upTo(made.length * 2)]
        const either = () => ({ ...(upTo(2) && { start_date: window().start_date }), end_date: window().end_date })
        const body = id
          ? either()
          : { name: 'random', ...window(), reservations: [wish(), ...(upTo(4) ? [] : [wish()])] }
        const told = await explained(id ? { ...body, lease: id } : body)
        const real = id ? await api.put(`/leases/${id}`, body) : await api.post('/leases', body)
        requireSame(told, real)
        verdicts.add(real.status)
        if (real.status === 201) made.push(real.body.lease.id)
      }
      assert.deepEqual(
        [...verdicts].toSorted((a, b) => a - b),
        [200, 201, 400, 409],
        'all kinds were seen',
      )
      for (const id of made) await api.end(id)
    }
  })

  void test('windows are ranges of starts: it fits from the first to the last, and not a minute later', async () => {
    const { resource_class } = await enrolled(2)
    const start = await api.now()
    const at = (from: number, to: number) => ({ start_date: dateAt(start, from), end_date: dateAt(start, to) })
    const ids: string[] = []
    for (const [from, to] of [
      [60, 120],
      [60, 180],
      [400, 500],
    ] as const) {
      ids.push((await api.lease([nodesOf(resource_class, 1)], at(from, to))).id)
    }
    const body = { ...at(90, 150), reservations: [nodesOf(resource_class, 2)] }
    const told = expectStatus(await explained(body), 200).body
    assert.equal(told.fits, false)
    assert.deepEqual(told.most, [{ count: 0, of: 2 }])
    const times = told.windows.map((window: Shown) =>
      [window.start_date, window.last_start_date].map(date => date && (Date.parse(`${date}Z`) - start) / MINUTE_MS),
    )
    const whole = Math.floor(start / MINUTE_MS) * MINUTE_MS - start
    assert.deepEqual(times, [
      [180 + whole / MINUTE_MS, 340 + whole / MINUTE_MS],
      [500 + whole / MINUTE_MS, null],
    ])
    const fitsAt = async (from: number) =>
      expectStatus(await explained({ ...body, ...at(from, from + 60) }), 200).body.fits as boolean
    assert.deepEqual(await Promise.all([179, 180, 340, 341, 499, 500, 5000].map(fitsAt)), [
      false,
      true,
      true,
      false,
      false,
      true,
      true,
    ])
    const longer = expectStatus(await explained({ ...body, ...at(200, 450) }), 200).body
    assert.equal(Date.parse(`${longer.until_date}Z`), start + whole + 400 * MINUTE_MS)
    for (const id of ids) await api.end(id)
  })

  void test('a reservation that names its nodes gets these and no others', async () => {
    const { resource_class, names } = await enrolled(3)
    const uuids = await Promise.all(
      names.map(async name => expectStatus(await metal.get(`/nodes/${name}`), 200).body.uuid as string),
    )
    const start = await api.now()
    const at = (from: number, to: number) => ({ start_date: dateAt(start, from), end_date: dateAt(start, to) })
    const named = (...places: number[]) => ({
      ...nodesOf(resource_class, places.length),
      candidate_nodes: places.map(place => uuids[place]!),
    })
    const told = expectStatus(await explained({ ...at(60, 120), reservations: [named(2)] }), 200).body
    assert.deepEqual([told.fits, told.places], [true, [{ [names[2]!]: 1 }]])
    const lease = await api.lease([named(2)], at(60, 120))
    assert.deepEqual(lease.reservations[0].candidate_nodes, [uuids[2]])
    const again = expectStatus(await explained({ ...at(90, 150), reservations: [named(1, 2)] }), 200).body
    assert.deepEqual([again.fits, again.most], [false, [{ count: 1, of: 2 }]])
    assert.equal(Date.parse(`${again.windows[0].start_date}Z`), Date.parse(`${lease.end_date}Z`))
    const [{ id }] = lease.reservations
    const moved = await api.put(`/leases/${lease.id}`, { reservations: [{ id, candidate_nodes: [uuids[0]] }] })
    assert.deepEqual(
      expectStatus(moved, 200).body.lease.reservations[0].nodes.map(({ name }: Shown) => name),
      [names[0]],
    )
    const wrong = expectStatus(
      await explained({ ...at(60, 120), reservations: [{ ...named(1), candidate_nodes: ['n'] }] }),
      400,
    )
    assert.match(wrong.body.error.message, /candidate_nodes must have UUIDs of nodes/)
    await api.end(lease.id)
  })

  void test('who is in the way is named to those who may know it', async () => {
    const { resource_class, names } = await enrolled(1)
    const start = await api.now()
    const at = (from: number, to: number) => ({ start_date: dateAt(start, from), end_date: dateAt(start, to) })
    const reservations = [nodesOf(resource_class, 1)]
    const mine = await api.lease(reservations, { name: 'mine', ...at(60, 120) }, alice)
    const other = await api.lease(reservations, { name: 'secret', ...at(180, 240) }, bob)
    const change = { lease: mine.id, end_date: dateAt(start, 200) }
    const sampleFor = async (options?: object) => {
      const { fits, reasons, until_date } = expectStatus(await explained(change, options), 200).body
      assert.deepEqual([fits, until_date], [false, other.start_date])
      return reasons.find(({ reason }: Shown) => reason === 'leased as a whole')
    }
    const [seen] = (await sampleFor()).sample
    assert.deepEqual([seen.name, seen.from, seen.until], [names[0], other.start_date, other.end_date])
    assert.deepEqual([seen.lease.name, seen.lease.project_id], ['secret', 'p2'])
    const [known] = (await sampleFor(alice)).sample
    assert.deepEqual([known.name, known.from, known.lease], [names[0], other.start_date, null])
    // A new lease says nothing of a machine that alice doesn't have.
    const wanted = { ...at(180, 240), reservations }
    const { message, reasons } = expectStatus(await explained(wanted, alice), 200).body
    assert.doesNotMatch(JSON.stringify([message, reasons]), new RegExp(`${names[0]}|secret|p2`))
    const foreign = expectStatus(await explained({ lease: other.id, end_date: dateAt(start, 300) }, alice), 404)
    assert.match(foreign.body.error.message, /could not be found/)
    const before = await api.show(mine.id)
    expectStatus(await explained({ lease: mine.id, end_date: dateAt(start, 130) }, alice), 200)
    assert.deepEqual(await api.show(mine.id), before)
    for (const { id } of [mine, other]) await api.end(id)
  })

  void test('the change of an allocation is explained as the real one does it, and nothing changes', async () => {
    const { resource_class } = await enrolled(1)
    const held = await metal.allocated({ resource_class, expires_at: '30m' })
    await api.lease([nodesOf(resource_class, 1)], { from: 60, to: 120 })
    const patch = (value: unknown, path = '/expires_at') => [{ op: 'add', path, value }]
    const wrong = [patch('2h'), patch(null), patch('nonsense'), patch('x'.repeat(400), '/note')]
    for (const body of wrong) {
      const told = await metal.operator('POST', `/explain/allocations/${held.uuid}`, body)
      const real = await metal.patch(`/v1/allocations/${held.uuid}`, body, NEWEST)
      assert.deepEqual([told.status, told.body.error.message], [real.status, faultIn(real)])
    }
    const body = [...patch('10m'), ...patch('seen', '/note')]
    const told = expectStatus(await metal.operator('POST', `/explain/allocations/${held.uuid}`, body), 200).body
    assert.deepEqual(await metal.allocation(held.uuid), held)
    const real = expectStatus(await metal.patch(`/v1/allocations/${held.uuid}`, body, NEWEST), 200).body
    assert.deepEqual([told.note, told.state, told.node_uuid], [real.note, real.state, real.node_uuid])
    assert.ok(Math.abs(Date.parse(told.expires_at) - Date.parse(real.expires_at)) < MINUTE_MS)
    expectStatus(await metal.operator('POST', '/explain/allocations/nothing', patch('1h')), 404)
  })
})
