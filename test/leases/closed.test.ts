// The class of a lease that has ended is closed: nothing new is claimed of it, in any way. What is there may be moved
// between consumers, kept, made less and released, as Nova does when it confirms or reverts a move.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { candidates } from '../candidates/questions.ts'
import { clients } from '../races/clients.ts'
import { type Amounts, consumerBody, expectStatus } from '../support/placement.ts'
import { eachDatabase } from '../support/stores.ts'
import { type Closed, closed, served } from './ended.ts'

const CROWD = 12
const ROUNDS = 6

eachDatabase('a closed class', databases =>
  served(databases, api => {
    const { placement } = api
    const generation = async (consumer: string): Promise<number | null> =>
      expectStatus(await placement.get(`/allocations/${consumer}`), 200).body.consumer_generation ?? null
    const none = async (consumer: string) => consumerBody({}, await generation(consumer))
    const post = (claims: object) => placement.post('/allocations', claims)
    /** Moves these claims while some other provider gets new inventories. */
    const reshape = async (consumer: string, claims: Record<string, Amounts>, expected: number | null) => {
      const plain = await placement.provider({ VCPU: 1 })
      const inventories = {
        [plain]: {
          resource_provider_generation: await placement.generation(plain),
          inventories: { VCPU: { total: 2 } },
        },
      }
      const allocations = { [consumer]: consumerBody(claims, expected) }
      return placement.post('/reshaper', { inventories, allocations })
    }
    const isOver = async ({ lease, server }: Closed) => {
      await placement.del(`/allocations/${server}`)
      await api.advance(2)
      await api.until(lease, 'TERMINATED')
    }

    void test('takes nothing new, whichever way it is asked for', async () => {
      const all = await closed(api)
      const { server, root, child, resourceClass, has } = all
      const other = randomUUID()
      expectStatus(await placement.claim(other, has), 409)
      expectStatus(await placement.claim(other, { [child]: { [resourceClass]: 1 } }), 409)
      expectStatus(await post({ [other]: consumerBody(has) }), 409)
      const kept = consumerBody(has, await generation(server))
      expectStatus(await post({ [server]: kept, [other]: consumerBody(has) }), 409)
      const twice = { [server]: await none(server), [other]: consumerBody(has), [randomUUID()]: consumerBody(has) }
      expectStatus(await post(twice), 409)
      expectStatus(await reshape(other, has, null), 409)
      const { requests } = await candidates(placement, `resources=VCPU:1,${resourceClass}:1`)
      assert.deepEqual(requests, [])
      assert.deepEqual(await placement.claims(server), has)
      assert.equal((await placement.usages(root))['VCPU'], 1)
      await isOver(all)
    })

    void test('lets a claim go to a migration and back, be kept beside other changes, and be given up', async () => {
      const all = await closed(api)
      const { server, root, has } = all
      const migration = randomUUID()
      expectStatus(await post({ [server]: await none(server), [migration]: consumerBody(has) }), 204)
      assert.deepEqual(await placement.claims(migration), has)
      expectStatus(await post({ [migration]: await none(migration), [server]: consumerBody(has) }), 204)
      assert.deepEqual(await placement.claims(server), has)
      assert.deepEqual(await placement.claims(migration), {})
      const grown = { ...has, [root]: { VCPU: 2 } }
      expectStatus(await placement.claim(server, grown, await generation(server)), 204)
      expectStatus(await placement.claim(server, has, await generation(server)), 204)
      expectStatus(await reshape(server, has, await generation(server)), 204)
      const elsewhere = await placement.provider({ VCPU: 4 })
      expectStatus(await placement.claim(server, { [elsewhere]: { VCPU: 1 } }, await generation(server)), 204)
      // The release has ended the lease, or is about to.
      expectStatus(await placement.claim(server, has, await generation(server)), 409, 400)
      await isOver(all)
    })

    void test('stays closed while a crowd swaps, claims and releases at once', async () => {
      const all = await closed(api)
      const { server, child, resourceClass, has } = all
      let holder = server
      for (let round = 0; round < ROUNDS; round++) {
        const generations = await generation(holder)
        const heirs = Array.from({ length: CROWD }, () => randomUUID())
        const answers = await clients(CROWD, async index => {
          const heir = heirs[index]!
          // Every third one only takes; the others take what the holder gives.
          if (index % 3 === 0) return { heir: null, answer: await placement.claim(heir, has) }
          const swap = { [holder]: consumerBody({}, generations), [heir]: consumerBody(has) }
          return { heir, answer: await post(swap) }
        })
        for (const { answer } of answers) expectStatus(answer, 204, 409)
        const granted = answers.filter(({ answer }) => answer.status === 204)
        assert.equal(granted.length, 1, `round ${round}`)
        assert.ok(granted[0]!.heir !== null, 'nobody takes without someone who gives')
        holder = granted[0]!.heir!
        assert.deepEqual(await placement.usages(child), { [resourceClass]: 1 })
      }
      await isOver({ ...all, server: holder })
    })
  }),
)
