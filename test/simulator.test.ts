// The simulator: the same seed is the same run, in any real process, and seeds are green.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate } from './support/simulate.ts'

const SHORT = ['--load', '4', '--mix', 'nodes', '--faults', 'general']
const LONG = process.env['HOLDFAST_LONG'] !== undefined
/** On the embedded store a seed takes a second. */
const ON_SQLITE = ['--store', 'sqlite']

/** The hash over all that happened in each seed. */
const hashesIn = (printed: string) =>
  [...printed.matchAll(/^seed (\d+): (\w+), hash (\w+)/gm)].map(([, ...found]) => found.join(' ')).toSorted()

void test('a seed is the same run in separate processes, whatever else runs beside it, and another seed is another', async () => {
  const [together, first, second] = await Promise.all([
    simulate('--seed', '11', '--seeds', '2', '--workers', '1', ...SHORT),
    simulate('--seed', '11', ...SHORT),
    simulate('--seed', '12', ...SHORT),
  ])
  assert.deepEqual([together.code, first.code, second.code], [0, 0, 0], together.printed + first.said)
  const hashes = hashesIn(together.printed)
  assert.deepEqual(hashes, [...hashesIn(first.printed), ...hashesIn(second.printed)])
  assert.notEqual(hashes[0]!.split(' ')[2], hashes[1]!.split(' ')[2])
})

void test('a seed on the embedded store is the same run in separate processes', async () => {
  const run = () => simulate('--seed', '31', '--seeds', '3', ...ON_SQLITE)
  const [first, second] = await Promise.all([run(), run()])
  assert.deepEqual([first.code, second.code], [0, 0], first.printed + first.said)
  assert.equal(hashesIn(first.printed).length, 3)
  assert.deepEqual(hashesIn(first.printed), hashesIn(second.printed))
})

void test('on the embedded store any clients and any faults leave the service whole', async () => {
  const seeds = LONG ? 25 : 20
  const { code, printed, said } = await simulate('--seed', '101', '--seeds', String(seeds), ...ON_SQLITE)
  assert.equal(code, 0, printed + said)
  assert.match(printed, new RegExp(`^${seeds} of ${seeds} seeds are green`, 'm'))
})

void test('what is wrong with the arguments is said', async () => {
  const { code, said } = await simulate('--seeds', 'many')
  assert.equal(code, 2)
  assert.match(said, /--seeds must be a whole number from 1, not 'many'/)
  const other = await simulate('--faults', 'floods')
  assert.equal(other.code, 2)
  assert.match(other.said, /there are no faults 'floods'; there are general, none/)
  const fourth = await simulate('--store', 'paper')
  assert.equal(fourth.code, 2)
  assert.match(fourth.said, /there is no store 'paper'; there are postgres, sqlite/)
  const third = await simulate('--mix', 'nobody')
  assert.equal(third.code, 2)
  assert.match(third.said, /there is no mix 'nobody'; there are everything/)
})

void test('all kinds of faults leave the service whole', async () => {
  const runs = ['crashes', 'connections', 'outages'].map(faults =>
    simulate('--seed', '21', '--load', '4', '--mix', 'nodes', '--faults', faults),
  )
  for (const { code, printed, said } of await Promise.all(runs)) assert.equal(code, 0, printed + said)
})
