// Leases that an operator brings from another service: with their owner, and the ids of the lease and its reservations.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { as, classOf, eachReservation, expectError, instances } from '../support/reservation.ts'

eachReservation('leases from elsewhere', api => {
  test('an operator brings one with its owner and ids, and it lives as any other', async () => {
    const { only } = await api.pool(1)
    const [id, reservation] = [randomUUID(), randomUUID()]
    // The class came over with the old Placement, and belongs to nobody yet.
    expectStatus(await api.placement.put(`/resource_classes/${classOf(reservation)}`), 201)
    const terms = instances({ id: reservation, resource_properties: only })
    const lease = await api.lease([terms], { id, project_id: 'theirs', user_id: 'ann' })
    assert.deepEqual([lease.id, lease.project_id, lease.user_id], [id, 'theirs', 'ann'])
    assert.equal(lease.reservations[0].id, reservation)
    assert.equal(lease.reservations[0].flavor_id, reservation)
    assert.equal((await api.show(id, as('bob', 'theirs'))).id, id)
    expectStatus(await api.placement.del(`/resource_classes/${classOf(reservation)}`), 409)

    expectError(await api.tryLease([terms], { id }), 409, new RegExp(`lease with id ${id}`))
    expectError(
      await api.tryLease([terms], { id: randomUUID() }),
      409,
      new RegExp(`reservation or flavor with id ${reservation}`),
    )

    await api.advance(61)
    assert.equal((await api.show(id)).status, 'ACTIVE')
    assert.equal((await api.tryServer(reservation, as('ann', 'theirs'))).status, 202)
    await api.advance(60)
    await api.until(id, 'TERMINATED')
    assert.ok(!(await api.classes()).includes(classOf(reservation)))
  })

  test('what others say of owners and ids of reservations is ignored', async () => {
    const { only } = await api.pool(1)
    const id = randomUUID()
    const terms = instances({ resource_properties: only, id })
    const lease = await api.lease([terms], { project_id: 'theirs', user_id: 'bob' }, as('ann', 'hers'))
    assert.deepEqual([lease.project_id, lease.user_id], ['hers', 'ann'])
    assert.notEqual(lease.reservations[0].id, id)
  })

  test('an operator who sends back what was shown makes a new lease: only one with an id comes from elsewhere', async () => {
    const { only } = await api.pool(1)
    const wanted = instances({ resource_properties: only })
    const first = await api.lease([wanted])
    const again = await api.lease([{ ...wanted, id: first.reservations[0].id }], { project_id: 'theirs' })
    assert.equal(again.project_id, first.project_id)
    assert.notEqual(again.reservations[0].id, first.reservations[0].id)
  })

  test('wrong ids and owners are refused in words', async () => {
    const { only } = await api.pool(1)
    const terms = instances({ resource_properties: only })
    const id = randomUUID()
    expectError(await api.tryLease([{ ...terms, id: 'r1' }], { id }), 400, /id must be a UUID/)
    const twice = [
      { ...terms, id },
      { ...terms, id },
    ]
    expectError(await api.tryLease(twice, { id }), 400, /same id/)
    expectError(await api.tryLease([terms], { project_id: 5 }), 400, /project_id/)
    expectError(await api.tryLease([terms], { user_id: '' }), 400, /user_id/)
  })
})
