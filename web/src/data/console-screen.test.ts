import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesOf, ConsoleScreen } from './console-screen.ts'

const printed = (...pieces: string[]) => {
  const screen = new ConsoleScreen()
  for (const piece of pieces) screen.print(Buffer.from(piece))
  return screen.text
}

test('text, lines, and what is written over', () => {
  assert.equal(printed('one\r\ntwo'), 'one\ntwo')
  assert.equal(printed('10%\r100%'), '100%')
  assert.equal(printed('ab\b \bc'), 'ac')
  assert.equal(printed('a\tb'), 'a       b')
  assert.equal(printed('prompt$ ls\r\u001b[Kprompt$ '), 'prompt$ ')
})

test('colours and titles are left out, also when they come in pieces', () => {
  assert.equal(printed('\u001b[1;31mred\u001b[0m \u001b]0;title\u0007x\u001b(B'), 'red x')
  assert.equal(printed('a\u001b', '[3', '1mb\u001b]0;ti', 'tle\u001b', '\\c'), 'abc')
  assert.equal(printed('\u001b[2J\u001b[Hmenu'), '\nmenu')
  assert.equal(printed('a\u001b\u001b[0mb'), 'ab')
})

test('characters of several bytes may be cut anywhere', () => {
  const screen = new ConsoleScreen()
  for (const byte of Buffer.from('grüß €')) screen.print(Uint8Array.of(byte))
  assert.equal(screen.text, 'grüß €')
})

test('it keeps a limited number of lines', () => {
  const lines = printed('x\n'.repeat(5_000)).split('\n')
  assert.equal(lines.length, 2_000)
})

test('keys send what a terminal sends, and leave copy and paste to the browser', () => {
  const pressed = (key: string, more: object = {}) =>
    bytesOf({ key, ctrlKey: false, altKey: false, metaKey: false, shiftKey: false, ...more })
  assert.equal(pressed('a'), 'a')
  assert.equal(pressed('Enter'), '\r')
  assert.equal(pressed('ArrowUp'), '\u001b[A')
  assert.equal(pressed('c', { ctrlKey: true }), '\u0003')
  assert.equal(pressed('b', { altKey: true }), '\u001bb')
  assert.equal(pressed('Shift'), null)
  assert.equal(pressed('v', { ctrlKey: true }), null)
  assert.equal(pressed('C', { ctrlKey: true, shiftKey: true }), null)
  assert.equal(pressed('c', { metaKey: true }), null)
})
