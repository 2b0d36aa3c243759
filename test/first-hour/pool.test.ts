// A CI pool: jobs take a machine with holdfast run, wait in line, and give it back.
import assert from 'node:assert/strict'
import { stripVTControlCharacters } from 'node:util'
import { test } from 'node:test'
import { widthOf } from '../../src/cli/width.ts'
import { atShell, hasScript, until } from '../cli/person.ts'
import { Newcomer } from './newcomer.ts'

atShell('the first hour of a CI pool', person => {
  const at = new Newcomer(() => person.origin)

  test('an empty pool says how to begin', async () => {
    assert.match(await at.sees('status'), /There is no machine yet/)
    await at.isRefused('run --resource-class builder -- true', 4, /There is no node of class builder/)
  })

  test('two machines are made, and shown by name', async () => {
    for (const name of ['builder-1', 'builder-2']) await at.does(`node create --name ${name} --resource-class builder`)
    await at.does('node manage builder-1 builder-2 --wait')
    await at.does('node provide builder-1 builder-2 --wait')
    await at.does('node add trait builder-1 CUSTOM_RELEASE')
    assert.match(await at.sees('status'), /^2 machines, all free\./)
  })

  const options = { skip: !hasScript && 'script(1) is not here' }
  for (const columns of [80, 120]) {
    test(`a job has a machine in a terminal of ${columns} columns, and looks around`, options, async () => {
      const job =
        "holdfast run --resource-class builder --wait 30m --for 1h -- sh -c 'echo testing on $HOLDFAST_NODE_NAME'"
      const { code, shown } = await person.atTerminal(`${job} && holdfast status && holdfast calendar`, columns).exit
      assert.equal(code, 0, shown)
      for (const said of [/builder-\d is yours until/, /testing on builder-\d/, /2 machines, all free/, /Times are/]) {
        assert.match(shown, said)
      }
      for (const line of stripVTControlCharacters(shown).split(/[\r\n]+/)) assert.ok(widthOf(line) <= columns, line)
    })
  }

  test('who comes third waits, and sees for what', async t => {
    await at.does('allocation create --resource-class builder --name job-1 --expires-at 1h --wait')
    await at.does('allocation create --resource-class builder --name job-2 --expires-at 2h --wait')
    const third = at.begins('allocation create --resource-class builder --name job-3 --wait-until 3h --wait')
    t.after(() => third.signal('SIGTERM'))
    await until(
      async () => third.said.stderr,
      said => said.includes('2 allocated'),
    )
    const shown = await at.sees('status')
    assert.match(shown, /^0 of 2 machines are free; 2 taken\./)
    assert.match(shown, /^1 waits:$/m)
    assert.match(shown, /^1 of 1 +job-3 +builder +(today|tomorrow|yesterday) \S+ +\S+ \S+ +job-1 ends on builder-\d$/m)
    await at.does('allocation delete job-1')
    assert.equal((await third.exit).code, 0)
    assert.doesNotMatch(await at.sees('status'), /waits:/)
  })
})
