import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Memory } from '../../src/process/memory.ts'
import { Following } from './following.ts'
import type { Inside } from './inside.ts'

interface Shown {
  revision: number
  used: number
}

/** One provider with one class, and one node, in the database and in one memory. */
class World {
  readonly stock: Shown & { capacity: number } = { revision: 1, used: 0, capacity: 8 }
  readonly shown: Shown = { revision: 1, used: 0 }
  nodes = [{ id: 1, count: 1 }]
  known = [{ id: 1, revision: 1 }]
  readonly #following = new Following()
  readonly #memory = this.#remembered()
  readonly #inside = {
    rows: async (text: string) => {
      if (text.includes('from nodes')) return this.nodes
      return text.includes('leasables') ? [] : [{ id: 1, name: 'VCPU', ...this.stock }]
    },
    memories: () => [{ name: 'p0', memory: this.#memory }],
  } as unknown as Inside

  #remembered(): Memory {
    const column = { usedAt: () => this.shown.used, at: () => 0, capacity: [8] }
    return {
      fleet: { nodes: () => this.known },
      calendar: { leasables: [] },
      mirror: { revisionOf: () => this.shown.revision, table: { rowOfId: () => 0, column: () => column } },
    } as unknown as Memory
  }

  commit = (change: Partial<Shown>) => {
    Object.assign(this.stock, change)
    return this.#following.committed(this.#inside, new Set(['inventories', 'nodes']))
  }

  show = (change: Partial<Shown>) => {
    Object.assign(this.shown, change)
    return this.look()
  }

  look = () => this.#following.look(this.#inside)
}

const texts = (findings: readonly { text: string }[]) => findings.map(({ text }) => text)

void test('memory may be late, and catch up in steps', async () => {
  const world = new World()
  for (const [revision, used] of [
    [2, 3],
    [3, 5],
  ] as const)
    assert.deepEqual(await world.commit({ revision, used }), [])
  assert.deepEqual(await world.show({ revision: 2, used: 3 }), [])
  assert.deepEqual(await world.show({ revision: 3, used: 5 }), [])
})

void test('a use that was never committed, or that memory had left behind, is found', async () => {
  const world = new World()
  await world.commit({ revision: 2, used: 3 })
  const never = 'p0: provider 1 never had used 4 of VCPU since it was seen'
  assert.deepEqual(texts(await world.show({ revision: 2, used: 4 })), [never])
  await world.show({ revision: 2, used: 3 })
  await world.commit({ revision: 3, used: 5 })
  assert.deepEqual(await world.show({ revision: 3, used: 5 }), [])
  assert.equal((await world.show({ used: 3 })).length, 1)
})

void test('a revision that nobody saw may have been anything', async () => {
  const world = new World()
  await world.commit({})
  await world.commit({ revision: 3, used: 5 })
  assert.deepEqual(await world.show({ revision: 2, used: 7 }), [])
})

void test('a node that goes back, or is lost while it is there, is found', async () => {
  const world = new World()
  world.nodes = [{ id: 1, count: 2 }]
  world.known = [{ id: 1, revision: 2 }]
  assert.deepEqual(await world.commit({}), [])
  world.known = [{ id: 1, revision: 1 }]
  assert.deepEqual(texts(await world.look()), ['p0: node 1 was seen at 2, and is back at 1'])
  world.known = []
  assert.deepEqual(texts(await world.look()), ['p0: node 1 was seen, and is lost'])
  world.nodes = []
  assert.deepEqual(await world.commit({}), [])
})
