// A storm of every kind of write over a small world, for tests that look at what is left when it is over.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { chance, inParallel } from '../races/clients.ts'
import type { Answer } from '../support/client.ts'
import { consumerBody, Placement } from '../support/placement.ts'
import { candidates, move, newClass, newTrait, normalised, setAggregates, setTraits } from './questions.ts'

export class Storm {
  readonly #api: Placement
  readonly #below: (below: number) => number
  readonly #roots: string[] = []
  readonly #children: string[] = []
  readonly #passing: string[] = []
  readonly #consumers: string[] = []
  readonly #aggregates = [randomUUID(), randomUUID()]
  #classes: string[] = []
  #trait = ''

  constructor(api: Placement, seed: number) {
    this.#api = api
    this.#below = chance(seed)
  }

  /** Roots with two children each, and a pool that they share. */
  async prepare(): Promise<void> {
    const api = this.#api
    this.#classes = [await newClass(api), await newClass(api), await newClass(api)]
    this.#trait = await newTrait(api)
    const [disk, cpu, shared] = this.#classes
    const pool = await api.provider({ [shared!]: 500 })
    await setTraits(api, pool, 'MISC_SHARES_VIA_AGGREGATE')
    await setAggregates(api, pool, this.#aggregates[0]!)
    await inParallel(4, 6, async () => {
      const root = await api.provider({ [disk!]: 50 })
      this.#roots.push(root)
      for (let child = 0; child < 2; child++) this.#children.push(await api.provider({ [cpu!]: 20 }, { parent: root }))
    })
  }

  /** Writes at random; whatever it is answered must be one of the ways in which this may end. */
  async blow(writes: number, mayEnd: (answer: Answer) => boolean = ({ status }) => status < 500): Promise<void> {
    await inParallel(12, writes, async () => {
      const answer = await this.#write()
      assert.ok(mayEnd(answer), `${answer.status}: ${JSON.stringify(answer.body)?.slice(0, 500)}`)
    })
  }

  /** Every question about this world, put to one process, as one text to compare. */
  async view(origin: string): Promise<string> {
    const api = new Placement(origin)
    try {
      const answers = await Promise.all(this.#questions().map(query => candidates(api, query)))
      return answers.map(normalised).join('\n')
    } finally {
      api.close()
    }
  }

  #questions(): string[] {
    const [disk, cpu, shared] = this.#classes
    return [
      `resources=${disk}:1`,
      `resources=${cpu}:1`,
      `resources=${disk}:1,${cpu}:1,${shared}:1`,
      `resources=${cpu}:1&required=${this.#trait}`,
      `resources=${disk}:1&member_of=${this.#aggregates[1]}`,
      `resources1=${cpu}:2&resources2=${cpu}:3&group_policy=isolate&same_subtree=1,2&limit=1000`,
    ]
  }

  #write(): Promise<Answer> {
    const api = this.#api
    const below = this.#below
    const any = (list: readonly string[]) => list[below(list.length)]!
    const [disk, cpu, shared] = this.#classes
    const someone = () => (below(2) === 0 ? any(this.#roots) : any(this.#children))
    switch (below(9)) {
      case 0:
      case 1:
      case 2: {
        const consumer = randomUUID()
        this.#consumers.push(consumer)
        return api.claim(consumer, {
          [any(this.#children)]: { [cpu!]: 1 },
          [any(this.#roots)]: { [disk!]: 1 + below(2) },
        })
      }
      case 3: {
        const [gone] = this.#consumers.splice(below(this.#consumers.length), 1)
        return api.del(`/allocations/${gone ?? randomUUID()}`)
      }
      case 4:
        return this.#versioned(any(this.#children), 'inventories', {
          inventories: { [cpu!]: { total: 10 + below(30) } },
        })
      case 5:
        return this.#versioned(someone(), 'traits', { traits: below(2) === 0 ? [] : [this.#trait] })
      case 6:
        return this.#versioned(someone(), 'aggregates', { aggregates: this.#aggregates.slice(below(3)) })
      case 7:
        return move(api, any(this.#children), below(4) === 0 ? null : any(this.#roots))
      default:
        return this.#comeOrGo({ [shared!]: { total: 5 } })
    }
  }

  async #versioned(provider: string, what: string, body: object): Promise<Answer> {
    const path = `/resource_providers/${provider}`
    const { generation } = (await this.#api.get(path)).body ?? {}
    return this.#api.put(`${path}/${what}`, { ...body, resource_provider_generation: generation ?? 0 })
  }

  /** Providers that are made, used by a POST of two, and deleted. */
  async #comeOrGo(inventories: Record<string, { total: number }>): Promise<Answer> {
    const api = this.#api
    if (this.#passing.length > 3) return api.del(`/resource_providers/${this.#passing.shift()!}`)
    const uuid = randomUUID()
    const parent = this.#children[this.#below(this.#children.length)]!
    const made = await api.post('/resource_providers', { name: uuid, uuid, parent_provider_uuid: parent })
    if (made.status !== 200) return made
    this.#passing.push(uuid)
    await api.put(`/resource_providers/${uuid}/inventories`, { inventories, resource_provider_generation: 0 })
    const claims = { [uuid]: Object.fromEntries(Object.keys(inventories).map(name => [name, 1])) }
    const [one, two] = [randomUUID(), randomUUID()]
    if (this.#below(2) === 0) this.#consumers.push(one, two)
    return api.post('/allocations', { [one]: consumerBody(claims), [two]: consumerBody(claims) })
  }
}
