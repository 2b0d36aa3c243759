// What only a terminal sees: colours, tables that fit, progress in one line.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { test } from 'node:test'
import { atShell, hasScript, until } from './person.ts'

const ESCAPE = '\u001b['
const EXAMPLE = fileURLToPath(new URL('../../docs/examples/fleet.yaml', import.meta.url))

atShell('holdfast in a terminal', person => {
  const atTerminal = (line: string, columns: number, environment?: Record<string, string>) =>
    person.atTerminal(`holdfast ${line}`, columns, environment)
  const options = { skip: !hasScript && 'script(1) is not here' }

  test('a table fits: what does not ends in an ellipsis, or is named below', options, async () => {
    await person.node('terminal-1', 'wide')
    for (const columns of [60, 100]) {
      const { code, shown } = await atTerminal('node list --resource-class wide', columns).exit
      assert.equal(code, 0)
      const lines = stripVTControlCharacters(shown).split(/\r?\n/)
      assert.ok(
        lines.every(line => line.length <= columns),
        shown,
      )
      assert.match(shown, /…|\(no room for uuid;/)
    }
    const piped = await person.reads('node list --resource-class wide')
    assert.doesNotMatch(piped, /…/)
    assert.match(piped, /[0-9a-f-]{36}/)
  })

  test('states have colours at a terminal, unless NO_COLOR asks for none, and never in a pipe', options, async () => {
    await person.node('terminal-2', 'bright')
    const list = 'node list --resource-class bright -c name -c provision_state'
    const { shown } = await atTerminal(list, 100).exit
    assert.ok(shown.includes(`${ESCAPE}32mavailable`), shown)
    const plain = await atTerminal(list, 100, { NO_COLOR: '1' }).exit
    assert.ok(!plain.shown.includes(ESCAPE), plain.shown)
    assert.ok(!(await person.reads(list)).includes(ESCAPE))
  })

  test('progress stays in one line and is gone at the end', options, async () => {
    await person.node('terminal-3', 'queue')
    await person.reads('allocation create --resource-class queue --name first --wait')
    const { shown: seen, exit } = atTerminal(
      'allocation create --resource-class queue --name second --wait-until 10m --wait',
      100,
    )
    await until(
      async () => seen(),
      shown => shown.includes('1 allocated'),
    )
    assert.ok(seen().includes(`\r${ESCAPE}Kwaiting for a node: 1 of class queue: 1 allocated (`), seen())
    await person.reads('allocation delete first')
    const { code, shown } = await exit
    assert.equal(code, 0)
    assert.ok(shown.lastIndexOf(`\r${ESCAPE}K`) > shown.lastIndexOf('waiting for a node'), 'the line is cleared')
    assert.match(stripVTControlCharacters(shown), /state +active/)
  })

  test('an import has a bar that grows, and is gone at the end', options, async () => {
    const { code, shown } = await atTerminal(`import ${EXAMPLE}`, 70).exit
    assert.equal(code, 0, shown)
    const lines = stripVTControlCharacters(shown).split('\r')
    assert.ok(
      lines.some(line => /^█+░+ +\d+ %  writing nodes$/.test(line)),
      shown,
    )
    assert.ok(lines.every(line => line.length < 70))
    assert.match(shown.slice(shown.lastIndexOf(`\r${ESCAPE}K`)), /^\r.{3}17 created, 0 changed, 0 unchanged\s+$/)
  })

  test('what others wrote does not drive the terminal', options, async () => {
    const { nodes } = await person.library()
    await nodes.create({ driver: 'fake-hardware', name: 'sly', resource_class: 'sly', description: 'a\u001b[2Jb\nc' })
    const { shown } = await atTerminal('node list --resource-class sly --fields description', 100).exit
    assert.ok(!shown.includes(`${ESCAPE}2J`), shown)
    assert.match(shown, /a\ufffd\[2Jb c/)
  })
})
