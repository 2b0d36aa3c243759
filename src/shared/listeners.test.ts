import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Listeners } from './listeners.ts'

test('all are told, in the order in which they came, until they are taken off', () => {
  const heard: string[] = []
  const listeners = new Listeners<number>(assert.ifError)
  const listen = (name: string) => listeners.add(value => heard.push(`${name}${value}`))
  const offA = listen('a')
  listen('b')
  listeners.tell(1)
  offA()
  offA()
  listeners.tell(2)
  assert.deepEqual(heard, ['a1', 'b1', 'b2'])
})

test('the same function may listen twice, and is taken off once at a time', () => {
  let times = 0
  const count = () => times++
  const listeners = new Listeners<void>(assert.ifError)
  const off = listeners.add(count)
  listeners.add(count)
  listeners.tell()
  off()
  listeners.tell()
  assert.equal(times, 3)
})

test('one that throws is reported, and the others are told all the same', () => {
  const heard: number[] = []
  const failures: unknown[] = []
  const listeners = new Listeners<number>(error => failures.push(error))
  listeners.add(() => {
    throw new Error('not now')
  })
  listeners.add(value => heard.push(value))
  listeners.tell(1)
  assert.deepEqual([heard, failures], [[1], [new Error('not now')]])
})
