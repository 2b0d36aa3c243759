import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { StoreConflict, StoreUnavailable } from './failure.ts'
import { classify } from './postgres-failure.ts'

const told = (code: string) => Object.assign(new pg.DatabaseError('told', 1, 'error'), { code })
const coded = (code: string) => Object.assign(new Error('socket'), { code })

test('a database that can do nothing now is away', () => {
  const codes = {
    shutDown: '57P01',
    crashed: '57P02',
    starting: '57P03',
    cancelled: '57014',
    readOnly: '25006',
    stoodStill: '25P03',
  }
  const scarce = { disk: '53100', memory: '53200', connections: '53300', failedToRead: '58030', connection: '08006' }
  for (const code of Object.values({ ...codes, ...scarce }))
    assert.ok(classify(told(code)) instanceof StoreUnavailable, code)
  for (const code of ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_DESTROYED'])
    assert.ok(classify(coded(code)) instanceof StoreUnavailable, code)
  for (const text of ['Connection terminated unexpectedly', 'Client was closed and is not queryable'])
    assert.ok(classify(new Error(text)) instanceof StoreUnavailable, text)
})

test('a transaction that the database ended because we stood still is not said to be its fault', () => {
  const error = classify(told('25P03')) as Error
  assert.ok(error instanceof StoreUnavailable)
  assert.match(error.message, /this process got no time/)
  assert.doesNotMatch(error.message, /away/)
})

test('errors caused by another transaction are conflicts', () => {
  for (const code of ['40001', '40P01', '55P03', '23505', '23503'])
    assert.ok(classify(told(code)) instanceof StoreConflict)
})

test('errors in our code or in the data are passed on unchanged', () => {
  for (const code of ['42601', '42501', '22003', '23514', 'XX000', 'XX001']) {
    const error = told(code)
    assert.equal(classify(error), error)
  }
  const ours = new Error('a guard failed')
  assert.equal(classify(ours), ours)
})

test('a refusal stays what it is, whatever it quotes', () => {
  class Refusal extends Error {}
  const refusal = new Refusal('Node connection-1 could not be found.')
  assert.equal(classify(refusal), refusal)
})
