// Clients of Placement with providers and consumers of their own: every amount is known.
import type { Actor } from '../clients/actor.ts'
import { episodes, type Knowing } from './episode.ts'

interface Inventory {
  total: number
  reserved: number
  min_unit: number
  max_unit: number
  step_size: number
  allocation_ratio: number
}

interface Provider {
  uuid: string
  inventories: Record<string, Inventory>
  traits: string[]
  aggregates: string[]
}

type Claims = Record<string, Record<string, number>>

interface Consumer {
  uuid: string
  generation: number | null
  claims: Claims
}

const CLASSES = ['VCPU', 'MEMORY_MB', 'DISK_GB', 'CUSTOM_PART']
const STEPS = 14

const capacityOf = ({ total, reserved, allocation_ratio: ratio }: Inventory) => Math.floor((total - reserved) * ratio)
const fitsUnits = ({ min_unit, max_unit, step_size }: Inventory, amount: number) =>
  amount >= min_unit && amount <= max_unit && amount % step_size === 0
const isSameSet = (a: readonly string[], b: readonly string[]) => a.toSorted().join() === b.toSorted().join()

/** All that one episode has, and the requests about it. */
class Book {
  readonly #one: Knowing
  readonly #mark: string
  readonly #project: string
  readonly providers: Provider[] = []
  readonly consumers: Consumer[] = []

  constructor(one: Knowing) {
    this.#one = one
    this.#mark = `CUSTOM_OWN_${one.chance.uuid().replaceAll('-', '_').toUpperCase()}`
    this.#project = `project-${one.chance.uuid()}`
  }

  used(provider: string, name: string, but: readonly Consumer[] = []): number {
    return this.consumers
      .filter(consumer => !but.includes(consumer))
      .reduce((sum, { claims }) => sum + (claims[provider]?.[name] ?? 0), 0)
  }

