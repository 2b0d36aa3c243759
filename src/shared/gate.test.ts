import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { Gate, type GateOptions } from './gate.ts'

/** A gate, and work behind it that ends when the test says so. */
function guarded(options: Omit<GateOptions, 'refusal'>) {
  const gate = new Gate({ ...options, refusal: () => new Error('too long') })
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<string>>()
  const pass = (name: string) =>
    gate.pass(() => {
      begun.push(name)
      ends.set(name, Promise.withResolvers())
      return ends.get(name)!.promise
    })
  return { pass, begun, ends }
}

test('only so many run at a time; the others follow in order, also after a failure', async () => {
  const { pass, begun, ends } = guarded({ places: 2 })
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(pass)
  assert.deepEqual(begun, ['a', 'b'])
  ends.get('b')!.reject(new Error('b failed'))
  await assert.rejects(b!, /b failed/)
  await turn()
  assert.deepEqual(begun, ['a', 'b', 'c'])
  ends.get('a')!.resolve('done')
  assert.equal(await a, 'done')
  await turn()
  for (const name of ['c', 'd']) ends.get(name)!.resolve(name)
  assert.deepEqual(await Promise.all([c, d]), ['c', 'd'])
})

test('a full queue refuses at once', async () => {
  const { pass, begun, ends } = guarded({ places: 1, waitingMax: 1 })
  const [a, b] = [pass('a'), pass('b')]
  await assert.rejects(pass('c'), /too long/)
  ends.get('a')!.resolve('')
  await a
  await turn()
  ends.get('b')!.resolve('')
  await b
  assert.deepEqual(begun, ['a', 'b'])
})

test('work that waits too long is refused and leaves the queue to the others', async () => {
  const { pass, begun, ends } = guarded({ places: 1, waitMsMax: 5 })
  const a = pass('a')
  await assert.rejects(pass('late'), /too long/)
  ends.get('a')!.resolve('')
  await a
  void pass('b')
  assert.deepEqual(begun, ['a', 'b'])
})
