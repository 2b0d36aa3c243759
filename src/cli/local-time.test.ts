import assert from 'node:assert/strict'
import { Readable, Writable } from 'node:stream'
import { test } from 'node:test'
import { endFlag, hereAndNow, instantSaid, timeFlag } from './local-time.ts'
import { atTerminal, type Terminal } from './terminal.ts'
import { withLocalTimes } from './wall-clock.ts'

/** What `work` returns at a terminal of that zone, and what it tells. */
async function inZone<T>(TZ: string | undefined, work: () => T): Promise<{ result: T; told: string }> {
  let told = ''
  const stream = new Writable({ write: (chunk, _, done) => ((told += String(chunk)), done()) })
  const quiet = () => {}
  const terminal: Terminal = {
    stdin: Readable.from([]),
    stdout: stream,
    stderr: stream,
    env: { TZ },
    on: quiet,
    once: quiet,
    off: quiet,
    exit: quiet,
  }
  const result = await atTerminal(terminal, async () => work())
  return { result, told }
}

const FAR = '2126-12-01 9:00'

void test('a time without a zone is of the terminal, and how it was understood is told', async () => {
  const berlin = await inZone('Europe/Berlin', () => timeFlag('until')(FAR))
  assert.deepEqual(berlin, { result: '2126-12-01T08:00:00.000Z', told: 'holdfast: until Sun 1 Dec 2126 09:00 CET\n' })
  const newYork = await inZone(':America/New_York', () => timeFlag('from')(FAR))
  assert.deepEqual(newYork, { result: '2126-12-01T14:00:00.000Z', told: 'holdfast: from Sun 1 Dec 2126 09:00 EST\n' })
})

void test('what is said exactly needs no words', async () => {
  for (const text of ['2126-12-01T09:00:00Z', '2126-12-01 09:00+01:00', '2h', 'in 2h', 'now']) {
    assert.equal((await inZone('Europe/Berlin', () => instantSaid(text, { word: 'until' }))).told, '', text)
  }
  assert.equal((await inZone('UTC', () => timeFlag('until')('2126-12-01 09:00'))).told, '')
})

void test('a span stays a span: the clock of the server may be another', async () => {
  assert.equal((await inZone('UTC', () => endFlag('until')('1d12h'))).result, '129600s')
  assert.equal((await inZone('UTC', () => endFlag('until')('in 90 min'))).result, '5400s')
})

void test('a zone that nobody knows is the machine’s', async () => {
  const { result } = await inZone(undefined, () => hereAndNow().zone)
  assert.equal((await inZone('Middle/Earth', () => hereAndNow().zone)).result, result)
})

void test('what is over or unclear is refused with the time as it was understood, or with a word', async () => {
  const refuses = (text: string, words: RegExp) =>
    assert.rejects(
      inZone('Europe/Berlin', () => endFlag('until')(text)),
      words,
    )
  await refuses('2020-11-17 14:00', /: 2020-11-17 14:00 means Tue 17 Nov 2020 14:00 CET, which is over$/)
  await refuses('3/4', /'3\/4' is not clear: a month needs its name/)
  await refuses('14', /'14' is not clear: a number needs its unit/)
  await refuses('soon', /'soon' is no time such as 2h, 18:00/)
})

void test('a table has the times of the terminal, and its headings the zone', async () => {
  const names = ['name', 'expires_at', 'end_date', 'updated_at']
  const rows = [
    { name: '2126-12-01T08:00:00Z', expires_at: '2126-12-01T08:00:00+00:00', end_date: '2126-12-01T08:00:00.000000' },
    { name: 'job', expires_at: null, end_date: '2126-07-01T08:00:00.000000', updated_at: null },
  ]
  const { result } = await inZone('Europe/Berlin', () => withLocalTimes(names, rows))
  assert.deepEqual(result.headings, ['name', 'expires_at (CET)', 'end_date (CET, CEST)', 'updated_at'])
  assert.deepEqual(result.rows, [
    { name: '2126-12-01T08:00:00Z', expires_at: 'Sun 1 Dec 2126 09:00', end_date: 'Sun 1 Dec 2126 09:00' },
    { name: 'job', expires_at: null, end_date: 'Mon 1 Jul 2126 10:00', updated_at: null },
  ])
})
