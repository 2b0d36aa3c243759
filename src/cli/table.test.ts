// Tables for people.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sheetOf, tableOf } from './table.ts'
import { widthOf } from './width.ts'

const at = (width: number) => ({ width, hasColour: false })

test('columns are as wide as their widest cell, without trailing spaces', () => {
  assert.equal(
    tableOf(
      ['name', 'n'],
      [
        ['a', '1'],
        ['longer', '22'],
      ],
      at(Infinity),
    ),
    'name    n\na       1\nlonger  22\n',
  )
})

test('without rows there is only the heading', () => {
  assert.equal(tableOf(['name', 'n'], [], at(Infinity)), 'name  n\n')
})

test('without enough room, the widest text is cut; a short value is left out rather than cut', () => {
  assert.equal(
    tableOf(['id', 'text'], [['12345678', 'abcdefghijklm nopqrstuvwxyz']], at(20)),
    'id        text\n12345678  abcdefghi…\n',
  )
  const address = [['12345678', '52:54:00:00:00:01']]
  assert.match(tableOf(['id', 'address'], address, at(24)), /^id\n12345678\n\(no room for address;/)
})

test('a heading takes several lines before it would be cut, and a name is not cut', () => {
  const [name, long] = ['a-machine-with-a-long-name.example.org', 'a text that is longer than its room']
  assert.equal(
    tableOf(['name', 'resource_class', 'provision_state'], [[name, 'gpu', 'available']], at(62)),
    [
      `${' '.repeat(40)}resource_  provision_`,
      `name${' '.repeat(36)}class      state`,
      `${name}  gpu        available`,
      '',
    ].join('\n'),
  )
  assert.match(tableOf(['note', 'name'], [[long, name]], at(55)), new RegExp(`…  ${name}$`, 'm'))
})

const UUID = '5f9b0a2e-6f36-4b5e-9d0a-3a0f6a8f0c11'

test('times, ids and empty columns shrink before texts; the name never does', () => {
  const headings = ['uuid', 'name', 'node_uuid', 'expires_at', 'owner', 'note']
  const rows = [[UUID, 'job-17.example.org', UUID, '2030-01-01T10:00:00+00:00', '-', 'a text of some length']]
  const lineAt = (width: number) => tableOf(headings, rows, at(width)).split('\n')[1]
  const texts = 'job-17.example.org  5f9b0a2e…  2030-01-01 10:00'
  assert.equal(lineAt(145), `${UUID}  job-17.example.org  ${UUID}  2030-01-01 10:00  -      a text of some length`)
  assert.equal(lineAt(130), `${UUID}  ${texts}  -      a text of some length`)
  assert.equal(lineAt(85), `5f9b0a2e…  ${texts}  a text of some length`)
  assert.equal(lineAt(70), `5f9b0a2e…  ${texts}  a text of…`)
  assert.match(tableOf(headings, rows, at(60)), /^job-17\.example\.org .*\n\(no room for uuid; -c chooses/m)
})

test('without a name column the id counts as the name', () => {
  const [, line] = tableOf(['uuid', 'node_uuid', 'count'], [[UUID, UUID, '1']], at(60)).split('\n')
  assert.equal(line, `${UUID}  5f9b0a2e…  1`)
})

test('characters that take two cells count for two', () => {
  assert.equal(widthOf('数据a'), 5)
  assert.equal(
    tableOf(
      ['a', 'b'],
      [
        ['数', '1'],
        ['xy', '2'],
      ],
      at(Infinity),
    ),
    'a   b\n数  1\nxy  2\n',
  )
})

test('a sheet wraps long values, at spaces if possible', () => {
  assert.equal(sheetOf([['name', 'one two three four']], at(20)), 'name  one two three\n      four\n')
  assert.equal(sheetOf([['list', 'a\nb']], at(Infinity)), 'list  a\n      b\n')
})

test('no line is wider than the screen', () => {
  const cell = fc.string({ unit: 'grapheme', maxLength: 60 }).filter(text => !/\p{Cc}/u.test(text))
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { minLength: 9, maxLength: 9 }), { maxLength: 8 }),
      fc.subarray(['uuid', 'name', 'one', 'two', 'three', 'four', 'five', 'six', 'a_long_heading'], { minLength: 1 }),
      fc.integer({ min: 20, max: 120 }),
      (rows, headings, width) => {
        const table = tableOf(headings, rows, at(width))
        const lines = table.slice(0, -1).split('\n')
        for (const line of lines) assert.ok(widthOf(line) <= width, `${widthOf(line)} > ${width}: ${line}`)
        assert.ok(lines.length > rows.length)
      },
    ),
  )
})
