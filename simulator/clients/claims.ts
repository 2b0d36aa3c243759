// Clients of Placement: claim, change, release, one or many at once, and try what must be refused.
import { GONE, type Known, type Model } from '../model.ts'
import type { Chance } from '../port.ts'
import { type Actor, Client } from './actor.ts'

type Claims = Record<string, Record<string, number>>

/** A consumer as its client knows it. */
interface Consumer {
  uuid: string
  known: Known
  generation: number | null
}

/** The claims in one form, so that texts can be compared. */
export const claimsText = (claims: Claims): string => {
  const providers = Object.keys(claims).sort()
  if (providers.length === 0) return GONE
  return providers
    .map(
      uuid =>
        `${uuid}:${Object.entries(claims[uuid]!)
          .map(([name, amount]) => `${name}=${amount}`)
          .sort()
          .join()}`,
    )
    .join(' ')
}

const bodyOf = (claims: Claims, generation: number | null) => ({
  allocations: Object.fromEntries(Object.entries(claims).map(([uuid, resources]) => [uuid, { resources }])),
  project_id: 'a-project',
  user_id: 'a-user',
  consumer_generation: generation,
  consumer_type: 'INSTANCE',
})

export async function claimsOf(client: Client, uuid: string): Promise<string | null> {
  const { status, body } = await client.get(`/placement/allocations/${uuid}`)
  if (status !== 200) return null
  const found = Object.entries(body.allocations as Record<string, { resources: Record<string, number> }>)
  return claimsText(Object.fromEntries(found.map(([provider, { resources }]) => [provider, resources])))
}

interface Options {
  model: Model
  /** The providers that it claims on, each with VCPU and MEMORY_MB; others at other times. */
  providers: readonly string[] | ((now: number) => readonly string[])
  until: number
  pauseMs: number
  /** How often it claims on two providers. */
  spread?: number
}

export function claimer({ model, providers, until, pauseMs, spread = 0.3 }: Options): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    const some = (spread?: number) =>
      someClaims(chance, typeof providers === 'function' ? providers(service.now()) : providers, spread)
    const consumers: Consumer[] = []
    const sure = () => consumers.filter(({ known }) => known.isSure)
    const having = () => sure().filter(({ known }) => known.now !== GONE)
    const fresh = () => {
      const uuid = chance.uuid()
      const consumer = { uuid, known: model.keep(`consumer ${uuid}`, one => claimsOf(one, uuid)), generation: null }
      consumers.push(consumer)
      return consumer
    }
    const someone = () => (chance.happens(0.6) || sure().length === 0 ? fresh() : chance.pick(sure()))
    const settled = (consumer: Consumer, to: string) => {
      if (!consumer.known.isSure || consumer.known.now !== to) return
      consumer.generation = to === GONE ? null : (consumer.generation ?? 0) + 1
    }
    const acts = {
      claim: async () => {
        const consumer = someone()
        const claims = some(spread)
        const to = claimsText(claims)
        const body = bodyOf(claims, consumer.generation)
        const ask = () => client.put(`/placement/allocations/${consumer.uuid}`, body)
        const { outcome } = await model.write(consumer.known, to, ask)
        if (outcome === 'done') settled(consumer, to)
      },
      release: async () => {
        const consumer = having().length === 0 ? null : chance.pick(having())
        if (!consumer) return
        const ask = () => client.del(`/placement/allocations/${consumer.uuid}`)
        const { outcome, status } = await model.write(consumer.known, GONE, ask)
        if (outcome === 'done') settled(consumer, GONE)
        if (status === 404)
          client.found('model', `consumer ${consumer.uuid} has ${consumer.known.now}, but can't be released`)
      },
      many: async () => {
        const chosen = new Set(Array.from({ length: 2 + chance.int(4) }, someone))
        const wanted = Array.from(chosen, consumer => {
          const isReleased = consumer.known.now !== GONE && chance.happens(0.4)
          return { consumer, claims: isReleased ? {} : some() }
        })
        const body = Object.fromEntries(
          wanted.map(({ consumer, claims }) => [consumer.uuid, bodyOf(claims, consumer.generation)]),
        )
        const writes = wanted.map(({ consumer, claims }) => [consumer.known, claimsText(claims)] as const)
        const { outcome } = await model.writeAll(writes, () => client.post('/placement/allocations', body))
        if (outcome === 'done') for (const { consumer, claims } of wanted) settled(consumer, claimsText(claims))
      },
      /** By someone who has not seen the newest claims. */
      stale: async () => {
        const consumer = having().length === 0 ? null : chance.pick(having())
        if (!consumer) return
        const claims = some()
        const body = bodyOf(claims, chance.happens(0.5) ? null : consumer.generation! + 1)
        const ask = () => client.put(`/placement/allocations/${consumer.uuid}`, body)
        const { outcome } = await model.write(consumer.known, consumer.known.now, ask)
        if (outcome === 'done')
          client.found('model', `consumer ${consumer.uuid} was overwritten with a stale generation`)
      },
      look: async () => {
        if (sure().length > 0) await model.look(chance.pick(sure()).known, client)
      },
      search: async () => {
        const limit = 1 + chance.int(3)
        await client.get(`/placement/allocation_candidates?resources=VCPU:${1 + chance.int(3)}&limit=${limit}`)
      },
    }
    const weighted = [
      acts.claim,
      acts.claim,
      acts.claim,
      acts.release,
      acts.release,
      acts.many,
      acts.many,
      acts.stale,
      acts.look,
      acts.search,
    ]
    while (service.now() < until) {
      await chance.pick(weighted)()
      await service.sleep(chance.int(pauseMs))
    }
  }
}

interface Rivalry extends Omit<Options, 'model' | 'providers'> {
  providers: readonly string[]
  /** All rivals write the same ones. */
  consumers: readonly string[]
}

/** Several write the same consumers at once. Who wins is open, so only the ledger itself is checked. */
export function rival({ providers, consumers, until, pauseMs }: Rivalry): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    const generation = async (uuid: string) => {
      const { body } = await client.get(`/placement/allocations/${uuid}`)
      return (body?.consumer_generation as number | undefined) ?? null
    }
    while (service.now() < until) {
      const uuid = chance.pick(consumers)
      const url = `/placement/allocations/${uuid}`
      if (chance.happens(0.4)) await client.del(url)
      else {
        const seen = chance.happens(0.4) ? null : await generation(uuid)
        await client.put(url, bodyOf(someClaims(chance, providers, 0.6), seen))
      }
      await service.sleep(chance.int(pauseMs))
    }
  }
}

/** Sometimes more than there is. */
function someClaims(chance: Chance, providers: readonly string[], spread = 0.3): Claims {
  const count = chance.happens(spread) ? 2 : 1
  const claims: Claims = {}
  for (let i = 0; i < count; i++) {
    const amounts: Record<string, number> = { VCPU: 1 + chance.int(chance.happens(0.1) ? 20 : 3) }
    if (chance.happens(0.5)) amounts['MEMORY_MB'] = 64 * (1 + chance.int(4))
    claims[chance.pick(providers)] = amounts
  }
  return claims
}
