import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Host, Json, Node, Port, Provider } from '../../client/index.ts'
import { readFleet } from './document.ts'
import { exportedFrom, textOf } from './exported.ts'
import { mistakeText } from './mistake.ts'
import { planOf, stepsOf } from './plan.ts'
import { NOTHING, type Present } from './present.ts'
import { type FileFormat, sourceOf } from './source.ts'

const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

const node = (number: number, more: Json = {}): Node => ({
  uuid: uuid(number),
  name: `n${number}`,
  driver: 'fake-hardware',
  resource_class: 'gpu',
  conductor_group: '',
  provision_state: 'available',
  target_provision_state: null,
  power_state: null,
  maintenance: false,
  maintenance_reason: null,
  retired: false,
  retired_reason: null,
  instance_uuid: null,
  allocation_uuid: null,
  reservation_uuid: null,
  last_error: null,
  driver_info: {},
  properties: {},
  extra: {},
  network_data: {},
  traits: [],
  ...more,
})
const port = (number: number, ofNode: number, more: Json = {}): Port => ({
  uuid: uuid(number),
  address: `52:54:00:00:00:${String(number).slice(-2)}`,
  node_uuid: uuid(ofNode),
  pxe_enabled: true,
  physical_network: null,
  is_smartnic: false,
  local_link_connection: {},
  extra: {},
  ...more,
})
const provider = (number: number, name: string, parent: number | null = null): Provider => ({
  uuid: uuid(number),
  name,
  generation: 1,
  parent_provider_uuid: parent === null ? null : uuid(parent),
  root_provider_uuid: uuid(parent ?? number),
})
const TERMS = { reserved: 0, min_unit: 1, max_unit: 2_147_483_647, step_size: 1, allocation_ratio: 1 }
const host = (name: string, capabilities: Record<string, string> = {}): Host => ({
  id: '7',
  hypervisor_hostname: name,
  vcpus: 8,
  memory_mb: 8,
  local_gb: 8,
  reservable: true,
  ...capabilities,
})

const EMPTY: Present = {
  ...NOTHING,
  conductors: [{ hostname: 'c', conductor_group: '', alive: true, drivers: ['fake-hardware'] }],
  drivers: [
    {
      name: 'fake-hardware',
      hosts: ['c'],
      default_bios_interface: 'fake',
      enabled_bios_interfaces: ['fake', 'no-bios'],
    },
  ],
  traits: new Set(['HW_CPU_X86_AVX2']),
  classes: new Set(['VCPU', 'MEMORY_MB']),
}
const POOL: Present = {
  ...EMPTY,
  nodes: [
    node(1),
    node(2, {
      extra: { rack: 7, row: 'b' },
      traits: ['CUSTOM_A', 'CUSTOM_B'],
      driver_info: { ipmi_password: '******' },
    }),
  ],
  ports: [port(11, 1), port(12, 2)],
  providers: [
    provider(1, uuid(1)),
    provider(2, uuid(2)),
    provider(5, 'hv'),
    provider(6, 'cell', 5),
    provider(7, 'blazar_hv', 5),
  ],
  details: new Map([
    [
      uuid(5),
      {
        inventories: { VCPU: { total: 8, ...TERMS, allocation_ratio: 4 } },
        traits: ['HW_CPU_X86_AVX2'],
        aggregates: [],
      },
    ],
    [uuid(6), { inventories: {}, traits: [], aggregates: [uuid(99)] }],
  ]),
  hosts: [host('hv', { gpu: 'no' })],
}

function planned(text: string, present: Present, format: FileFormat = 'yaml') {
  const { source, mistakes } = sourceOf('f', text, format)
  const read = readFleet(source ? [source] : [])
  const { plan, mistakes: clashes } = planOf(present, read.fleet)
  return { plan, said: [...mistakes, ...read.mistakes, ...clashes].map(mistakeText) }
}

/** The steps as text, such as `change node n1: owner`. */
function doneFor(text: string, present: Present = POOL): string[] {
  const { plan, said } = planned(text, present)
  assert.deepEqual(said, [])
  return stepsOf(plan).map(({ action, kind, name, fields }) => `${action} ${kind} ${name}: ${fields.join(' ')}`)
}
const refusedFor = (text: string, present: Present = POOL) => planned(text, present).said

test('only the members that the file names are changed', () => {
  assert.deepEqual(doneFor('nodes: [{ name: n1, resource_class: gpu }]'), ['unchanged node n1: '])
  assert.deepEqual(doneFor('nodes: [{ name: n2, owner: lab, extra: { rack: 8, row: b } }]'), [
    'change node n2: owner extra.rack',
  ])
  const { plan } = planned('nodes: [{ name: n2, resource_class: null, extra: { a/b: 1 } }]', POOL)
  assert.deepEqual(plan.nodes[0]!.patches, [
    { op: 'remove', path: '/resource_class' },
    { op: 'add', path: '/extra/a~1b', value: 1 },
  ])
  assert.deepEqual(doneFor('nodes: [{ name: n2, traits: [CUSTOM_B, CUSTOM_A, CUSTOM_A] }]'), ['unchanged node n2: '])
  assert.deepEqual(doneFor('nodes: [{ name: n2, traits: [] }]'), ['change node n2: traits'])
  assert.deepEqual(doneFor(`nodes: [{ uuid: ${uuid(1)}, name: renamed }]`), ['change node renamed: name'])
})

