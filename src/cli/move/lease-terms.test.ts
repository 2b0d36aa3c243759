import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyOf, capabilitiesOf, commandsFor, fateOf, isSameLease, type SeenLease } from './lease-terms.ts'

const NOW = Date.UTC(2030, 0, 1, 9)
const terms = { resource_type: 'virtual:instance', vcpus: 1, memory_mb: 2, disk_gb: 3, amount: 4, affinity: false }
const made = { id: 'r', lease_id: 'l', resource_id: 'x', status: 'pending', flavor_id: 'r', aggregate_id: 2 }
const lease: SeenLease = {
  id: 'l',
  name: "it's",
  start_date: '2030-01-01T10:00:00.000000',
  end_date: '2030-01-01T12:00:00.000000',
  status: 'PENDING',
  user_id: 'u',
  project_id: 'p',
  reservations: [{ ...made, ...terms }],
  events: [{ event_type: 'before_end_lease', time: '2030-01-01T11:00:00.000000' }],
}
const holdfast = { withOwner: true, withReservationIds: true }
const blazar = { withOwner: false, withReservationIds: false }

test('only what has not started moves', () => {
  assert.deepEqual(fateOf(lease, NOW), { kind: 'move' })
  assert.equal(fateOf({ ...lease, status: 'ACTIVE' }, NOW).kind, 'refuse')
  assert.equal(fateOf({ ...lease, status: 'ERROR' }, NOW).kind, 'refuse')
  assert.equal(fateOf(lease, NOW + 3_600_000).kind, 'refuse')
  assert.equal(fateOf({ ...lease, status: 'TERMINATED' }, NOW).kind, 'over')
  assert.equal(fateOf({ ...lease, status: 'ERROR' }, NOW + 4 * 3_600_000).kind, 'over')
})

test('a request has what was asked for, and nothing that the service made', () => {
  assert.deepEqual(bodyOf(lease, holdfast), {
    id: 'l',
    project_id: 'p',
    user_id: 'u',
    name: "it's",
    start_date: '2030-01-01 10:00',
    end_date: '2030-01-01 12:00',
    before_end_date: '2030-01-01 11:00',
    reservations: [{ id: 'r', ...terms, resource_properties: '' }],
    events: [],
  })
  const bare = bodyOf({ ...lease, events: [] }, blazar)
  assert.deepEqual(Object.keys(bare), ['name', 'start_date', 'end_date', 'reservations', 'events'])
})

test('a reservation by flavor asks for the flavor that was named, not for its own', () => {
  const flavor = { ...made, resource_type: 'flavor:instance', amount: 1, affinity: null }
  const asked = (resource_properties: string) =>
    (bodyOf({ ...lease, reservations: [{ ...flavor, resource_properties }] }, blazar)['reservations'] as object[])[0]
  const wanted = { resource_type: 'flavor:instance', amount: 1, affinity: null }
  assert.deepEqual(asked('{"id": "m1.small"}'), { ...wanted, flavor_id: 'm1.small' })
  assert.deepEqual(asked('{broken'), { ...wanted, flavor_id: 'r' })
})

test('two leases are the same by what was asked for', () => {
  assert.ok(isSameLease(lease, { ...lease, id: 'other', status: 'ACTIVE', events: [] }))
  assert.ok(!isSameLease(lease, { ...lease, end_date: '2030-01-01T13:00:00.000000' }))
  assert.ok(!isSameLease(lease, { ...lease, reservations: [{ ...made, ...terms, amount: 5 }] }))
})

test('the commands are quoted for a shell, and what has none is a comment', () => {
  const host = { id: '1', hypervisor_hostname: 'hv-1', vcpus: 8, trust_id: 't', gpu: 'a b' }
  assert.deepEqual(capabilitiesOf(host), { gpu: 'a b' })
  const node = { ...lease, name: 'nodes', reservations: [{ resource_type: 'physical:node', min: 1, max: 1 }] }
  const [first, second, third, fourth] = commandsFor(
    { hosts: [host], leases: [lease, node, { ...lease, status: 'ACTIVE' }] },
    NOW,
  )
  assert.equal(first, "openstack reservation host create --extra 'gpu=a b' hv-1")
  assert.equal(
    second,
    'openstack --os-project-id p reservation lease create --reservation resource_type=virtual:instance,vcpus=1,' +
      "memory_mb=2,disk_gb=3,amount=4,affinity=False,resource_properties= --start-date '2030-01-01 10:00' " +
      "--end-date '2030-01-01 12:00' --before-end-date '2030-01-01 11:00' 'it'\\''s'",
  )
  assert.match(third!, /^# lease nodes .*only in Holdfast/)
  assert.match(fourth!, /^# lease .* is ACTIVE/)
})
