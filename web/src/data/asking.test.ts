import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Unreachable } from '../../../src/client/errors.ts'
import { createAsking } from './asking.ts'

const away = new Unreachable('http://127.0.0.1', 'Failed to fetch', new TypeError('Failed to fetch'))

/** A clock that is moved by hand, and a server that answers when it is told to. */
function scene() {
  let now = 0
  let timers: { at: number; act: () => void }[] = []
  const sent: {
    question: string
    answer: (text: string) => void
    fail: (error: Error) => void
    signal: AbortSignal
  }[] = []
  const heard: string[] = []
  let isAsking = false
  const asking = createAsking<string, string>({
    ask: (question, signal) =>
      new Promise((answer, fail) => {
        sent.push({ question, answer, fail, signal })
      }),
    answered: (text, question) => heard.push(`${question}: ${text}`),
    failed: (error, question) => heard.push(`${question} failed: ${(error as Error).message}`),
    asking: is => (isAsking = is),
    calmMs: 120,
    againMs: 500,
    timers: {
      now: () => now,
      later: (ms, act) => {
        const timer = { at: now + ms, act }
        timers.push(timer)
        return () => (timers = timers.filter(one => one !== timer))
      },
    },
  })
  const pass = async (ms: number) => {
    now += ms
    const due = timers.filter(({ at }) => at <= now)
    timers = timers.filter(({ at }) => at > now)
    for (const { act } of due) act()
    await new Promise(setImmediate)
  }
  return { asking, sent, heard, pass, isAsking: () => isAsking }
}

test('it asks when the hand rests, once for many changes', async () => {
  const { asking, sent, pass } = scene()
  for (const question of ['a', 'b', 'c']) {
    asking.change(question)
    await pass(100)
  }
  assert.equal(sent.length, 0)
  await pass(20)
  assert.deepEqual(
    sent.map(({ question }) => question),
    ['c'],
  )
})

test('an answer to an older question is dropped, also when it comes last', async () => {
  const { asking, sent, heard, pass, isAsking } = scene()
  asking.change('a')
  await pass(120)
  asking.change('b')
  await pass(120)
  sent[1]!.answer('fits')
  await pass(0)
  sent[0]!.answer('late')
  await pass(0)
  assert.deepEqual(heard, ['b: fits'])
  assert.ok(sent[0]!.signal.aborted)
  assert.equal(isAsking(), false)
})

test('changes elsewhere make it ask again, at most twice a second', async () => {
  const { asking, sent, pass } = scene()
  asking.change('a')
  await pass(120)
  sent[0]!.answer('fits')
  for (let step = 0; step < 20; step++) {
    asking.again()
    await pass(50)
    sent.at(-1)!.answer('fits')
  }
  assert.equal(sent.length, 3)
})

test('a failure is told for the question that failed, and the next may succeed', async () => {
  const { asking, sent, heard, pass } = scene()
  asking.change('a')
  await pass(120)
  sent[0]!.fail(new Error('away'))
  await pass(0)
  asking.again()
  await pass(500)
  sent[1]!.answer('fits')
  await pass(0)
  assert.deepEqual(heard, ['a failed: away', 'a: fits'])
})

test('what is dropped is not asked, and its answer is not heard', async () => {
  const { asking, sent, heard, pass, isAsking } = scene()
  asking.change('a')
  await pass(120)
  asking.drop()
  sent[0]!.answer('fits')
  asking.again()
  await pass(1_000)
  assert.deepEqual([sent.length, heard, isAsking()], [1, [], false])
})

test('a server that is away has not refused: it is asked again until it answers', async () => {
  const { asking, sent, heard, pass, isAsking } = scene()
  asking.change('a')
  await pass(120)
  sent[0]!.fail(away)
  await pass(0)
  assert.deepEqual([heard, isAsking()], [[], true])
  await pass(2_000)
  sent[1]!.answer('fits')
  await pass(0)
  assert.deepEqual([heard, isAsking()], [['a: fits'], false])
})

test('a question that is changed or dropped while the server is away is not asked again', async () => {
  const { asking, sent, pass } = scene()
  asking.change('a')
  await pass(120)
  sent[0]!.fail(away)
  await pass(0)
  asking.change('b')
  await pass(120)
  assert.equal(sent[1]!.question, 'b')
  sent[1]!.fail(away)
  await pass(0)
  asking.drop()
  await pass(5_000)
  assert.equal(sent.length, 2)
})