test('a secret is always written, because it can’t be compared', () => {
  assert.deepEqual(doneFor('nodes: [{ name: n2, driver_info: { ipmi_password: x } }]'), [
    'change node n2: driver_info.ipmi_password',
  ])
  assert.match(
    refusedFor("nodes: [{ name: n2, driver_info: { redfish_address: 'https://******@h' } }]")[0]!,
    /is masked/,
  )
  assert.match(refusedFor("nodes: [{ name: n2, driver_info: { ipmi_password: '******' } }]")[0]!, /is masked/)
})

test('new things are created as the file says', () => {
  const text = `nodes: [{ name: new, driver: fake-hardware, owner: null, ports: ['52-54-00-AA-00-01'], provision_state: available }]`
  assert.deepEqual(doneFor(text), ['create node new: name driver ports provision_state'])
  const { plan } = planned(text, POOL)
  assert.deepEqual(plan.nodes[0]!.attributes, { name: 'new', driver: 'fake-hardware' })
  assert.deepEqual(plan.nodes[0]!.newPorts, [{ address: '52:54:00:aa:00:01' }])
  assert.deepEqual(plan.nodes[0]!.patches, [])
})

test('maintenance and retirement end before the change of state, and begin after it', () => {
  const present = {
    ...POOL,
    nodes: [node(1, { maintenance: true, maintenance_reason: 'fan', retired: true, provision_state: 'manageable' })],
  }
  const { plan } = planned(
    'nodes: [{ name: n1, maintenance: false, retired: false, provision_state: available }]',
    present,
  )
  assert.deepEqual(
    [plan.nodes[0]!.endsMaintenance, plan.nodes[0]!.patches.map(({ path }) => path), plan.nodes[0]!.latePatches],
    [true, ['/retired'], []],
  )
  const other = planned(
    'nodes: [{ name: n2, retired: true, maintenance: true, maintenance_reason: fan, provision_state: manageable }]',
    POOL,
  )
  const [step] = other.plan.nodes
  assert.deepEqual([step!.patches, step!.latePatches.length, step!.startsMaintenance], [[], 1, { reason: 'fan' }])
  assert.deepEqual(doneFor('nodes: [{ name: n1, maintenance: true }]', present), ['unchanged node n1: '])
  assert.deepEqual(doneFor('nodes: [{ name: n1, maintenance: true, maintenance_reason: disk }]', present), [
    'change node n1: maintenance',
  ])
})

test('inventories change only in the named terms; traits and aggregates are replaced', () => {
  assert.deepEqual(doneFor('providers: [{ name: hv, inventories: { VCPU: 8 }, traits: [HW_CPU_X86_AVX2] }]'), [
    'unchanged provider hv: ',
  ])
  assert.deepEqual(
    doneFor('providers: [{ name: hv, inventories: { VCPU: { reserved: 1 }, CUSTOM_X: 2 }, traits: [] }]'),
    ['change provider hv: inventories.VCPU inventories.CUSTOM_X traits'],
  )
  assert.deepEqual(doneFor('providers: [{ name: cell, parent: hv, aggregates: [] }]'), [
    'change provider cell: aggregates',
  ])
  assert.deepEqual(doneFor('providers: [{ name: cell, parent: null }]'), ['change provider cell: parent'])
  const { plan } = planned(
    'providers: [{ name: x, traits: [CUSTOM_NEW], inventories: { CUSTOM_X: 2, VCPU: 1 } }]',
    POOL,
  )
  assert.deepEqual([plan.newTraits, plan.newClasses], [['CUSTOM_NEW'], ['CUSTOM_X']])
})

test('parents are created before their children, in any order of the file', () => {
  const text = 'providers: [{ name: c, parent: b }, { name: b, parent: a }, { name: a }, { name: z, parent: hv }]'
  assert.deepEqual(
    planned(text, POOL).plan.providers.map(({ name }) => name),
    ['a', 'z', 'b', 'c'],
  )
})

test('a host may be a hypervisor that the same file creates', () => {
  assert.deepEqual(doneFor('hosts: [{ name: hv, capabilities: { gpu: no } }]'), ['unchanged host hv: '])
  assert.deepEqual(doneFor('hosts: [{ name: hv, capabilities: { gpu: yes, rack: 7 } }]'), [
    'change host hv: capabilities.gpu capabilities.rack',
  ])
  assert.equal(
    doneFor('hosts: [{ name: b }]\nproviders: [{ name: b, inventories: { VCPU: 1 } }]').at(-1),
    'create host b: ',
  )
  for (const providers of ['[]', '[{ name: b }]', '[{ name: b, parent: hv, inventories: { VCPU: 1 } }]']) {
    assert.match(refusedFor(`hosts: [{ name: b }]\nproviders: ${providers}`)[0]!, /no hypervisor of this name/)
  }
})

