// kill -9 of those who deliver, in the middle of a thousand deliveries: each arrives at least once, and about each object in
// the order in which it happened.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore } from '../../src/store/open.ts'
import { chance } from '../races/clients.ts'
import { Client } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { rounds } from '../support/rounds.ts'
import { type ServerProcess, spawnServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { allocation, Receiver, tell, until } from './receiver.ts'

const EVENTS = rounds(300, 1_000)
const KILLS = rounds(3, 10)
const OBJECTS = 40
/** Longer than a delivery may be in the hands of a process that died. */
const TERM_S = 31

eachDatabase('processes that deliver and are killed', ({ kind, create }) => {
  test(`deliver all of ${EVENTS} events, each object's in order, though ${KILLS} of them die`, async t => {
    const below = chance(7)
    const database = await create()
    const start = () => spawnServer(database, ['--webhook-allow', '127.0.0.1', '--test-clock'])
    const processes: ServerProcess[] = []
    const count = kind === 'sqlite' ? 1 : 3
    const receiver = new Receiver()
    const store = openStore(database)
    const api = new Client('/holdfast/v1')
    try {
      for (let i = 0; i < count; i++) processes.push(await start())
      api.origins = [processes[0]!.origin]
      await receiver.open()
      // Some tries fail, and some answers come late: then a kill meets a delivery under way.
      receiver.respond = response => {
        const status = receiver.received.length % 50 === 10 ? 500 : 204
        setTimeout(() => response.writeHead(status).end(), below(3) === 0 ? 20 : 0)
      }
      expectStatus(await api.post('/webhooks', { url: `${receiver.url}/all`, project: 'p1' }), 201)
      const objects = Array.from({ length: OBJECTS }, () => randomUUID())
      const told = new Map<string, number[]>(objects.map(id => [id, []]))
      const telling = (async () => {
        for (let n = 0; n < EVENTS; n++) {
          const id = objects[below(OBJECTS)]!
          told.get(id)!.push(n)
          await tell(store, allocation(id, 'renewed', 'p1', { n }))
        }
      })()
      for (let kills = 0; kills < KILLS; kills++) {
        const before = receiver.received.length
        const enough = Math.min(EVENTS, before + Math.floor(EVENTS / (KILLS + 1)))
        await until('some deliveries', async () => {
          if (receiver.received.length < enough) await advance(api)
          return receiver.received.length >= enough
        })
        await sleep(below(10))
        const victim = below(processes.length)
        await processes[victim]!.kill9()
        processes[victim] = await start()
        api.origins = [processes[victim].origin]
        await advance(api, TERM_S)
      }
      await telling
      const arrived = () => firsts(receiver)
      await until('all', async () => {
        await advance(api, 301)
        return [...arrived().values()].reduce((sum, list) => sum + list.length, 0) >= EVENTS
      })
      for (const [id, order] of told) assert.deepEqual(arrived().get(id) ?? [], order, `the order of ${id}`)
      const { violations, invariants } = expectStatus(await api.get('/fsck'), 200).body
      assert.equal(violations, 0, JSON.stringify(invariants))
      const doubles = receiver.received.length - EVENTS
      assert.ok(doubles > 0, 'no try failed, so nothing was tested')
      t.diagnostic(`${EVENTS} events, ${KILLS} kills, ${doubles} deliveries more than once`)
    } finally {
      api.close()
      await store.close()
      receiver.close()
      for (const one of processes) await one.kill9()
    }
  })
})

/** Retries are due, and so is what dead processes had taken. */
const advance = async (api: Client, seconds = 6) => {
  expectStatus(await api.post('/clock', { advance: seconds, work: false }), 200)
  await sleep(50)
}

/** The numbers that arrived about each object, each when it first did. */
function firsts({ received }: Receiver): Map<string, number[]> {
  const seen = new Set<string>()
  const found = new Map<string, number[]>()
  for (const { id, event } of received) {
    if (seen.has(id)) continue
    seen.add(id)
    found.getOrInsertComputed(event.subject.split('/')[1], () => []).push(event.data.n)
  }
  return found
}
