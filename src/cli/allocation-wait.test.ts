import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { ApiError, type Holdfast } from '../client/index.ts'
import { lookForNode, printWhenReady } from './allocation-wait.ts'
import { CommandFailure } from './failures.ts'
import { atTerminal, type Terminal } from './terminal.ts'

const explained = (available: number, ahead: number, state = 'allocating') => ({
  state,
  ahead,
  now: { resource_class: 'gpu', considered: 3, available, causes: [], relaxations: [] },
  decided: null,
})

const serverWith = (allocations: object) => ({ within: () => ({ allocations }) }) as unknown as Holdfast

const isBrief = async (answer: object) => {
  const server = serverWith({ show: async () => ({ state: 'allocating' }), explain: async () => answer })
  const seen = await lookForNode(server, 'a uuid', '')(new AbortController().signal)
  return 'waitingFor' in seen && seen.isBrief
}

void test('a node that is free for the allocation is about to be its own', async () => {
  assert.equal(await isBrief(explained(1, 0)), true)
  assert.equal(await isBrief(explained(0, 0)), false)
  assert.equal(await isBrief(explained(1, 1)), false, 'whoever waits before it gets that one')
  assert.equal(await isBrief(explained(0, 0, 'active')), true, 'it has got one between the two questions')
})

/** How a command ends whose allocation fails, and what it has deleted. */
async function failing({ isNew, keep, refusal }: { isNew: boolean; keep?: boolean; refusal?: ApiError }) {
  const failed = { uuid: 'u1', name: 'job', state: 'error', last_error: 'no node', wait_until: null }
  const deleted: string[] = []
  const server = serverWith({
    show: async () => failed,
    explain: async () => explained(0, 0, 'error'),
    delete: async (uuid: string) => {
      deleted.push(uuid)
      if (refusal) throw refusal
      return null
    },
  })
  const wait = { timeoutMs: null, startedAt: 0, line: (words: string) => `holdfast ${words}` }
  const asking = { send: async () => failed as never, find: async () => null, isNew }
  const flags = { format: 'table' as const, ...(keep !== undefined && { keep }) }
  const around = Object.assign(new EventEmitter(), { stderr: {}, env: {} }) as unknown as Terminal
  try {
    await atTerminal(around, () => printWhenReady(server, 'u1', wait, flags, asking))
  } catch (error) {
    assert.ok(error instanceof CommandFailure)
    return { deleted, hint: error.hint }
  }
  return assert.fail('it has failed')
}

void test('an allocation that fails is removed by the command that made it', async () => {
  assert.deepEqual(await failing({ isNew: true }), { deleted: ['u1'], hint: '--wait 10m waits for one' })
  const gone = new ApiError(404, 'gone')
  assert.deepEqual(await failing({ isNew: true, refusal: gone }), { deleted: ['u1'], hint: '--wait 10m waits for one' })
})

void test('one that it did not make, or is to keep, stays', async () => {
  const kept = { deleted: [], hint: 'holdfast allocation retry job' }
  assert.deepEqual(await failing({ isNew: false }), kept)
  assert.deepEqual(await failing({ isNew: true, keep: true }), kept)
})

void test('if it cannot be removed, the failure says which command does', async () => {
  const { hint } = await failing({ isNew: true, refusal: new ApiError(403, 'not now') })
  assert.match(hint!, /the allocation may still be there; remove it with: holdfast allocation delete u1$/)
})
