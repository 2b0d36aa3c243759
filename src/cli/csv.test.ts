import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CsvError, csvText, parseCsv } from './csv.ts'

test('quoted cells may hold commas, quotes and line breaks; each row has its line number', () => {
  assert.deepEqual(parseCsv('name,description\r\nn1,"a ""b"", c"\n\nn2,"two\nlines"\nn3,\n'), [
    { line: 1, cells: ['name', 'description'] },
    { line: 2, cells: ['n1', 'a "b", c'] },
    { line: 4, cells: ['n2', 'two\nlines'] },
    { line: 6, cells: ['n3', ''] },
  ])
  assert.deepEqual(parseCsv('"a\r\nb",c\r\n""\r\nd\r\n'), [
    { line: 1, cells: ['a\r\nb', 'c'] },
    { line: 4, cells: ['d'] },
  ])
  assert.deepEqual(parseCsv(''), [])
  assert.deepEqual(parseCsv('a,'), [{ line: 1, cells: ['a', ''] }])
})

test('misplaced quotes are refused, with their line number', () => {
  for (const [text, line] of [
    ['a\n"b', 2],
    ['a\nb "c"', 2],
    ['a\n\n"b"c', 3],
    ['a\r\n"b\r\nc",d\r\n"e\r\nf', 4],
    ['a\n"b\nc" d', 2],
    ['a\nb\rc', 2],
    ['a\rb\r', 1],
  ] as const) {
    assert.throws(
      () => parseCsv(text),
      error => error instanceof CsvError && error.line === line,
    )
  }
})

test('cells are read as they were written', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', ' ', ',', '"', '\n', '\r', 'ü', '=', "'", '-', '1') })
  // A row with a single empty cell would be an empty line, which is skipped.
  const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 5 })
  fc.assert(
    fc.property(table, rows => {
      assert.deepEqual(
        parseCsv(csvText(rows)).map(({ cells }) => cells),
        rows,
      )
    }),
  )
})

test('only cells that need quotes have them', () => {
  const rows = [['a', ' b ', ''], ['c,d', 'e"f', 'g\nh', 'i\rj'], ['']]
  assert.equal(csvText(rows), 'a, b ,\n"c,d","e""f","g\nh","i\rj"\n\n')
})

test('no cell is a formula for a spreadsheet, and numbers stay numbers', () => {
  const cells = ['=cmd()', '+1+cmd()', '-x', '@sum(a)', '\t=x', "'=x", '-1.5', '+2e3', '.5', "it's", 'a=b']
  const shown = ["'=cmd()", "'+1+cmd()", "'-x", "'@sum(a)", "'\t=x", "''=x", '-1.5', '+2e3', '.5', "it's", 'a=b']
  assert.equal(csvText([cells]), `${shown.join(',')}\n`)
  assert.deepEqual(parseCsv(csvText([cells]))[0]!.cells, cells)
})
