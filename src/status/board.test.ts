import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../shared/limits.ts'
import { Board } from './board.ts'

test('a text is made again when the viewpoint that numbers its traits was forgotten', () => {
  const names = { user: (id: string) => id, project: (id: string) => id }
  const board = new Board({ store: null as never, catchUp: async () => {}, now: () => 0, names })
  const viewpointOf = (project: string) =>
    board.viewpoint({ key: project, project, seesAll: false, open: new Set(), own: new Set() })
  const block = { entries: [], texts: new Map() }
  const textFor = (made: string) => String(board.textOf(block, viewpointOf('lab'), 'ann', () => Buffer.from(made)))
  assert.equal(textFor('first'), 'first')
  assert.equal(textFor('again'), 'first')
  for (let i = 0; i < limits.statusViewpointsMax; i++) viewpointOf(`project ${i}`)
  assert.equal(textFor('anew'), 'anew')
})
