// kill -9 while claims are made: what is in the ledger is in the audit, and nothing else.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clients } from '../races/clients.ts'
import { consumerBody, Placement } from '../support/placement.ts'
import { rounds } from '../support/rounds.ts'
import { spawnServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

const CLIENTS = 16
const ROUNDS = rounds(2, 3)

eachDatabase('the audit of a server that is killed', ({ create }) => {
  test('has an entry for each claim that is there, and for no other', async () => {
    const database = await create()
    let server = await spawnServer(database)
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const api = new Placement(server.origin)
        const provider = await api.provider({ VCPU: 1_000_000 })
        const project = randomUUID()
        const own = { token: `someone:${project}`, headers: { 'x-roles': 'admin' } }
        let answered = 0
        let killed: Promise<void> | undefined
        await clients(CLIENTS, async () => {
          for (;;) {
            const path = `/allocations/${randomUUID()}`
            const answer = await api.put(path, consumerBody({ [provider]: { VCPU: 1 } }), own).catch(() => null)
            if (!answer) return
            if (answer.status === 204) answered++
            if (answered >= 100 * (round + 1)) killed ??= sleep(round).then(() => server.kill9())
          }
        })
        await killed
        api.close()
        server = await spawnServer(database)
        const again = new Placement(server.origin)
        const { allocations } = (await again.get(`/resource_providers/${provider}/allocations`)).body
        const there = new Set(Object.keys(allocations as object))
        assert.ok(there.size >= answered && answered > 0, `${answered} answered, ${there.size} there`)
        const told = await toldOf(again.origin, project)
        assert.deepEqual([there.difference(told).size, told.difference(there).size], [0, 0])
        await again.fsck()
        again.close()
      }
    } finally {
      await server.kill9()
    }
  })
})

/** The consumers that the audit tells of. */
async function toldOf(origin: string, project: string): Promise<Set<string>> {
  const told = new Set<string>()
  let next: string | undefined = `${origin}/holdfast/v1/audit?project=${project}`
  while (next !== undefined) {
    const response: Response = await fetch(next, { headers: { 'x-auth-token': 'admin' } })
    const page = (await response.json()) as { entries: { objects: { id: string }[] }[]; next?: string }
    for (const { objects } of page.entries) for (const { id } of objects) told.add(id)
    next = page.next
  }
  return told
}
