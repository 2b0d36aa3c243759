import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeId, ProviderId } from '../store/schema/ids.ts'
import type { Store } from '../store/store.ts'
import { Board } from './board.ts'
import type { MachineSource } from './rows.ts'

const names = { user: (id: string) => id, project: (id: string) => id }
const HOLD_ENDS = 1_000

const [id, provider_id] = [1 as NodeId, 1 as ProviderId]
const node = { id, provider_id, uuid: 'n', name: 'm1', instance_uuid: null, chassis_uuid: null, maintenance: 0 }
const hold = { uuid: 'h', node_id: id, owner: 'p', project_id: 'p', expires_at: HOLD_ENDS, created_at: 0 }
const machine = {
  node: { ...node, provision_state: 'available', retired: 0, fault: null },
  traits: [],
  ports: [],
  allocation: null,
  hold,
  claims: [],
  server: null,
  bookings: [],
} as unknown as MachineSource

/** A board of one machine, which nobody changes. */
function boardAt(now: () => number): Board {
  const none = { newest: 1, first: [], read: [], ids: [], isAll: false, waiting: [], asked: [] }
  const answers: unknown[] = [
    { newest: 1, dirt: null },
    { ...none, first: [id], read: [machine], isAll: true },
  ]
  let asked = 0
  const store = {
    ordered: async () => {},
    read: async () => answers[asked++] ?? (asked % 2 ? { newest: 1, dirt: {} } : none),
  } as unknown as Store
  return new Board({ id: 'a board', store, catchUp: async () => {}, now, names })
}

void test('a hold is over at its end, and not yet when the clock is set back', async () => {
  let now = HOLD_ENDS - 1
  const board = boardAt(() => now)
  const words: (string | undefined)[] = []
  for (const at of [HOLD_ENDS - 1, HOLD_ENDS, HOLD_ENDS - 1, HOLD_ENDS + 1]) {
    now = at
    await board.fresh()
    words.push(board.entryOf('m1')?.row.word)
  }
  assert.deepEqual(words, ['held', 'free', 'held', 'free'])
})

void test('a text points into the list of traits of its own viewpoint, also after many others have looked', () => {
  const board = boardAt(() => 0)
  const sightOf = (key: string) => ({
    key,
    project: key,
    seesAll: false,
    ports: [],
    bmc: [],
    open: new Set<never>(),
    own: new Set<never>(),
  })
  const block = { entries: [], texts: new Map() }
  const text = (made: string) =>
    String(board.textOf(block, board.viewpoint(sightOf('p')), 'ann', () => Buffer.from(made)))
  assert.equal(text('first'), 'first')
  assert.equal(text('again'), 'first')
  for (let i = 0; i < 1_000; i++) board.viewpoint(sightOf(`p${i}`))
  assert.equal(text('of the new list'), 'of the new list')
})
