import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCsv } from '../csv.ts'
import { csvOf, nodeOf } from './csv.ts'

test('each row is a node: members of objects have their own columns, lists are separated by spaces', () => {
  const nodes = [
    {
      name: 'n1',
      properties: { cpus: 8, model: '8', tags: ['a', 'b'] },
      extra: { 'rack.row': null, note: 'red, blue' },
      traits: ['CUSTOM_A', 'CUSTOM_B'],
      leasable: true,
      description: ' spaced ',
    },
    { name: 'n2', properties: { cpus: 4 } },
  ]
  const members = ['name', 'description', 'properties', 'extra', 'leasable', 'traits', 'ports']
  const text = csvOf([...nodes, { name: 'n3', ports: [{ address: '52:54:00:00:00:01' }] }], members)
  const [head, ...rows] = parseCsv(text)
  assert.equal(
    head!.cells.join(' '),
    'name description properties.cpus properties.model properties.tags extra.note extra.rack.row leasable traits ports',
  )
  assert.deepEqual(
    rows.map(({ cells }) => nodeOf(head!.cells, cells)),
    [...nodes, { name: 'n3', ports: ['52:54:00:00:00:01'] }],
  )
})
