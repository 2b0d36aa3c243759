// kill -9 of the server while it is claiming: what was answered stays, and what was not is there whole or not at all.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { chance, clients } from './races/clients.ts'
import { type Amounts, consumerBody, expectStatus, Placement } from './support/placement.ts'
import { rounds } from './support/rounds.ts'
import { type ServerProcess, spawnServer } from './support/server.ts'
import { eachDatabase } from './support/stores.ts'

const ROUNDS = { sqlite: rounds(6, 20), postgres: rounds(3, 5) }
const CLIENTS = 16

/** What consumers have, or are to have; null is nothing. */
type Has = Map<string, Record<string, Amounts> | null>

/** A change that got no answer before the server died. */
interface Unsure {
  before: Has
  after: Has
}

eachDatabase('a server that is killed', ({ kind, create }) => {
  test(`loses no claim that it answered, in ${ROUNDS[kind]} rounds`, async () => {
    const database = await create()
    const below = chance(4)
    let server = await spawnServer(database)
    let answered = 0
    let unanswered = 0
    try {
      for (let round = 0; round < ROUNDS[kind]; round++) {
        const { providers, sure, unsure } = await claimUntilKilled(server, {
          after: 20 + below(200),
          delayMs: below(8),
        })
        server = await spawnServer(database)
        const api = new Placement(server.origin)
        await expectEverything(api, providers, sure, unsure)
        await api.fsck()
        api.close()
        answered += sure.size
        unanswered += unsure.length
      }
    } finally {
      await server.kill9()
    }
    // The kills must have come in the middle of the work, or nothing was tested.
    assert.ok(answered > ROUNDS[kind], `${answered} consumers were written`)
    assert.ok(unanswered > ROUNDS[kind], `${unanswered} requests were cut off`)
  })
})

/** Kills when so many consumers are written, and a moment later: not always as an answer comes in. */
async function claimUntilKilled(server: ServerProcess, kill: { after: number; delayMs: number }) {
  const api = new Placement(server.origin)
  const providers = [await api.provider({ VCPU: 1_000_000 }), await api.provider({ VCPU: 1_000_000 })]
  const sure: Has = new Map()
  const unsure: Unsure[] = []
  let killed: Promise<void> | undefined
  await clients(CLIENTS, async index => {
    const below = chance(index)
    const mine: string[] = []
    for (;;) {
      const change = nextChange(mine, providers, below)
      try {
        expectStatus(await write(api, change, sure), 204)
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        const before: Has = new Map([...change.keys()].map(consumer => [consumer, sure.get(consumer) ?? null]))
        unsure.push({ before, after: change })
        return
      }
      for (const [consumer, has] of change) sure.set(consumer, has)
      if (sure.size >= kill.after) killed ??= sleep(kill.delayMs).then(() => server.kill9())
    }
  })
  await killed
  api.close()
  return { providers, sure, unsure }
}

/** New consumers, a claim handed from one consumer to another, or a release. Each client has consumers of its own. */
function nextChange(mine: string[], [one, two]: readonly string[], below: (limit: number) => number): Has {
  const amounts = (): Record<string, Amounts> => ({ [one!]: { VCPU: 1 + below(9) }, [two!]: { VCPU: 1 + below(9) } })
  const change: Has = new Map()
  const what = mine.length === 0 ? 0 : below(4)
  if (what === 3) return change.set(mine.pop()!, null)
  if (what === 2) change.set(mine.pop()!, null)
  const count = what === 0 ? 1 : 3
  for (let i = 0; i < count; i++) {
    const consumer = randomUUID()
    mine.push(consumer)
    change.set(consumer, amounts())
  }
  return change
}

function write(api: Placement, change: Has, known: Has) {
  const entries = Array.from(change)
  const generation = (consumer: string) => (known.get(consumer) ? 1 : null)
  const [[consumer, has]] = entries as [(typeof entries)[number]]
  if (entries.length === 1 && !has) return api.del(`/allocations/${consumer}`)
  if (entries.length === 1) return api.claim(consumer, has!)
  return api.post(
    '/allocations',
    Object.fromEntries(entries.map(([consumer, has]) => [consumer, consumerBody(has ?? {}, generation(consumer))])),
  )
}

async function expectEverything(api: Placement, providers: readonly string[], sure: Has, unsure: readonly Unsure[]) {
  const found = await everything(api, providers)
  for (const { before, after } of unsure) {
    const now: Has = new Map()
    for (const consumer of after.keys()) {
      const claims = await api.claims(consumer)
      now.set(consumer, Object.keys(claims).length === 0 ? null : claims)
      // Checked here, whole or absent; the rest must be exactly what was answered.
      found.delete(consumer)
      sure.delete(consumer)
    }
    const [were, are, would] = [before, now, after].map(has => JSON.stringify([...has].map(sorted)))
    assert.ok(are === were || are === would, `half applied: was ${were}, is ${are}, was to be ${would}`)
  }
  for (const [consumer, has] of sure) assert.deepEqual(found.get(consumer) ?? null, has, `lost: ${consumer}`)
  for (const consumer of found.keys()) assert.ok(sure.has(consumer), `nobody asked for ${consumer}`)
}

/** All that consumers have of these providers, as the providers tell it. */
async function everything(api: Placement, providers: readonly string[]): Promise<Map<string, Record<string, Amounts>>> {
  const found = new Map<string, Record<string, Amounts>>()
  for (const provider of providers) {
    const { allocations } = expectStatus(await api.get(`/resource_providers/${provider}/allocations`), 200).body
    for (const [consumer, { resources }] of Object.entries<{ resources: Amounts }>(allocations)) {
      found.getOrInsertComputed(consumer, () => ({}))[provider] = resources
    }
  }
  return found
}

const sorted = ([consumer, has]: [string, Record<string, Amounts> | null]) => [
  consumer,
  has && Object.entries(has).sort(([a], [b]) => (a < b ? -1 : 1)),
]
