import assert from 'node:assert/strict'
import { test } from 'node:test'
import { joined } from './joined.ts'
import { limits } from './limits.ts'

const texts = (...words: string[]) => words.map(word => Buffer.from(word))

test('texts are joined with commas, between head and tail', () => {
  assert.equal(joined('[', texts('1', '22', '333'), ']é').toString(), '[1,22,333]é')
  assert.equal(joined('[', texts('1'), ']').toString(), '[1]')
  assert.equal(joined('[', [], ']').toString(), '[]')
})

test('the same texts are joined once', () => {
  const same = texts('a', 'b')
  assert.equal(joined('[', same, ']'), joined('[', [...same], ']'))
})

test('what differs in anything is joined anew', () => {
  const [a, b, c] = texts('a', 'b', 'c') as [Buffer, Buffer, Buffer]
  assert.equal(joined('[', [a, b], ']').toString(), '[a,b]')
  assert.equal(joined('{', [a, b], ']').toString(), '{a,b]')
  assert.equal(joined('{', [a, b], '}').toString(), '{a,b}')
  assert.equal(joined('{', [a, c], '}').toString(), '{a,c}')
  assert.equal(joined('{', [a, c, b], '}').toString(), '{a,c,b}')
  assert.equal(joined('{', [a], '}').toString(), '{a}')
})

test('a long list is not kept', () => {
  const long = [Buffer.alloc(limits.keptListBytesMax, 'x')]
  assert.notEqual(joined('[', long, ']'), joined('[', long, ']'))
})
