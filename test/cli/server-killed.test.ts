// Commands that wait for a node while the server is killed: they go on, keep their place, and leave nothing behind.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Allocation } from '../../src/client/index.ts'
import type { Typed } from '../support/command.ts'
import { startProxy } from '../support/proxy.ts'
import { spawnServer, startServer } from '../support/server.ts'
import { sqliteCopy } from '../support/stores.ts'
import { Person, until } from './person.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-server-killed-'))
after(() => rmSync(folder, { recursive: true }))

const says = async ({ said }: Typed, words: RegExp) =>
  assert.match(
    await until(
      async () => said.stderr,
      text => words.test(text),
    ),
    words,
  )

test('when the server is killed, those who wait keep their place in the line', async () => {
  const database = await sqliteCopy(folder)
  let server = await spawnServer(database, ['--auth', 'none'])
  const person = new Person(() => server.origin)
  const states = async () =>
    new Map(
      (await (await person.library()).allocations.list()).map(({ name, state }: Allocation) => [name ?? 'run', state]),
    )
  const waits = async (name: string) =>
    assert.equal((await until(states, all => all.get(name) === 'allocating')).get(name), 'allocating')
  try {
    await person.node('n1', 'one')
    await person.reads('allocation create --resource-class one --name first --wait')
    const file = join(folder, 'ran')
    const run = person.begins(['run', '--resource-class', 'one', '--wait', '10m', '--', 'touch', file])
    await waits('run')
    const create = person.begins('allocation create --resource-class one --name third --wait 10m')
    await waits('third')
    const { port } = new URL(server.origin)
    await server.kill9()
    for (const command of [run, create]) await says(command, /the server does not answer \(.*\); waiting goes on/)
    server = await spawnServer(database, ['--auth', 'none', '--port', port])
    await person.reads('allocation create --resource-class one --name last --wait-until 10m')
    assert.equal(existsSync(file), false)
    await person.reads('allocation delete first')
    const ended = await run.exit
    assert.equal(ended.code, 0, ended.stderr)
    assert.ok(existsSync(file))
    const got = await create.exit
    assert.equal(got.code, 0, got.stderr)
    assert.deepEqual(Object.fromEntries(await states()), { third: 'active', last: 'allocating' })
  } finally {
    await server.kill9()
  }
})

test('what failed is removed, though the answer to that is lost', async () => {
  const server = await startServer(await sqliteCopy(folder), { auth: 'none', placementPolicy: 'secure' })
  const proxy = await startProxy(server.origin)
  const person = new Person(() => proxy.url.replace(/\/$/, ''))
  try {
    const isLost = proxy.swallowAnswerTo('DELETE /baremetal/v1/allocations', { answer: 'HTTP/1.1 20' })
    await person.isRefused('allocation create --resource-class none --name wish --wait', 4, /none/)
    await isLost
    assert.deepEqual(await (await person.library()).allocations.list(), [])
  } finally {
    await proxy.stop()
    await server.stop()
  }
})
