// Tables for people.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sheetOf, tableOf, widthOf } from './table.ts'

const at = (width: number) => ({ width, hasColour: false })

test('columns are as wide as their widest cell, and nothing trails', () => {
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

test('where there is no room, the widest column gives way', () => {
  assert.equal(
    tableOf(['id', 'text'], [['12345678', 'abcdefghijklmnop']], at(20)),
    'id        text\n12345678  abcdefghi…\n',
  )
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

test('a sheet goes on below, at spaces if it can', () => {
  assert.equal(sheetOf([['name', 'one two three four']], at(20)), 'name  one two three\n      four\n')
  assert.equal(sheetOf([['list', 'a\nb']], at(Infinity)), 'list  a\n      b\n')
})

test('no line is wider than a screen that has room for the narrowest columns', () => {
  const cell = fc.string({ unit: 'grapheme', maxLength: 60 }).filter(text => !/\p{Cc}/u.test(text))
  fc.assert(
    fc.property(
      fc.array(fc.tuple(cell, cell, cell), { maxLength: 8 }),
      fc.integer({ min: 30, max: 120 }),
      (rows, width) => {
        const lines = tableOf(['one', 'two', 'three'], rows, at(width)).trimEnd().split('\n')
        for (const line of lines) assert.ok(widthOf(line) <= width, `${widthOf(line)} > ${width}: ${line}`)
      },
    ),
  )
})
