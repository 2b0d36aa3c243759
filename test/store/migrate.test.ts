// holdfast migrate, and who insists on it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Placement } from '../support/placement.ts'
import { runHoldfast, spawnServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

eachDatabase('holdfast migrate', databases => {
  test('is what `api` and `fsck` ask for, may be run twice, and makes them content', async () => {
    const database = await databases.create()
    for (const command of ['api', 'fsck']) {
      const refused = await runHoldfast([command, '--port', '0', '--database', database]).exit
      assert.equal(refused.code, 2, refused.stderr)
      assert.match(refused.stderr, /^holdfast: .*run: holdfast migrate/)
    }

    const first = await runHoldfast(['migrate', '--database', database]).exit
    assert.equal(first.code, 0, first.stderr)
    assert.match(first.stdout, /0001-ledger/)
    const second = await runHoldfast(['migrate', '--database', database]).exit
    assert.equal(second.code, 0)
    assert.match(second.stdout, /was up to date/)

    const server = await spawnServer(database, [], 'api')
    const api = new Placement(server.origin)
    await api.provider({ VCPU: 1 })
    api.close()
    assert.equal((await server.terminate()).code, 0)
    assert.equal((await runHoldfast(['fsck', '--database', database]).exit).code, 0)
  })

  test('from two processes at once brings the database up once', async () => {
    const database = await databases.create()
    const both = [1, 2].map(() => runHoldfast(['migrate', '--database', database]).exit)
    const exits = await Promise.all(both)
    for (const { code, stderr } of exits) assert.equal(code, 0, stderr)
    assert.equal(exits.filter(({ stdout }) => stdout.includes('0001-ledger')).length, 1)
  })
})