  #usages({ uuid, inventories }: Provider): Record<string, number> {
    return Object.fromEntries(Object.keys(inventories).map(name => [name, this.used(uuid, name)]))
  }

  inventory(): Inventory {
    const { chance } = this.#one
    const total = 4 + chance.int(12)
    return {
      total,
      reserved: chance.pick([0, 0, 1, 2]),
      min_unit: chance.pick([1, 1, 2]),
      max_unit: chance.pick([total, total, 4]),
      step_size: chance.pick([1, 1, 2]),
      allocation_ratio: chance.pick([1, 1, 1.5, 2]),
    }
  }

  async make(): Promise<void> {
    const one = this.#one
    await one.ask('PUT', '/placement/resource_classes/CUSTOM_PART')
    await one.ask('PUT', `/placement/traits/${this.#mark}`)
    for (const name of ['CUSTOM_RED', 'CUSTOM_BLUE']) await one.ask('PUT', `/placement/traits/${name}`)
    for (let i = 0; i < 3; i++) {
      const uuid = one.chance.uuid()
      const provider = { uuid, inventories: {}, traits: [], aggregates: [] }
      await one.expect(200, 'POST', '/placement/resource_providers', { name: `own-${uuid}`, uuid })
      this.providers.push(provider)
      await this.stock(provider)
      await this.describe(provider)
    }
  }

  #url = ({ uuid }: Provider, part: string) => `/placement/resource_providers/${uuid}/${part}`

  /** New inventories, of some classes. What is claimed must stay. */
  async stock(provider: Provider): Promise<void> {
    const one = this.#one
    const { resource_provider_generation } = await one.get(this.#url(provider, 'inventories'))
    const names = CLASSES.filter((_, i) => i === 0 || one.chance.happens(0.7))
    const inventories = Object.fromEntries(names.map(name => [name, this.inventory()]))
    const isStale = one.chance.happens(0.15)
    const isLost = Object.keys(provider.inventories).some(
      name => !names.includes(name) && this.used(provider.uuid, name) > 0,
    )
    const generation = resource_provider_generation + (isStale ? 1 : 0)
    const body = { resource_provider_generation: generation, inventories }
    const status = isStale || isLost ? 409 : 200
    const shown = await one.expect(status, 'PUT', this.#url(provider, 'inventories'), body)
    if (status !== 200) return
    provider.inventories = inventories
    one.same('the new generation', shown.resource_provider_generation, generation + 1)
    one.same(`the inventories of ${provider.uuid}`, shown.inventories, inventories)
  }

  async describe(provider: Provider): Promise<void> {
    const one = this.#one
    const own = ['CUSTOM_RED', 'CUSTOM_BLUE', 'HW_CPU_X86_AVX'].filter(() => one.chance.happens(0.5))
    const traits = [...own, this.#mark]
    const { resource_provider_generation } = await one.get(this.#url(provider, 'traits'))
    const shown = await one.expect(200, 'PUT', this.#url(provider, 'traits'), { resource_provider_generation, traits })
    one.same('the traits', (shown.traits as string[]).toSorted(), traits.toSorted())
    provider.traits = traits
    if (!one.chance.happens(0.5)) return
    const { resource_provider_generation: next } = await one.get(this.#url(provider, 'aggregates'))
    const aggregates = one.chance.happens(0.7) ? [one.chance.uuid()] : []
    await one.expect(200, 'PUT', this.#url(provider, 'aggregates'), { resource_provider_generation: next, aggregates })
    provider.aggregates = aggregates
  }

  someone(): Consumer {
    const { chance } = this.#one
    if (this.consumers.length > 0 && chance.happens(0.5)) return chance.pick(this.consumers)
    return { uuid: chance.uuid(), generation: null, claims: {} }
  }

  wish(): Claims {
    const { chance } = this.#one
    const claims: Claims = {}
    for (let i = chance.happens(0.3) ? 2 : 1; i > 0; i--) {
      const names = ['VCPU', chance.pick(CLASSES)].filter((_, at) => at === 0 || chance.happens(0.6))
      claims[chance.pick(this.providers).uuid] = Object.fromEntries(
        names.map(name => [name, 1 + chance.int(chance.happens(0.2) ? 12 : 4)]),
      )
    }
    return claims
  }

  #body = (claims: Claims, generation: number | null) => ({
    allocations: Object.fromEntries(Object.entries(claims).map(([uuid, resources]) => [uuid, { resources }])),
    project_id: this.#project,
    user_id: 'own-user',
    consumer_generation: generation,
    consumer_type: 'OWN',
  })

  /** Why these claims can't be made together; empty if they can. */
  #reasons(wanted: ReadonlyMap<Consumer, Claims>): string[] {
    const reasons = new Set<string>()
    for (const { uuid, inventories } of this.providers) {
      const sums = new Map<string, number>()
      for (const claims of wanted.values()) {
        for (const [name, amount] of Object.entries(claims[uuid] ?? {})) {
          const inventory = inventories[name]
          if (!inventory) reasons.add('invalid')
          else if (!fitsUnits(inventory, amount)) reasons.add('violate inventory constraints')
          sums.set(name, (sums.get(name) ?? 0) + amount)
        }
      }
      for (const [name, sum] of sums) {
        const inventory = inventories[name]
        const used = this.used(uuid, name, [...wanted.keys()])
        if (inventory && used + sum > capacityOf(inventory)) reasons.add('exceed the capacity')
      }
    }
    return [...reasons]
  }

  async claim(): Promise<void> {
    const one = this.#one
    const wanted = new Map<Consumer, Claims>()
    for (let i = one.chance.happens(0.3) ? 1 + one.chance.int(3) : 1; i > 0; i--) {
      const consumer = this.someone()
      wanted.set(consumer, consumer.generation !== null && one.chance.happens(0.2) ? {} : this.wish())
    }
    const stale = one.chance.happens(0.12) ? one.chance.pick([...wanted.keys()]) : null
    const given = (consumer: Consumer) =>
      consumer !== stale ? consumer.generation : consumer.generation === null ? 1 : consumer.generation + 1
    const reasons = this.#reasons(wanted)
    if (stale) reasons.push('generation conflict')
    const bodies = [...wanted].map(
      ([consumer, claims]) => [consumer.uuid, this.#body(claims, given(consumer))] as const,
    )
    const [only] = bodies
    const reply =
      bodies.length === 1 && one.chance.happens(0.7)
        ? await one.ask('PUT', `/placement/allocations/${only![0]}`, only![1])
        : await one.ask('POST', '/placement/allocations', Object.fromEntries(bodies))
    const told = JSON.stringify(reply.body)
    if (reply.status === 204 && reasons.length === 0) this.#settle(wanted)
    else if (reply.status === 204) one.found(`${JSON.stringify(bodies)} is done, although ${reasons.join(', ')}`)
    else if (reply.status !== 409 || !reasons.some(reason => told.includes(reason))) {
      one.found(
        `${JSON.stringify(bodies)}: ${reply.status} ${told}, but true is only: ${reasons.join(', ') || 'it fits'}`,
      )
    }
    await this.look()
  }

  #settle(wanted: ReadonlyMap<Consumer, Claims>): void {
    for (const [consumer, claims] of wanted) {
      const isGone = Object.keys(claims).length === 0
      if (!this.consumers.includes(consumer)) this.consumers.push(consumer)
      consumer.claims = claims
      consumer.generation = isGone ? null : (consumer.generation ?? 0) + 1
    }
  }

  async release(): Promise<void> {
    const one = this.#one
    if (this.consumers.length === 0) return
    const consumer = one.chance.pick(this.consumers)
    await one.expect(consumer.generation === null ? 404 : 204, 'DELETE', `/placement/allocations/${consumer.uuid}`)
    consumer.claims = {}
    consumer.generation = null
    await this.look()
  }

  /** Everything that is shown of one provider and one consumer, and of the project. */
  async look(): Promise<void> {
    const one = this.#one
    const provider = one.chance.pick(this.providers)
    const { usages } = await one.get(this.#url(provider, 'usages'))
    one.same(`the usages of ${provider.uuid}`, usages, this.#usages(provider))
    const { inventories } = await one.get(this.#url(provider, 'inventories'))
    one.same(`the inventories of ${provider.uuid}`, inventories, provider.inventories)
    const { allocations } = await one.get(this.#url(provider, 'allocations'))
    const here = this.consumers.filter(({ claims }) => claims[provider.uuid])
    const parts = Object.entries(allocations as Record<string, { resources: object }>)
    one.same(
      `the allocations on ${provider.uuid}`,
      Object.fromEntries(parts.map(([uuid, { resources }]) => [uuid, resources])),
      Object.fromEntries(here.map(({ uuid, claims }) => [uuid, claims[provider.uuid]])),
    )
    await this.#lookAtProject()
    if (this.consumers.length === 0) return
    const { uuid, claims, generation } = one.chance.pick(this.consumers)
    const shown = await one.get(`/placement/allocations/${uuid}`)
    const amounts = Object.entries(shown.allocations as Record<string, { resources: object }>)
    const found = Object.fromEntries(amounts.map(([at, { resources }]) => [at, resources]))
    one.same(`consumer ${uuid}`, found, claims)
    if (generation === null) return
    one.same('the generation', shown.consumer_generation, generation)
    const { project_id: project, user_id: user, consumer_type: type } = shown
    one.same('whose it is', [project, user, type], [this.#project, 'own-user', 'OWN'])
  }

  async #lookAtProject(): Promise<void> {
    const having = this.consumers.filter(({ generation }) => generation !== null)
    const sums: Record<string, number> = {}
    for (const amounts of having.flatMap(({ claims }) => Object.values(claims))) {
      for (const [name, amount] of Object.entries(amounts)) sums[name] = (sums[name] ?? 0) + amount
    }
    const { usages } = await this.#one.get(`/placement/usages?project_id=${this.#project}`)
    const known = having.length === 0 ? {} : { OWN: { ...sums, consumer_count: having.length } }
    this.#one.same('the usages of the project', usages, known)
  }

  /** Those that are found must be exactly those with room. */
  async search(): Promise<void> {
    const one = this.#one
    const { chance } = one
    const wish = Object.fromEntries(
      CLASSES.filter((_, i) => i === 0 || chance.happens(0.4)).map(name => [name, 1 + chance.int(5)]),
    )
    const resources = Object.entries(wish).map(([name, amount]) => `${name}:${amount}`)
    const trait = chance.pick(['CUSTOM_RED', 'CUSTOM_BLUE', 'HW_CPU_X86_AVX'])
    const sign = chance.pick(['', '', '!', null])
    const required = sign === null ? [this.#mark] : [this.#mark, `${sign}${trait}`]
    const aggregate = chance.pick(this.providers).aggregates[0]
    const isWithin = aggregate !== undefined && chance.happens(0.5)
    const not = chance.happens(0.4) ? '!' : ''
    const words = [`resources=${resources.join()}`, `required=${required.join()}`]
    if (isWithin) words.push(`member_of=${not}${aggregate}`)
    const fits = (provider: Provider) =>
      Object.entries(wish).every(([name, amount]) => {
        const inventory = provider.inventories[name]
        if (!inventory || !fitsUnits(inventory, amount)) return false
        return this.used(provider.uuid, name) + amount <= capacityOf(inventory)
      }) &&
      (sign === null || provider.traits.includes(trait) === (sign === '')) &&
      (!isWithin || provider.aggregates.includes(aggregate) === (not === ''))
    const found = await one.get(`/placement/allocation_candidates?${words.join('&')}`)
    const requests = found.allocation_requests as { allocations: Record<string, { resources: object }> }[]
    const expected = this.providers.filter(fits)
    const places = requests.flatMap(({ allocations }) => Object.keys(allocations)).toSorted()
    one.same(`what is found by ${words.join('&')}`, places, expected.map(({ uuid }) => uuid).toSorted())
    for (const { allocations } of requests) one.same('what it takes', Object.values(allocations), [{ resources: wish }])
    for (const provider of expected) this.#lookAtSummary(provider, found.provider_summaries[provider.uuid])
  }

  #lookAtSummary(
    { uuid, traits, inventories }: Provider,
    shown?: { traits: string[]; resources: Record<string, { used: number; capacity: number }> },
  ): void {
    if (!shown) return this.#one.found(`${uuid} is found, but has no summary`)
    if (!isSameSet(shown.traits, traits)) this.#one.same(`the traits of ${uuid}`, shown.traits, traits)
    const sums = Object.entries(inventories).map(
      ([name, one]) => [name, { used: this.used(uuid, name), capacity: capacityOf(one) }] as const,
    )
    this.#one.same(`the summary of ${uuid}`, shown.resources, Object.fromEntries(sums))
  }

  async remove(): Promise<void> {
    const one = this.#one
    const provider = one.chance.pick(this.providers)
    const isUsed = this.consumers.some(({ claims }) => claims[provider.uuid])
    const url = `/placement/resource_providers/${provider.uuid}`
    if (!isUsed && this.providers.length < 2) return
    await one.expect(isUsed ? 409 : 204, 'DELETE', url)
    if (isUsed) return
    this.providers.splice(this.providers.indexOf(provider), 1)
    await one.expect(404, 'GET', url)
  }
}

export function bookkeeper({ until, pauseMs }: { until: number; pauseMs: number }): Actor {
  return episodes({ check: 'ledger', until, pauseMs }, async one => {
    const book = new Book(one)
    await book.make()
    const acts = [
      () => book.claim(),
      () => book.claim(),
      () => book.claim(),
      () => book.claim(),
      () => book.release(),
      () => book.search(),
      () => book.search(),
      () => book.stock(one.chance.pick(book.providers)),
      () => book.describe(one.chance.pick(book.providers)),
      () => book.remove(),
    ]
    for (let i = 0; i < STEPS && one.now() < until; i++) {
      await one.chance.pick(acts)()
      await one.sleep(one.chance.int(pauseMs / 8))
    }
  })
}
