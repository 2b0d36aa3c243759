import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFleet } from './document.ts'
import { inOrder, mistakeText } from './mistake.ts'
import { type FileFormat, formatOf, sourceOf } from './source.ts'

function read(text: string, format: FileFormat = 'yaml') {
  const { source, mistakes } = sourceOf('f', text, format)
  const fleet = readFleet(source ? [source] : [])
  return { fleet: fleet.fleet, said: inOrder([...mistakes, ...fleet.mistakes], ['f']).map(mistakeText) }
}

test('each mistake is reported with its line, its column and its path', () => {
  const { said } = read(`nodes:
  - name: bad name
    colour: red
  - name: n1
    uuid: 17
    traits:
      - CUSTOM_A
      - red
    ports:
      - address: nonsense
      - '52:54:00:00:00:01'
  - name: n1
    ports: ['52-54-00-00-00-01']
    maintenance: maybe
  - driver: fake-hardware
    maintenance_reason: why
    properties: { cpus: many }
  - 3
providers:
  - name: p
    inventories: { VCPU: 0, vcpu: 1, DISK_GB: { total: 1, size: 2 } }
    aggregates: [a]
hosts:
  - capabilities: { vcpus: 3 }
fleet: []
`)
  const places = said.map(line => /^f:\d+:\d+: \S+/.exec(line)?.[0])
  assert.deepEqual(places, [
    'f:2:5: nodes[0].name:',
    'f:3:5: nodes[0].colour:',
    'f:5:5: nodes[1].uuid:',
    'f:8:9: nodes[1].traits[1]:',
    'f:10:9: nodes[1].ports[0].address:',
    'f:12:5: nodes[2].name:',
    'f:13:13: nodes[2].ports[0].address:',
    'f:14:5: nodes[2].maintenance:',
    'f:15:5: nodes[3]:',
    'f:16:5: nodes[3].maintenance_reason:',
    'f:17:19: nodes[3].properties.cpus:',
    'f:18:5: nodes[4]:',
    'f:21:20: providers[0].inventories.VCPU:',
    'f:21:29: providers[0].inventories.vcpu:',
    'f:21:59: providers[0].inventories.DISK_GB.size:',
    'f:22:18: providers[0].aggregates[0]:',
    'f:24:5: hosts[0]:',
    'f:24:21: hosts[0].capabilities.vcpus:',
    'f:25:1: fleet:',
  ])
  assert.ok(said.includes('f:12:5: nodes[2].name: n1 is there twice, first at f:4'))
  assert.ok(said.includes('f:13:13: nodes[2].ports[0].address: 52:54:00:00:00:01 is there twice, first at f:11'))
})

test('entries may share an anchor; a mistake in it is reported where it is used', () => {
  const { fleet, said } = read(`nodes:
  - &gpu { name: n1, driver: fake-hardware, extra: { rack: 7 } }
  - { <<: *gpu, name: n2 }
  - <<: *gpu
`)
  assert.deepEqual(
    fleet.nodes.map(({ members }) => members),
    ['n1', 'n2', 'n1'].map(name => ({ name, driver: 'fake-hardware', extra: { rack: 7 } })),
  )
  assert.deepEqual(said, ['f:4:5: nodes[2].name: n1 is there twice, first at f:2'])
})

test('an unreadable or invalid document is refused, with its line if known', () => {
  for (const [text, format, said] of [
    ['nodes: [\n', 'yaml', /^f:\d:\d: /],
    ['a: 1\na: 2\n', 'yaml', /^f:2:1: Map keys must be unique$/],
    ['nodes: &a [*a]', 'yaml', /^f: can't be read: /],
    ['', 'yaml', /^f: null is not an object$/],
    ['--- 1\n--- 2\n', 'yaml', /^f:2:\d: /],
    ['{"nodes": [}', 'json', /^f:1:12: is no JSON: /],
    ['{"nodes": [{"name": 1}]}', 'json', /^f:1:13: nodes\[0\]\.name: 1 is not a name/],
    ['', 'csv', /^f:1: is empty/],
    [
      'name,color,name\nn1,red,n2',
      'csv',
      /^f:1: there is no column color; call it extra\.color, or what nodes have: uuid, /,
    ],
    ['name\nn1,n2', 'csv', /^f:2: has more cells/],
    ['name\n\n"n1', 'csv', /^f:3: a quoted cell has no end/],
    ['name,traits\nn1,CUSTOM_A red', 'csv', /^f:2: column traits: "red" is not a trait/],
    ['name,properties.cpus\nn1,many', 'csv', /^f:2: column properties\.cpus: must be a whole number/],
  ] as const) {
    const [first] = read(text, format).said
    assert.match(first ?? 'nothing was said', said, text)
  }
})

test('the file extension decides the format', () => {
  assert.deepEqual(['a.csv', 'a.JSON', 'a.yml', 'a.yaml', '-', 'fleet'].map(formatOf), [
    'csv',
    'json',
    'yaml',
    'yaml',
    'yaml',
    'yaml',
  ])
})
