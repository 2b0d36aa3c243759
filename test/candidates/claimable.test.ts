// What was answered as a candidate can be claimed, unless something changed in between; and then the refusal says so.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { chance, clients, inParallel } from '../races/clients.ts'
import { expectStatus, isFull, type Placement } from '../support/placement.ts'
import { eachRace, eachStore } from '../support/stores.ts'
import { candidates, claimsOf, newClass, setAggregates, setTraits } from './questions.ts'

const HOSTS = 8

interface World {
  /** Classes of the roots, of their children, and of the pools that they share. */
  disk: string
  cpu: string
  shared: string
  providers: string[]
  /** Changes one provider at random and answers which. */
  change: () => Promise<string>
}

eachStore('candidates', api => {
  test('can all be claimed while nothing changes', async () => {
    const world = await newWorld(api, 1)
    const { disk, cpu, shared } = world
    const questions = [
      `resources=${disk}:3,${cpu}:2`,
      `resources=${disk}:1,${cpu}:1,${shared}:3`,
      `resources1=${cpu}:2&resources2=${cpu}:1&group_policy=none`,
      `resources=${shared}:2&resources1=${cpu}:1&resources2=${cpu}:2&group_policy=isolate`,
      `resources=${disk}:2&resources_A=${cpu}:3&resources_B=${cpu}:3&group_policy=none`,
    ]
    let claimed = 0
    for (let round = 0; round < 6; round++) {
      await inParallel(8, 24, world.change)
      const { requests } = await candidates(api, `${questions[round % questions.length]}&limit=40`)
      for (const request of requests) {
        const consumer = randomUUID()
        expectStatus(await api.claim(consumer, claimsOf(request)), 204)
        expectStatus(await api.del(`/allocations/${consumer}`), 204)
        claimed++
      }
    }
    assert.ok(claimed > 20, `only ${claimed} candidates to try`)
    await api.fsck()
  })

  test('that are refused while others write had a provider changed', async () => {
    const world = await newWorld(api, 2)
    const writes: { provider: string; from: number; to: number }[] = []
    let claims = 0
    const state = { asking: true }
    const write = async () => {
      // Bounded even if those who ask never come to an end.
      for (let count = 0; state.asking && count < 2_000; count++) {
        const from = performance.now()
        const provider = await world.change()
        writes.push({ provider, from, to: performance.now() })
      }
    }
    const refused: { providers: string[]; from: number; to: number; why: string }[] = []
    const ask = async () => {
      await inParallel(3, 150, async () => {
        const from = performance.now()
        const { requests } = await candidates(
          api,
          `resources=${world.disk}:2,${world.cpu}:1,${world.shared}:2&limit=10`,
        )
        const request = requests[claims++ % Math.max(1, requests.length)]
        if (!request) return
        const consumer = randomUUID()
        const answer = await api.claim(consumer, claimsOf(request))
        const to = performance.now()
        const providers = Object.keys(request.allocations)
        if (expectStatus(answer, 204, 409).status === 409) {
          refused.push({ providers, from, to, why: JSON.stringify(answer.body) })
          return
        }
        expectStatus(await api.del(`/allocations/${consumer}`), 204)
        for (const provider of providers) writes.push({ provider, from, to: performance.now() })
      })
      state.asking = false
    }
    await Promise.all([write(), write(), ask()])
    for (const { providers, from, to, why } of refused) {
      const changed = writes.some(write => providers.includes(write.provider) && write.from <= to && write.to >= from)
      assert.ok(changed, `refused though nothing changed: ${why}`)
    }
    assert.ok(claims - refused.length > 20, `${refused.length} of ${claims} refused`)
    await api.fsck()
  })
})

eachRace('claims from candidates in a race', api => {
  test('many who ask and claim at once sell every unit exactly once', async () => {
    const name = await newClass(api)
    const hosts = await Promise.all(Array.from({ length: 10 }, () => api.provider({ [name]: 6 })))
    const granted = await clients(16, async () => {
      let units = 0
      // Two processes may each be behind the other for a moment; nobody may be refused for ever.
      for (let tries = 0; tries < 200; tries++) {
        const { requests } = await candidates(api, `resources=${name}:1&limit=3`)
        const request = requests[tries % Math.max(1, requests.length)]
        if (!request) break
        const answer = await api.claim(randomUUID(), claimsOf(request))
        if (answer.status === 204) units++
        else assert.ok(isFull(answer), JSON.stringify(answer.body))
      }
      return units
    })
    assert.equal(
      granted.reduce((sum, units) => sum + units),
      60,
    )
    for (const host of hosts) assert.deepEqual(await api.usages(host), { [name]: 6 })
    await api.fsck()
  })
})

/** Hosts with disk, each with two children with processors, and two pools that some of the hosts share. */
async function newWorld(api: Placement, seed: number): Promise<World> {
  const [disk, cpu, shared] = [await newClass(api), await newClass(api), await newClass(api)]
  const below = chance(seed)
  const aggregates = [randomUUID(), randomUUID()]
  const providers: string[] = []
  const classOf = new Map<string, string>()
  const add = async (name: string, parent?: string) => {
    const provider = await api.provider({ [name]: 4 + below(8) }, parent === undefined ? {} : { parent })
    providers.push(provider)
    classOf.set(provider, name)
    return provider
  }
  for (const aggregate of aggregates) {
    const pool = await add(shared)
    await setTraits(api, pool, 'MISC_SHARES_VIA_AGGREGATE')
    await setAggregates(api, pool, aggregate)
  }
  for (let host = 0; host < HOSTS; host++) {
    const root = await add(disk)
    await setAggregates(api, root, aggregates[host % 2]!)
    for (let child = 0; child < 2; child++) await add(cpu, root)
  }
  const held: { consumer: string; provider: string }[] = []
  const change = async () => {
    const provider = providers[below(providers.length)]!
    const name = classOf.get(provider)!
    const what = below(4)
    if (what === 0) {
      // 409: another change of the same provider came first.
      expectStatus(
        await api.setInventories(provider, { [name]: { total: 4 + below(8), max_unit: 2 + below(6) } }),
        200,
        409,
      )
      return provider
    }
    if (what === 1 && held.length > 0) {
      const release = held.splice(below(held.length), 1)[0]!
      expectStatus(await api.del(`/allocations/${release.consumer}`), 204)
      return release.provider
    }
    const consumer = randomUUID()
    const answer = await api.claim(consumer, { [provider]: { [name]: 1 + below(3) } })
    if (expectStatus(answer, 204, 409).status === 204) held.push({ consumer, provider })
    return provider
  }
  return { disk, cpu, shared, providers, change }
}
