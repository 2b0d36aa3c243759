import assert from 'node:assert/strict'
import { test } from 'node:test'
import { command } from '../store/statement.ts'
import { run, type Write } from '../store/transaction.ts'
import type { Entry } from './entry.ts'
import { recordAll, recorded } from './record.ts'

const change = command((db, _: object) => db.deleteFrom('log'))
const entry = (action: string): Entry => ({
  at: 0,
  requestId: null,
  user: 'member',
  project: null,
  roles: '',
  address: '',
  action,
  outcome: 'done',
})

/** The actions in the order in which their entries are written, when each command changes this many rows. */
function writtenBy(work: Write<unknown>, count: number): string[] {
  const actions: string[] = []
  for (let step = work.next(); !step.done;) {
    const written = step.value.flatMap(call => (call.kind === 'log' ? call.entries : []))
    actions.push(...written.map(call => /"action":"(\w+)"/.exec(JSON.stringify(call))![1]!))
    step = work.next(step.value.map(() => ({ rows: [], count })))
  }
  return actions
}

function* creates(): Write<void> {
  yield* run(change({}))
  yield* recordAll([{ entry: entry('allocate'), subjects: [] }])
}

test('what a deed brings about is written down after the deed, though in one transaction', () => {
  assert.deepEqual(writtenBy(recorded(creates(), entry('create')), 1), ['create', 'allocate'])
})

test('a deed that changes nothing is not written down', () => {
  assert.deepEqual(writtenBy(recorded(run(change({})), entry('create')), 0), [])
})
