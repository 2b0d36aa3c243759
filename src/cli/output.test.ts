import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PassThrough } from 'node:stream'
import { FORMATS, printList, printOne, RowPrinter, visible, writeDocument } from './output.ts'
import { atTerminal, type Terminal } from './terminal.ts'

test('what others wrote controls no terminal, and stays in its line and its order', () => {
  assert.equal(visible('a\u001b[2Jb\u009b31mc'), 'a\ufffd[2Jb\ufffd31mc')
  assert.equal(visible('one\r\n\ttwo\u2028three'), 'one two three')
  assert.equal(visible('bob\u202enimda\u2066 \u200f'), 'bob\ufffdnimda\ufffd \u200f')
  assert.equal(visible('família 👩‍🚀 עברית'), 'família 👩‍🚀 עברית')
})

/** What the work prints, on a terminal or into a file. */
async function printed(isTTY: boolean, work: () => void): Promise<string> {
  const stdout = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY })
  await atTerminal({ stdout, stderr: stdout, env: {} } as unknown as Terminal, async () => work())
  return (stdout.read() as string | null) ?? ''
}

const EVIL = 'a\u001b]0;owned\u0007b\u009b31mc\u202ed'
const CONTROLS = /[^\P{Cc}\n]|[\u202a-\u202e]/u

test('no format controls a terminal, or forges a line on it', async () => {
  const rows = [{ name: `${EVIL}\nforged`, note: EVIL }]
  for (const format of FORMATS) {
    for (const print of [
      () => printList(rows, ['name', 'note'], { format }),
      () => printOne(rows[0]!, { format }),
      () => new RowPrinter(['name', 'note'], { format }).first(rows),
      () => new RowPrinter(['name', 'note'], { format }).again(rows[0]!),
    ]) {
      const text = await printed(true, print)
      assert.doesNotMatch(text, CONTROLS, format)
      assert.doesNotMatch(text, /^forged/m, format)
    }
  }
  assert.doesNotMatch(await printed(true, () => writeDocument(`note: ${EVIL}\n`)), CONTROLS)
})

test('programs get what is there', async () => {
  const rows = [{ name: EVIL }]
  assert.equal(await printed(false, () => printList(rows, ['name'], { format: 'value' })), `${EVIL}\n`)
  assert.equal(await printed(false, () => printList(rows, ['name'], { format: 'csv' })), `name\n${EVIL}\n`)
  assert.deepEqual(JSON.parse(await printed(false, () => printList(rows, ['name'], { format: 'json' }))), rows)
  assert.equal(await printed(false, () => writeDocument(EVIL)), EVIL)
})
