import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { pino } from 'pino'
import { Metrics } from '../measure/metrics.ts'
import { problemOf } from './failures.ts'
import { loggedUrl } from './logged-url.ts'

test('a secret in a URL is not logged, however it is asked for', () => {
  for (const end of ['.ics', '', '.ics?x=1', '.ics/more', '%2Eics']) {
    assert.doesNotMatch(loggedUrl(`/holdfast/v1/calendar/s3cret${end}`), /s3cret/)
  }
  assert.equal(loggedUrl('/holdfast/v1/calendar/s3cret.ics?x=1'), '/holdfast/v1/calendar/…?x=1')
  assert.equal(
    loggedUrl('/holdfast/v1/media/a-node/s3cret/configdrive.iso'),
    '/holdfast/v1/media/a-node/…/configdrive.iso',
  )
  assert.equal(loggedUrl('/holdfast/v1/events?kind=node&ticket=s3cret'), '/holdfast/v1/events?kind=node&ticket=…')
  for (const word of [
    '/holdfast/v1/%63alendar/',
    '/holdfast/v1/c%61le%6Edar/',
    '/calendar//',
    '/events?%74icket=',
    '/v1/allocations/a?keeper=bob%2F',
  ]) {
    assert.doesNotMatch(loggedUrl(`${word}s3cret`), /s3cret/)
  }
  for (const url of ['/holdfast/v1/calendars/an-id', '/placement/traits?name=in:A']) assert.equal(loggedUrl(url), url)
})

test('a failure while a calendar is read is logged without it', () => {
  let logged = ''
  const log = pino({}, { write: line => void (logged += line) })
  const request = { id: 'req-1', method: 'GET', url: '/holdfast/v1/calendar/s3cret.ics' } as FastifyRequest
  problemOf(new Error('broken'), request, { log, metrics: new Metrics() })
  assert.match(logged, /a request failed/)
  assert.doesNotMatch(logged, /s3cret/)
})
