import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import type { Store } from '../../store/store.ts'
import { CalendarMirror } from './mirror.ts'
import type { RevisedLeasable } from './resources.ts'
import { asId } from '../../../test/support/ids.ts'

/** A leasable with the fields that matter here. The name distinguishes reads of the same version. */
const leasable = (id: number, version = 0, name = 'one') =>
  ({ id: asId(id), version, name, kind: 'node' }) as RevisedLeasable

type Answer = PromiseWithResolvers<RevisedLeasable[]>

/** A calendar with these leasables, and a database whose answers and their timing the test controls. */
async function calendarOf(...leasables: RevisedLeasable[]) {
  const asked: Answer[] = []
  const failures: unknown[] = []
  const store = {
    read: () => {
      const answer = Promise.withResolvers<RevisedLeasable[]>()
      asked.push(answer)
      return answer.promise
    },
  }
  const calendar = new CalendarMirror(
    store as unknown as Store,
    async () => {},
    error => failures.push(error),
  )
  const commit = (provider: number, attached: RevisedLeasable | null) =>
    calendar.absorb([{ provider: asId(provider), room: 'leases', attached }])
  const known = () => calendar.leasables.map(({ id, version, name }) => [id, version, name])
  /** The database answers the current read. */
  async function answer(...found: RevisedLeasable[]): Promise<void> {
    await settle()
    assert.equal(asked.length, 1, 'one reading at a time')
    asked.shift()!.resolve(found)
    await settle()
  }
  async function fail(error: Error): Promise<void> {
    await settle()
    asked.shift()!.reject(error)
    await settle()
  }
  const loading = calendar.load()
  await answer(...leasables)
  await loading
  return { calendar, commit, known, answer, fail, failures, asked }
}

const settle = () => new Promise(resolve => setImmediate(resolve))

for (const [what, read] of [
  ['everything', (calendar: CalendarMirror) => calendar.load()],
  ['some', (calendar: CalendarMirror) => calendar.refresh([1, 2, 3].map(id => asId(id)))],
] as const) {
  void test(`a leasable that is enrolled while ${what} is read stays`, async () => {
    const { calendar, commit, known, answer } = await calendarOf(leasable(1))
    const reading = read(calendar)
    await settle()
    const absorbed = commit(2, leasable(2))
    await answer(leasable(1))
    await answer(leasable(2))
    await Promise.all([reading, absorbed])
    assert.deepEqual(known(), [
      [1, 0, 'one'],
      [2, 0, 'one'],
    ])
  })

  void test(`a leasable that is withdrawn while ${what} is read does not come back`, async () => {
    const { calendar, commit, known, answer } = await calendarOf(leasable(1), leasable(2))
    const reading = read(calendar)
    await settle()
    const absorbed = commit(2, null)
    await answer(leasable(1), leasable(2))
    await answer()
    await Promise.all([reading, absorbed])
    assert.deepEqual(known(), [[1, 0, 'one']])
  })

  void test(`a leasable that is booked while ${what} is read stays booked`, async () => {
    const { calendar, commit, known, answer } = await calendarOf(leasable(1), leasable(2))
    const reading = read(calendar)
    await settle()
    assert.equal(commit(2, leasable(2, 1, 'booked')), undefined, 'nothing needs to be read for it')
    await answer(leasable(1), leasable(2))
    await reading
    assert.deepEqual(known(), [
      [1, 0, 'one'],
      [2, 1, 'booked'],
    ])
  })

  void test(`a leasable that others withdrew and enrolled again is known after ${what} is read`, async () => {
    const { calendar, known, answer } = await calendarOf(leasable(1, 7), leasable(2))
    const reading = read(calendar)
    await answer(leasable(1, 0, 'again'), leasable(2))
    await reading
    assert.deepEqual(known()[0], [1, 0, 'again'])
  })
}

void test('a late notice of a commit does not undo a read that came after the commit', async () => {
  const { calendar, commit, known, answer } = await calendarOf(leasable(1))
  const reading = calendar.refresh([asId(1)])
  await answer(leasable(1, 1, 'booked, then changed'))
  await reading
  const absorbed = commit(1, leasable(1, 1, 'booked'))
  await answer(leasable(1, 1, 'booked, then changed'))
  await absorbed
  assert.deepEqual(known(), [[1, 1, 'booked, then changed']])
})

void test('reads that are requested during a read become one read after it', async () => {
  const { calendar, known, answer, asked } = await calendarOf(leasable(1))
  const readings = [1, 2, 1].map(id => calendar.refresh([asId(id)]))
  await answer(leasable(1, 1), leasable(2))
  await Promise.all(readings)
  assert.equal(asked.length, 0)
  assert.equal(known().length, 2)
})

void test('a commit succeeds even if the read after it fails; the read is retried', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const { commit, known, answer, fail, failures } = await calendarOf(leasable(1))
    const absorbed = commit(2, leasable(2))
    await fail(new Error('away'))
    await absorbed
    mock.timers.tick(1_000)
    await fail(new Error('still away'))
    mock.timers.tick(1_000)
    await answer(leasable(2))
    assert.deepEqual(known().at(-1), [2, 0, 'one'])
    assert.equal(failures.length, 2)
  } finally {
    mock.timers.reset()
  }
})
