// A question to a driver ends in time, whatever the driver does.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../shared/limits.ts'
import { type Driver, HardwareFailure, type Machine } from '../drivers/port.ts'
import { driverAsked } from './driver-asked.ts'

const MACHINE = {} as Machine
const SOON = { ms: limits.callMarginMs + 1, signal: new AbortController().signal }
const driverWith = (ask?: Driver['ask']) => ({ name: 'some', ask }) as Driver
const asked = (ask?: Driver['ask'], within = SOON) =>
  driverAsked(driverWith(ask), { name: 'sensors', args: {} }, MACHINE, within)

test('a driver that hears nothing of the end is left alone', async () => {
  await assert.rejects(
    asked(() => new Promise(() => {})),
    { message: 'The machine did not answer within 0 s.' },
  )
})

test('a driver that knows why it took so long says so', async () => {
  const hangs: Driver['ask'] = (_question, _machine, signal) =>
    new Promise((_, reject) =>
      signal.addEventListener('abort', () => reject(new HardwareFailure('it refuses the connection'))),
    )
  await assert.rejects(asked(hangs), { message: 'it refuses the connection' })
})

test('when the process stops, whoever asked is told that', async () => {
  const stopping = AbortSignal.abort()
  const within = { ms: 60_000, signal: stopping }
  await assert.rejects(
    asked(() => new Promise(() => {}), within),
    /The conductor stopped before/,
  )
})

test('errors of the driver itself come through, and so do answers', async () => {
  await assert.rejects(
    asked(async () => {
      throw new TypeError('a bug')
    }),
    TypeError,
  )
  assert.deepEqual(await asked(async () => ({ sensors: [] })), { sensors: [] })
})

test('a driver that can’t be asked has nothing to validate, and supports no question', async () => {
  assert.deepEqual(await driverAsked(driverWith(), { name: 'validate', args: {} }, MACHINE, SOON), {})
  await assert.rejects(asked(), /Driver some does not support sensors/)
})

test('an answer that is too long is refused', async () => {
  const text = 'x'.repeat(limits.callAnswerCharsMax)
  await assert.rejects(
    asked(async () => ({ events: [{ at: null, text, severity: null }] })),
    /longer than/,
  )
})