test('contradictions with the server are reported', () => {
  for (const [text, said] of [
    [
      `nodes: [{ name: n1, uuid: ${uuid(3)}, driver: fake-hardware }]`,
      /f:1:11: nodes\[0\].name: n1 is the name of node/,
    ],
    [`nodes: [{ uuid: ${uuid(1)}, name: n2 }]`, /n2 is the name of node/],
    [`nodes: [{ name: n1 }, { uuid: ${uuid(1)} }]`, /as is f:1/],
    ["nodes: [{ name: n1, ports: ['52:54:00:00:00:12'] }]", /52:54:00:00:00:12 is the address of port .* of node n2/],
    [`nodes: [{ name: n1, ports: [{ address: '52:54:00:00:00:77', uuid: ${uuid(12)} }] }]`, /is a port of node n2/],
    ['nodes: [{ name: new, driver: ipmi }]', /no conductor has the driver ipmi/],
    ['nodes: [{ name: n1, conductor_group: lab }]', /no conductor of the group 'lab'/],
    ['nodes: [{ name: n1, bios_interface: real }]', /no bios_interface real; it has fake, no-bios/],
    ['nodes: [{ name: n1, traits: [HW_RED] }]', /HW_RED is no standard trait/],
    ['nodes: [{ name: n1, provision_state: enroll }]', /it is available, and can't go back to enroll/],
    [`providers: [{ uuid: ${uuid(6)}, name: hv }]`, /hv is the name of provider/],
    [`providers: [{ uuid: ${uuid(1)} }]`, /is the provider of a node/],
    ['providers: [{ name: blazar_hv }]', /is where leases on a host are kept/],
    ['providers: [{ name: x, parent: nowhere }]', /there is no provider nowhere/],
    ['providers: [{ name: hv, parent: cell }, { name: cell, parent: hv }]', /is below itself/],
    ['providers: [{ name: x, inventories: { RED: 1 } }]', /no standard resource class/],
    ['providers: [{ name: x, inventories: { VCPU: { reserved: 1 } } }]', /is new and has no total/],
    ['providers: [{ name: hv, inventories: { VCPU: { reserved: 9 } } }]', /reserves 9 of 8/],
    [`providers: [{ uuid: ${uuid(8)} }]`, /is a new provider and has no name/],
  ] as const) {
    const refused = refusedFor(text)
    assert.ok(refused.length > 0, text)
    assert.match(refused[0]!, said)
  }
})

test('importing an export into the same server changes nothing, in any format', () => {
  const word = fc.string({ minLength: 1, maxLength: 8 }).filter(text => text.trim() !== '')
  const key = fc.oneof(word, fc.constantFrom('<<', 'no', '1', 'a.b', '__proto__', '~'))
  const value = fc.oneof(
    word,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom('8', 'null', '', '52:54:00:11:22:33'),
    fc.jsonValue({ maxDepth: 2 }),
  )
  const document = fc
    .array(fc.tuple(key, value), { maxLength: 3 })
    .map(entries => JSON.parse(JSON.stringify(Object.fromEntries(entries))) as Json)
  const state = fc.constantFrom('enroll', 'manageable', 'available', 'active', 'clean failed')
  const nodes = fc.array(
    fc.record({
      extra: document,
      driver_info: document,
      properties: document,
      description: fc.option(word),
      provision_state: state,
      retired: fc.boolean(),
      maintenance: fc.boolean(),
    }),
    { maxLength: 4 },
  )
  fc.assert(
    fc.property(
      nodes,
      fc.dictionary(
        fc.stringMatching(/^[a-z]{1,5}$/).filter(name => name !== 'id'),
        word,
        { maxKeys: 3 },
      ),
      (drawn, capabilities) => {
        const made = drawn.map((more, at) =>
          node(100 + at, {
            ...more,
            properties: { ...more.properties, cpus: 8 },
            retired: more.retired && more.provision_state !== 'available',
          }),
        )
        const present: Present = { ...POOL, nodes: [...POOL.nodes, ...made], hosts: [host('hv', capabilities)] }
        for (const format of ['yaml', 'json', 'csv'] as const) {
          const kinds = new Set(format === 'csv' ? (['nodes'] as const) : (['nodes', 'providers', 'hosts'] as const))
          const text = textOf(exportedFrom(present, kinds).document, format)
          const { plan, said } = planned(text, present, format)
          assert.deepEqual(said, [], text)
          // An import repairs nodes whose cleaning failed, so only those may have steps.
          const isStranded = (name: string) =>
            present.nodes.some(one => one.name === name && one.provision_state === 'clean failed')
          const todo = stepsOf(plan).filter(({ action, name }) => action !== 'unchanged' && !isStranded(name))
          assert.deepEqual(todo, [], text)
        }
      },
    ),
  )
})
