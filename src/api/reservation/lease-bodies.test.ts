import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { leaseChangeOf, newLeaseOf } from './lease-bodies.ts'

const NOW = Date.UTC(2030, 0, 1)
const instances = { resource_type: 'virtual:instance', vcpus: 1, memory_mb: 512, disk_gb: 1, amount: 1 }
const lease = (reservation: object) => ({
  name: 'l',
  start_date: '2030-01-01 10:00',
  end_date: '2030-01-01 11:00',
  reservations: [reservation],
})
const read = (reservation: object) => newLeaseOf(lease(reservation), NOW).reservations[0]

void describe('a new lease', () => {
  void test('a mistyped member is refused with the one that was meant; others are ignored, as upstream does', () => {
    assert.throws(
      () => read({ ...instances, afinity: false }),
      /a reservation has no "afinity"; did you mean affinity\?/,
    )
    assert.throws(() => read({ ...instances, resource_propertys: '' }), /did you mean resource_properties\?/)
    assert.throws(() => newLeaseOf({ ...lease(instances), befor_end_date: 'now' }, NOW), /mean before_end_date\?/)
    const change = { reservations: [{ id: 'r', ammount: 2 }] }
    assert.throws(() => leaseChangeOf(change, NOW), /did you mean amount\?/)
    const shown = { lease_id: 'x', status: 'pending', count_range: '1-1', min: 1, created_at: '', hypervisor: 1 }
    assert.deepEqual(read({ ...instances, ...shown }), read(instances))
  })

  void test('its dates are read before its reservations, in the words that Blazar’s clients know', () => {
    const { reservations: _, ...dates } = lease(instances)
    const refused = (more: object) => () => newLeaseOf({ ...dates, ...more }, NOW)
    assert.throws(refused({}), /Missing parameter reservations/)
    assert.throws(refused({ end_date: null }), /Missing parameter end_date/)
    assert.throws(refused({ end_date: '2030' }), /"2030" is an invalid date\. Required format: YYYY-MM-DD HH:MM/)
    assert.throws(refused({ start_date: '2029-01-01 10:00' }), /Start date must be later than current date/)
    assert.throws(refused({ end_date: dates.start_date }), /End date must be later than current and start date/)
  })

  void test('as the command line sends it', () => {
    const sent = { ...instances, affinity: 'None', resource_properties: '' }
    const body = { ...lease(sent), events: [], before_end_date: null }
    assert.deepEqual(newLeaseOf(body, NOW), {
      id: null,
      owner: null,
      reservation_ids: [],
      name: 'l',
      start_at: NOW + 10 * 3_600_000,
      end_at: NOW + 11 * 3_600_000,
      before_end_at: null,
      reservations: [{ ...instances, affinity: null, resource_properties: '' }],
    })
  })

  void test('nodes: class and traits may come as properties, as equalities and nothing else', () => {
    const nodes = { resource_type: 'physical:node', min: 1, max: 2 }
    const gpu = ['=', '$resource_class', 'gpu']
    const by = (query: unknown) =>
      read({ ...nodes, hypervisor_properties: '', resource_properties: JSON.stringify(query) })
    assert.deepEqual(by(gpu), { ...nodes, resource_class: 'gpu', traits: [] })
    assert.deepEqual(by(['and', gpu, ['==', '$trait', 'CUSTOM_A']]), {
      ...nodes,
      resource_class: 'gpu',
      traits: ['CUSTOM_A'],
    })
    for (const wrong of [
      ['or', gpu, gpu],
      ['and', gpu, gpu],
      ['and'],
      [],
      ['>', '$resource_class', 'gpu'],
      ['=', '$trait', 'CUSTOM_A'],
      ['=', '$rack', '1'],
      ['=', '$resource_class', 7],
      { a: 1 },
      7,
    ]) {
      assert.throws(() => by(wrong), /resource_properties of nodes must be like/)
    }
    assert.throws(() => read({ ...nodes, resource_properties: '{' }), /must be like/)
    assert.throws(() => read({ ...nodes, resource_class: 'gpu', resource_properties: JSON.stringify(gpu) }), /either/)
    assert.deepEqual(read({ ...nodes, resource_class: 'gpu', resource_properties: '' }), {
      ...nodes,
      resource_class: 'gpu',
      traits: [],
    })
  })

  void test('numbers in text become numbers, and what is left out gets its default', () => {
    assert.deepEqual(read({ ...instances, vcpus: '2', amount: ' 3 ' }), {
      ...instances,
      vcpus: 2,
      amount: 3,
      affinity: null,
      resource_properties: '',
    })
    assert.deepEqual(read({ resource_type: 'physical:host', min: 1, max: '2' }), {
      resource_type: 'physical:host',
      min: 1,
      max: 2,
      hypervisor_properties: '',
      resource_properties: '',
      before_end: '',
    })
    assert.deepEqual(read({ resource_type: 'physical:node', min: 1, max: 2, resource_class: 'gpu' }), {
      resource_type: 'physical:node',
      min: 1,
      max: 2,
      resource_class: 'gpu',
      traits: [],
    })
  })

  void test('members that the type does not have are ignored', () => {
    assert.deepEqual(Object.keys(read({ ...instances, id: 'mine', min: 'x', status: 'active' })!), [
      'resource_type',
      'vcpus',
      'memory_mb',
      'disk_gb',
      'amount',
      'affinity',
      'resource_properties',
    ])
  })

  for (const [wrong, words] of [
    [{ resource_type: 'physical:host', min: 2, max: 1 }, /min \(2\) must not be more than max \(1\)/],
    [{ resource_type: 'physical:host', min: 1, max: 1, before_end: 'x' }, /before_end must be/],
    [{ resource_type: 'physical:node', min: 1, max: 1 }, /resource_class must be a string, not nothing/],
    [{ resource_type: 'physical:node', min: 1, max: 1, resource_class: ' ' }, /resource_class must not be empty/],
    [{ resource_type: 'physical:node', min: 1, max: 1, resource_class: 'x', traits: 'y' }, /traits must be a list/],
    [{ ...instances, vcpus: 0 }, /vcpus must be a whole number from 1 to \d+, not 0/],
    [{ ...instances, amount: 'x' }, /amount must be a whole number from 1 to \d+, not "x"/],
    [{ ...instances, resource_type: 'x' }, /resource_type must be virtual:instance, .* not "x"/],
    [{ ...instances, affinity: 1 }, /affinity must be True, False or None, not 1/],
  ] as const) {
    void test(`${JSON.stringify(wrong)} is refused in one sentence`, () => {
      assert.throws(() => read(wrong), words)
    })
  }
})

void describe('a change of a lease', () => {
  void test('holds only what is given', () => {
    assert.deepEqual(leaseChangeOf({}, NOW), {})
    assert.deepEqual(leaseChangeOf({ name: null, start_date: null, reservations: null, unknown: 1 }, NOW), {})
    assert.deepEqual(leaseChangeOf({ end_date: 'now', reservations: [{ id: 'r', amount: '2' }] }, NOW), {
      end_at: NOW,
      reservations: [{ id: 'r', amount: 2 }],
    })
    assert.deepEqual(leaseChangeOf({ reservations: [{ id: 'r', affinity: 'None' }] }, NOW), {
      reservations: [{ id: 'r', affinity: null }],
    })
  })

  void test('names each reservation by its id', () => {
    assert.throws(() => leaseChangeOf({ reservations: [{ amount: 2 }] }, NOW), /id is missing/)
  })
})
