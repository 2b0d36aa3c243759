// Every help ends with an example, and the example is a command that there is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { typeHoldfast } from '../support/command.ts'
import { everyCommand, pathOf, PROGRAM, wrongCommand } from '../docs/command-tree.ts'

test('every help ends with an example that can be typed', async () => {
  for (const path of everyCommand(PROGRAM).map(pathOf)) {
    const { code, stdout } = await typeHoldfast([...path.split(' ').filter(Boolean), '--help'])
    assert.equal(code, 0, path)
    const lines = stdout.trimEnd().split('\n')
    const title = lines.findLastIndex(line => /^Examples?:$/.test(line))
    const examples = lines.slice(title + 1)
    assert.ok(title >= 0 && examples.length > 0, `${path} has no example at its end:\n${stdout}`)
    for (const example of examples) {
      assert.match(example, new RegExp(`^  holdfast ${path}`), path)
      assert.equal(wrongCommand(example.trim()), null, example)
    }
  }
})
