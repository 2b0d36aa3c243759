// The demo's fleet: the same for the same seed, and with every kind of thing at every size.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCustom, standardTraits } from '../../ledger/standard.ts'
import { DEFAULTS, fleetOf, NODES_MAX, NODES_MIN } from './fleet.ts'
import { type Fate, SCARCE } from './machines.ts'

const FATES: readonly Fate[] = [
  'enroll',
  'manageable',
  'clean failed',
  'deploy failed',
  'maintenance',
  'leasable',
  'instance',
  'held',
  'allocated',
  'deployed',
  'free',
]
const SIZES = [NODES_MIN, 31, 59, 100, DEFAULTS.nodes, 999, NODES_MAX]

test('the same seed gives the same fleet, another seed another', () => {
  assert.deepEqual(fleetOf(DEFAULTS), fleetOf(DEFAULTS))
  assert.notDeepEqual(fleetOf({ ...DEFAULTS, seed: 8 }).machines, fleetOf(DEFAULTS).machines)
})

for (const nodes of SIZES) {
  test(`a fleet of ${nodes} has one of everything`, () => {
    const fleet = fleetOf({ nodes, seed: 7 })
    const { machines, hosts, allocations, leases } = fleet
    assert.equal(machines.length, nodes)
    assert.deepEqual(new Set(machines.map(({ fate }) => fate)), new Set(FATES))
    assert.equal(new Set(machines.map(({ resourceClass }) => resourceClass)).size, 6)
    for (const kind of ['holds', 'claims', 'servers', 'flavors', 'racks'] as const)
      assert.ok(fleet[kind].length > 0, kind)
    assert.deepEqual(new Set(leases.map(({ when }) => when)), new Set(['over', 'running', 'coming']))
    assert.ok(allocations.some(({ waitsHours }) => waitsHours !== null))
    assert.ok(allocations.some(({ machine, waitsHours }) => machine === null && waitsHours === null))
    // The leases need these.
    assert.ok(hosts.pool.length >= 4 && hosts.open.length > 0 && hosts.trees.length > 0)
    for (const resourceClass of ['gpu-a100', 'cpu-large']) {
      assert.ok(machines.filter(one => one.fate === 'leasable' && one.resourceClass === resourceClass).length >= 2)
    }
  })

  test(`a fleet of ${nodes} has no name, address or uuid twice`, () => {
    const { machines, racks, hosts, allocations, servers, claims } = fleetOf({ nodes, seed: 7 })
    const lists = {
      machines: machines.map(({ name }) => name),
      uuids: [...machines, ...racks, ...hosts.providers].map(({ uuid }) => uuid),
      addresses: machines.flatMap(({ addresses }) => addresses),
      allocations: allocations.map(({ name }) => name),
      servers: servers.map(({ name }) => name),
      providers: hosts.providers.map(({ name }) => name),
      consumers: claims.map(({ consumer }) => consumer),
    }
    for (const [what, list] of Object.entries(lists)) assert.equal(new Set(list).size, list.length, what)
  })
}

test('no node of the scarce class is free, so that an allocation can wait for one', () => {
  for (const nodes of SIZES) {
    const scarce = fleetOf({ nodes, seed: 7 }).machines.filter(one => one.resourceClass === SCARCE)
    assert.ok(scarce.length >= 2 && scarce.every(({ fate }) => fate !== 'free' && fate !== 'leasable'))
  }
})

test('everyone is allocated only machines of their project', () => {
  for (const { who, machine } of fleetOf(DEFAULTS).allocations) {
    if (machine) assert.ok(machine.owner === who.project || machine.lessee === who.project)
  }
})

test('traits are standard or custom ones', () => {
  const { machines, hosts } = fleetOf(DEFAULTS)
  const known = new Set(standardTraits)
  for (const { traits } of [...machines, ...hosts.providers]) {
    for (const trait of traits) assert.ok(known.has(trait) || isCustom(trait), trait)
  }
})
