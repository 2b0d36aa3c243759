// A program with the library: it asks, works, waits and fails, and people see what it does.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { connect, isHoldfastError } from '../../src/client/index.ts'
import { atShell, until } from '../cli/person.ts'
import { Newcomer } from './newcomer.ts'

atShell('the first hour of a program', person => {
  const someone = new Newcomer(() => person.origin)
  before(async () => {
    await person.node('m1', 'worker')
    await person.node('m2', 'worker')
  })

  test('it finds the server as the command does, and says what is wrong if it is not there', async () => {
    const { status } = await connect({ env: { HOLDFAST_URL: person.origin } })
    const { machines } = await status()
    const words = machines.map(({ name, class: of, state }) => [name, of, state].join(' '))
    assert.deepEqual(new Set(words), new Set(['m1 worker free', 'm2 worker free']))
    const nowhere = await connect({ url: 'http://127.0.0.1:1', env: {} })
    await assert.rejects(nowhere.status(), /no answer from http:\/\/127\.0\.0\.1:1: /)
  })

  test('it works on a machine, and people see for what and that it is kept', async () => {
    const server = await connect({ url: person.origin, env: {} })
    const answer = await server.withNode({ resource_class: 'worker', name: 'nightly', for: '1h' }, async ({ name }) => {
      const shown = await someone.sees('status')
      assert.match(shown, /^1 of 2 machines is free; 1 taken\./)
      assert.match(shown, new RegExp(`^${name} +worker +taken .*nightly`, 'm'))
      return name
    })
    assert.match(String(answer), /^m[12]$/)
    const isFree = async () => (await server.status({ where: { state: 'free' } })).machines.length
    assert.equal(await until(isFree, count => count === 2), 2)
  })

  test('an error says what stood in the way, in words and as data', async () => {
    const server = await connect({ url: person.origin, env: {} })
    const failed = await server
      .withNode({ resource_class: 'worker', traits: ['CUSTOM_FAST'] }, async () => 'never')
      .then(
        () => null,
        (error: unknown) => error,
      )
    assert.ok(isHoldfastError(failed, 'no_fit'))
    assert.match(failed.message, /2 of class worker: 2 without CUSTOM_FAST/)
    assert.deepEqual(failed.reasons, [{ reason: 'missing traits CUSTOM_FAST', count: 2 }])
  })

  test('it hears at once what others do', async () => {
    const server = await connect({ url: person.origin, env: {} })
    const after = await server.cursor()
    await someone.does('allocation create --resource-class worker --name by-hand --expires-at 1h --wait')
    const over = AbortSignal.timeout(20_000)
    for await (const { type, data } of server.events({ after, kinds: ['allocation'], signal: over })) {
      if (type !== 'holdfast.allocation.active') continue
      assert.equal(data['name'], 'by-hand')
      return
    }
    assert.fail('it was never heard of')
  })
})
