// Instances by an existing flavor: what the flavor asks for beside its size is booked and claimed too.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { as, classOf, eachReservation, expectError, instances, type Shown, wholeHosts } from '../support/reservation.ts'

const PLAIN = { version: null } as const

eachReservation('instances by a flavor', api => {
  let pools = 0

  /** Hosts with a trait of their own, and what a flavor must ask for to land there. */
  async function pool(count: number, extras: Record<string, number> = {}, traits: string[] = []) {
    const trait = `CUSTOM_POOL_${++pools}`
    const names = Array.from({ length: count }, (_, i) => `flavors-${pools}-${i}`)
    for (const name of names) {
      await api.host(name, { vcpus: 8, extras })
      await setTraits(name, [trait, ...traits])
    }
    return { names, only: { [`trait:${trait}`]: 'required' } }
  }

  async function setTraits(host: string, traits: string[]) {
    for (const one of traits) expectStatus(await api.placement.put(`/traits/${one}`), 201, 204)
    const { uuid } = await api.provider(host)
    const generation = await api.placement.generation(uuid)
    const body = { resource_provider_generation: generation, traits }
    expectStatus(await api.placement.put(`/resource_providers/${uuid}/traits`, body), 200)
  }

  async function setInventory(host: string, name: string, terms: object | null) {
    const { uuid } = await api.provider(host)
    const path = `/resource_providers/${uuid}/inventories`
    const { inventories, resource_provider_generation } = expectStatus(await api.placement.get(path), 200).body
    const { [name]: _, ...others } = inventories
    const body = { resource_provider_generation, inventories: terms ? { ...others, [name]: terms } : others }
    expectStatus(await api.placement.put(path, body), 200)
  }

  const by = (flavor_id: string, more: object = {}) => ({
    resource_type: 'flavor:instance',
    flavor_id,
    amount: 1,
    ...more,
  })
  const dropFlavor = async (id: string) => expectStatus(await api.compute.del(`/flavors/${id}`, PLAIN), 202)
  const specsOf = async (id: string) =>
    expectStatus(await api.compute.get(`/flavors/${id}/os-extra_specs`, PLAIN), 200).body.extra_specs
  const usage = async (host: string) => api.placement.usages((await api.provider(host)).uuid)

  async function eventually(check: () => Promise<void>) {
    const deadline = performance.now() + 15_000
    for (;;) {
      try {
        return await check()
      } catch (error) {
        if (performance.now() > deadline) throw error
        await sleep(50)
      }
    }
  }

  void test('from create to end: a copy of the flavor, servers that claim its other resources, one too many refused', async () => {
    const { names, only } = await pool(1, { CUSTOM_GPU: 4 })
    const extra_specs = { 'resources:CUSTOM_GPU': '2', 'hw_rng:allowed': 'True', ...only }
    const source = await api.flavorWith({ vcpus: 2, ram: 1024, disk: 5, extra_specs })
    const lease = await api.lease([by(source, { amount: 2 })], { from: 0, to: 60 })
    const [reservation] = lease.reservations
    const { id } = reservation
    assert.deepEqual(
      [reservation.resource_type, reservation.vcpus, reservation.memory_mb, reservation.disk_gb],
      ['flavor:instance', 2, 1024, 5],
    )
    assert.deepEqual([reservation.amount, reservation.affinity, reservation.flavor_id], [2, null, id])
    const copied = JSON.parse(reservation.resource_properties)
    assert.deepEqual([copied.id, copied.ram, copied.extra_specs], [source, 1024, extra_specs])

    // What becomes of the flavor changes nothing.
    expectStatus(await api.compute.del(`/flavors/${source}/os-extra_specs/resources:CUSTOM_GPU`, PLAIN), 200)
    await dropFlavor(source)
    await api.until(lease.id, 'ACTIVE')
    const flavor = await api.flavor(id)
    assert.deepEqual(
      [flavor.name, flavor.vcpus, flavor.ram, flavor.disk, flavor['os-flavor-access:is_public']],
      [`reservation:${id}`, 2, 1024, 5, false],
    )
    assert.deepEqual(await specsOf(id), { ...extra_specs, [`resources:${classOf(id)}`]: '1' })
    const who = as('alice', lease.project_id)
    assert.equal((await api.server(id, who)).status, 'ACTIVE')
    assert.equal((await api.server(id, who)).status, 'ACTIVE')
    assert.equal((await api.server(id, who)).status, 'ERROR')
    assert.deepEqual(await usage(names[0]!), { VCPU: 4, MEMORY_MB: 2048, DISK_GB: 10, CUSTOM_GPU: 4 })

    await api.advance(61)
    await api.until(lease.id, 'TERMINATED')
    assert.deepEqual(await usage(names[0]!), { VCPU: 0, MEMORY_MB: 0, DISK_GB: 0, CUSTOM_GPU: 0 })
    assert.equal(await api.flavor(id), null)
  })

  void test('what is exhausted is refused, in words, with the time when it fits', async () => {
    const { only } = await pool(1, { CUSTOM_GPU: 4 })
    const one = await api.flavorWith({ extra_specs: { 'resources:CUSTOM_GPU': '1', ...only } })
    const plain = await api.flavorWith({ extra_specs: only })
    const first = await api.lease([by(one, { amount: 3 })], { from: 10, to: 20 })
    const refused = expectError(
      await api.tryLease([by(one, { amount: 2 })], { from: 15, to: 25 }),
      409,
      /1 of 4 CUSTOM_GPU/,
    )
    assert.match(refused.body.error_message, /asks for 2 of 1 vcpus, 512 MB, 1 GB, 1 CUSTOM_GPU/)
    assert.equal(refused.body.details.windows.length, 1)
    // The sizes are still free, and so are the other hours.
    const beside = await api.lease([by(plain, { amount: 4 })], { from: 10, to: 20 })
    const later = await api.lease([by(one, { amount: 4 })], { from: 20, to: 30 })
    const both = await api.explain([by(one), by(one)], { from: 10, to: 20 })
    assert.equal(expectStatus(both, 200).body.fits, false)
    assert.equal(expectStatus(await api.explain([by(one)], { from: 10, to: 20 }), 200).body.fits, true)
    for (const { id } of [first, beside, later]) await api.end(id)
  })

  void test('many at once get no more than there is', async () => {
    const { only } = await pool(2, { CUSTOM_GPU: 2 })
    const flavor = await api.flavorWith({ extra_specs: { 'resources:CUSTOM_GPU': '1', ...only } })
    const answers = await Promise.all(Array.from({ length: 12 }, () => api.tryLease([by(flavor)])))
    const made = answers.filter(({ status }) => status === 201)
    assert.equal(made.length, 4)
    for (const answer of answers) expectStatus(answer, 201, 409)
    await api.fsck()
    for (const { body } of made) await api.end(body.lease.id)
  })

  void test('hosts need the required traits, and none of the forbidden ones', async () => {
    const { names, only } = await pool(3)
    const [trait] = Object.keys(only).map(key => key.slice('trait:'.length))
    await setTraits(names[1]!, [trait!, 'CUSTOM_FAST'])
    await setTraits(names[2]!, [trait!, 'CUSTOM_NOISY'])
    const on = async (specs: object) => {
      const lease = await api.lease([by(await api.flavorWith({ extra_specs: { ...only, ...specs } }))])
      const found = Object.entries(await api.slots()).find(([, at]) => at[lease.reservations[0].id])
      await api.end(lease.id)
      return found![0]
    }
    assert.equal(await on({ 'trait:CUSTOM_FAST': 'required' }), names[1])
    assert.equal(await on({ 'trait:CUSTOM_FAST': 'forbidden', 'trait:CUSTOM_NOISY': 'forbidden' }), names[0])
    const none = { ...only, 'trait:CUSTOM_FAST': 'required', 'trait:CUSTOM_NOISY': 'required' }
    const flavor = await api.flavorWith({ extra_specs: none })
    const { details } = expectError(await api.tryLease([by(flavor)]), 409, /does not match/).body
    const told = details.reasons.flatMap(({ sample }: Shown) => sample.map(({ detail }: Shown) => detail))
    assert.ok(told.includes('it does not have the trait CUSTOM_FAST'), told.join())
    // A trait that nobody has yet is only one that no host has.
    const unknown = await api.flavorWith({ extra_specs: { ...only, 'trait:CUSTOM_NOBODY': 'required' } })
    expectError(await api.tryLease([by(unknown)]), 409)
  })

  void test('sizes that the extra specs override count as they say, also zero', async () => {
    const { only } = await pool(1)
    const extra_specs = { ...only, 'resources:VCPU': '0', 'resources:DISK_GB': '50' }
    const flavor = await api.flavorWith({ vcpus: 8, ram: 64, disk: 1, extra_specs })
    expectError(await api.tryLease([by(flavor, { amount: 5 })]), 409, /DISK|disk_gb/)
    const lease = await api.lease([by(flavor, { amount: 4 })], { from: 0, to: 60 })
    await api.until(lease.id, 'ACTIVE')
    const server = await api.server(lease.reservations[0].id)
    assert.equal(server.status, 'ACTIVE')
    await api.end(lease.id)
  })

  void test('a host that does not give so much to one server will not do', async () => {
    const { names, only } = await pool(1, { CUSTOM_GPU: 4 })
    await setInventory(names[0]!, 'CUSTOM_GPU', { total: 4, max_unit: 2, step_size: 2 })
    const asking = async (count: number) =>
      by(await api.flavorWith({ extra_specs: { ...only, 'resources:CUSTOM_GPU': `${count}` } }))
    expectError(await api.tryLease([await asking(4)]), 409, /does not match/)
    expectError(await api.tryLease([await asking(1)]), 409, /does not match/)
    await api.end((await api.lease([await asking(2)])).id)
  })

  void test('affinity is honoured; whole hosts and other instances are in each other’s way', async () => {
    const { only, names } = await pool(2, { CUSTOM_GPU: 2 })
    const flavor = await api.flavorWith({ extra_specs: { ...only, 'resources:CUSTOM_GPU': '1' } })
    const apart = await api.lease([by(flavor, { amount: 2, affinity: false })])
    assert.deepEqual(await api.spread(apart.reservations[0].id), [1, 1])
    expectError(await api.tryLease([by(flavor, { amount: 2, affinity: 'True' })]), 409)
    const whole = wholeHosts({ hypervisor_properties: `["=", "$hypervisor_hostname", "${names[0]}"]` })
    expectError(await api.tryLease([whole]), 409)
    await api.end(apart.id)
    const first = await api.lease([whole])
    const together = await api.lease([by(flavor, { amount: 2, affinity: true })])
    assert.deepEqual(await api.spread(together.reservations[0].id), [2])
    expectError(await api.tryLease([by(flavor)]), 409)
    const beside = instances({ resource_properties: `["=", "$hypervisor_hostname", "${names[1]}"]` })
    await api.end((await api.lease([beside])).id)
    for (const { id } of [first, together]) await api.end(id)
  })

  void test('amount and affinity can be changed; once in use, the amount only grows', async () => {
    const { only } = await pool(2, { CUSTOM_GPU: 2 })
    const flavor = await api.flavorWith({ extra_specs: { ...only, 'resources:CUSTOM_GPU': '1' } })
    const lease = await api.lease([by(flavor, { amount: 2 })], { from: 5, to: 60 })
    await dropFlavor(flavor)
    const { id } = lease.reservations[0]
    const change = (more: object) => api.put(`/leases/${lease.id}`, { reservations: [{ id, ...more }] })
    expectStatus(await change({ affinity: false }), 200)
    assert.deepEqual(await api.spread(id), [1, 1])
    expectStatus(await change({ affinity: null, amount: 3 }), 200)
    expectError(await change({ amount: 5 }), 409, /CUSTOM_GPU/)
    expectError(await change({ vcpus: 3 }), 400, /size of its flavor/)
    expectError(await change({ flavor_id: 'another' }), 400, /stays that/)
    expectError(await change({ resource_type: 'virtual:instance' }), 400)
    // What was shown may be sent back.
    const { reservations } = await api.show(lease.id)
    assert.equal(reservations[0].amount, 3)
    expectStatus(await api.put(`/leases/${lease.id}`, { reservations }), 200)
    await api.advance(6)
    await api.until(lease.id, 'ACTIVE')
    expectError(await change({ amount: 2 }), 409, /only grow/)
    expectError(await change({ affinity: true }), 409, /affinity can not be changed/)
    const after = expectStatus(await change({ amount: 4 }), 200).body.lease.reservations[0]
    assert.deepEqual([after.amount, after.vcpus], [4, 1])
    assert.equal((await api.server(id)).status, 'ACTIVE')
    await api.end(lease.id)
  })

  void test('a flavor that can not be booked is refused in words, and nothing is left', async () => {
    const before = [(await api.get('/leases')).body.leases.length, await api.classes()]
    const refused = async (specs: object, pattern: RegExp, sizes: object = {}) => {
      const flavor = await api.flavorWith({ ...sizes, extra_specs: specs })
      expectError(await api.tryLease([instances(), by(flavor)]), 400, pattern)
    }
    await refused({ 'resources1:CUSTOM_GPU': '1' }, /can not be booked: .* group 1 asks for a part/)
    await refused({ 'trait_NIC:CUSTOM_FAST': 'required' }, /group _NIC/)
    const nothing = { 'resources:VCPU': '0', 'resources:MEMORY_MB': '0', 'resources:DISK_GB': '0' }
    await refused(nothing, /take nothing of their host/)
    await refused({ 'resources:CUSTOM_RESERVATION_X': '1' }, /flavor of a reservation/)
    expectError(await api.tryLease([by('no-such-flavor')]), 400, /Flavor no-such-flavor could not be found/)
    expectError(await api.tryLease([by('../servers')]), 400, /could not be found/)
    const flavor = await api.flavorWith()
    expectError(await api.tryLease([by('')]), 400, /flavor_id must not be empty/)
    expectError(
      await api.tryLease([{ resource_type: 'flavor:instance', amount: 1 }]),
      400,
      /flavor_id must be a string/,
    )
    expectError(await api.tryLease([by(flavor, { amount: 0 })]), 400, /amount/)
    expectError(await api.tryLease([by(flavor, { affinity: 'perhaps' })]), 400, /affinity/)
    assert.deepEqual([(await api.get('/leases')).body.leases.length, await api.classes()], before)
  })

  void test('a private flavor is for those who may use it', async () => {
    const { only } = await pool(1)
    const project = crypto.randomUUID()
    const mine = as('carol', project)
    const flavor = await api.flavorWith({ 'os-flavor-access:is_public': false, extra_specs: only })
    expectError(await api.tryLease([by(flavor)], {}, mine), 400, /could not be found/)
    const action = { addTenantAccess: { tenant: project } }
    expectStatus(await api.compute.post(`/flavors/${flavor}/action`, action, PLAIN), 200)
    const lease = await api.lease([by(flavor)], {}, mine)
    assert.equal(lease.project_id, project)
    expectError(await api.tryLease([by(lease.reservations[0].id)], {}, mine), 400, /could not be found/)
    await api.end(lease.id)
  })

  void test('when a host goes down, they move to one that has what they need', async () => {
    const { names, only } = await pool(2, { CUSTOM_GPU: 2 })
    await api.host(`bare-${pools}`)
    await setTraits(
      `bare-${pools}`,
      Object.keys(only).map(key => key.slice('trait:'.length)),
    )
    const flavor = await api.flavorWith({ extra_specs: { ...only, 'resources:CUSTOM_GPU': '1' } })
    const lease = await api.lease([by(flavor, { amount: 2, affinity: true })], { from: 0, to: 60 })
    await api.until(lease.id, 'ACTIVE')
    const { id } = lease.reservations[0]
    const hostOf = async () => Object.entries(await api.slots()).flatMap(([name, at]) => (at[id] ? name : []))
    const [first] = await hostOf()
    const second = names.find(name => name !== first)!
    expectStatus(await api.operate('POST', '/hypervisor-state', { name: first, state: 'down' }), 200, 202, 204)
    await api.advance(0)
    await eventually(async () => assert.deepEqual(await hostOf(), [second]))
    assert.equal((await api.server(id)).status, 'ACTIVE')
    // With one GPU fewer there is no room for both, and nowhere else to go.
    await setInventory(second, 'CUSTOM_GPU', { total: 1 })
    await api.advance(0)
    await eventually(async () => {
      const { reservations, degraded } = await api.show(lease.id)
      assert.deepEqual([reservations[0].missing_resources, degraded], [true, true])
    })
    await api.fsck()
    expectStatus(await api.operate('POST', '/hypervisor-state', { name: first, state: 'up' }), 200, 202, 204)
    await api.end(lease.id)
  })
})
