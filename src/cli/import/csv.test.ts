import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CsvError, csvOf, nodeOf, parseCsv } from './csv.ts'
import { csvLine } from '../output.ts'

test('cells may be quoted, and hold commas, quotes and lines; rows know where they begin', () => {
  assert.deepEqual(parseCsv('name,description\r\nn1,"a ""b"", c"\n\nn2,"two\nlines"\nn3,\n'), [
    { line: 1, cells: ['name', 'description'] },
    { line: 2, cells: ['n1', 'a "b", c'] },
    { line: 4, cells: ['n2', 'two\nlines'] },
    { line: 6, cells: ['n3', ''] },
  ])
  assert.deepEqual(parseCsv(''), [])
  assert.deepEqual(parseCsv('a,'), [{ line: 1, cells: ['a', ''] }])
})

test('quotes that make no sense are refused with their line', () => {
  for (const [text, line] of [
    ['a\n"b', 2],
    ['a\nb "c"', 2],
    ['a\n\n"b"c', 3],
  ] as const) {
    assert.throws(
      () => parseCsv(text),
      error => error instanceof CsvError && error.line === line,
    )
  }
})

test('whatever cells are written, the same are read', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', ' ', ',', '"', '\n', '\r', 'ü') })
  // One empty cell in a row is an empty line.
  const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 5 })
  fc.assert(
    fc.property(table, rows => {
      assert.deepEqual(
        parseCsv(rows.map(csvLine).join('')).map(({ cells }) => cells),
        rows,
      )
    }),
  )
})

test('nodes are rows: members of objects have columns, lists are words apart by spaces', () => {
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
