// Both Placements of a move, and what of them is not compared or copied, because a Holdfast keeps it by itself.
import { ifThere } from '../../client/asking.ts'
import { atOnce } from '../../shared/at-once.ts'
import {
  type Difference,
  consumerDifferences,
  isSameAmounts,
  isCustom,
  type Thing,
  absent,
  providerDifferences,
} from './differences.ts'
import { type ConsumerState, type Placement, placementAt, type ProviderRow } from './placement.ts'
import type { Side } from './sides.ts'

/** Requests at a time: more would only queue in a Placement, which other services use meanwhile. */
export const WIDTH = 8
/** Of so many providers the consumers are looked for together, and held in memory. */
const PROVIDERS_AT_ONCE = 64

/** Providers that a Holdfast makes and changes by itself. */
interface Own {
  nodes: ReadonlySet<string>
  /** The classes and traits of the nodes. */
  words: ReadonlySet<string>
  /** Names of the children of its hosts for leases. */
  shares: ReadonlySet<string>
}

const NOTHING: Own = { nodes: new Set(), words: new Set(), shares: new Set() }

export interface Rows {
  from: ReadonlyMap<string, ProviderRow>
  to: ReadonlyMap<string, ProviderRow>
}

/** Which sides have a consumer, as far as is known. */
interface Seen {
  from: boolean
  to: boolean
}

export class Pair {
  readonly from: Placement
  readonly to: Placement
  readonly #own: { from: Own; to: Own }
  #toShares: ReadonlySet<string> = new Set()

  constructor(from: Placement, to: Placement, own: { from: Own; to: Own }) {
    this.from = from
    this.to = to
    this.#own = own
  }

  /** Both sides know the types of consumers. */
  get hasTypes(): boolean {
    return this.from.hasTypes && this.to.hasTypes
  }

  /** The names that are missing at the target. Standard ones are each side's own. */
  async missing(kind: 'class' | 'trait'): Promise<string[]> {
    const list = (side: Placement) => (kind === 'class' ? side.classes() : side.traits())
    const [from, to] = [await list(this.from), new Set(await list(this.to))]
    return from.filter(name => isCustom(name) && !to.has(name))
  }

  /** The same, without those that the nodes of the source have brought: its nodes stay there. */
  async missed(kind: 'class' | 'trait'): Promise<string[]> {
    return (await this.missing(kind)).filter(name => !this.#own.from.words.has(name))
  }

  /** The providers of both sides by uuid, without what is left out, and how many that was. */
  async providers(): Promise<Rows & { leftOut: number }> {
    const [from, to] = [await this.from.providers(), await this.to.providers()]
    this.#toShares = new Set(to.filter(({ name }) => this.#own.to.shares.has(name)).map(({ uuid }) => uuid))
    const kept = (rows: readonly ProviderRow[]) => rows.filter(row => !this.#isLeftOut(row))
    const [keptFrom, keptTo] = [kept(from), kept(to)]
    const all = new Set([...from, ...to].map(({ uuid }) => uuid))
    const remaining = new Set([...keptFrom, ...keptTo].map(({ uuid }) => uuid))
    return { from: byUuid(keptFrom), to: byUuid(keptTo), leftOut: all.size - remaining.size }
  }

  #isLeftOut({ uuid, name }: ProviderRow): boolean {
    const { from, to } = this.#own
    return from.nodes.has(uuid) || to.nodes.has(uuid) || to.shares.has(name)
  }

  /** Whether a Holdfast alone decides on this consumer: it has something only of what is the Holdfast's own. */
  isLeftOut(from: ConsumerState | null, to: ConsumerState | null): boolean {
    const only = (state: ConsumerState, isOwn: (provider: string) => boolean) =>
      Object.keys(state.resources).every(isOwn)
    if (from) return only(from, uuid => this.#own.from.nodes.has(uuid))
    return to !== null && only(to, uuid => this.#own.to.nodes.has(uuid) || this.#toShares.has(uuid))
  }

  /**
   * Calls `act` once for each consumer of either side. If quick, only for those whose amounts differ on some provider:
   * that is seen in one request for each provider. Only uuids are kept. Returns how many were passed over.
   */
  async eachConsumer(
    { from, to }: Rows,
    quick: boolean,
    act: (uuid: string, seen: Seen) => Promise<void>,
  ): Promise<number> {
    const known = new Set<string>()
    const same = new Set<string>()
    const providers = [...new Set([...from.keys(), ...to.keys()])]
    for (let at = 0; at < providers.length; at += PROVIDERS_AT_ONCE) {
      const found = new Map<string, Seen>()
      const look = async (provider: string) => {
        const here = from.has(provider) ? await this.from.consumersOf(provider) : {}
        const there = to.has(provider) ? await this.to.consumersOf(provider) : {}
        for (const uuid of new Set([...Object.keys(here), ...Object.keys(there)])) {
          if (quick && isSameAmounts(here[uuid], there[uuid])) same.add(uuid)
          else {
            const seen = seenOf(found, uuid)
            seen.from ||= uuid in here
            seen.to ||= uuid in there
          }
        }
      }
      await atOnce(providers.slice(at, at + PROVIDERS_AT_ONCE), look, { width: WIDTH })
      const fresh = [...found].filter(([uuid]) => !known.has(uuid))
      for (const [uuid] of fresh) known.add(uuid)
      await atOnce(fresh, ([uuid, seen]) => act(uuid, seen), { width: WIDTH })
    }
    return same.difference(known).size
  }

  /** Reads a thing on both sides, and says what differs. */
  async differences({ kind, id }: Thing): Promise<Difference[]> {
    if (kind === 'class' || kind === 'trait') {
      return (await this.missed(kind)).includes(id) ? [absent({ kind, id })] : []
    }
    if (kind === 'provider') {
      const [from, to] = await Promise.all([inFull(this.from, id), inFull(this.to, id)])
      return providerDifferences(from, to)
    }
    const [from, to] = await Promise.all([this.from.consumer(id), this.to.consumer(id)])
    return this.isLeftOut(from, to) ? [] : consumerDifferences(id, from, to, this.hasTypes)
  }
}

const byUuid = (rows: readonly ProviderRow[]) => new Map(rows.map(row => [row.uuid, row]))

const seenOf = (found: Map<string, Seen>, uuid: string): Seen =>
  found.getOrInsertComputed(uuid, () => ({ from: false, to: false }))

export async function inFull(placement: Placement, uuid: string) {
  const row = await placement.row(uuid)
  return row && placement.inFull(row)
}

export async function pairOf(sides: { from: Side; to: Side }): Promise<Pair> {
  const [from, to] = [await placementAt(sides.from), await placementAt(sides.to)]
  return new Pair(from, to, { from: await ownOf(sides.from), to: await ownOf(sides.to) })
}

interface OwnNode {
  uuid: string
  resource_class: string | null
  traits: string[]
}

async function ownOf({ holdfast }: Side): Promise<Own> {
  if (holdfast === null) return NOTHING
  const fields = { fields: 'uuid,resource_class,traits' }
  const nodes = (await ifThere(holdfast.at('/baremetal/v1').all<OwnNode>('/nodes', 'nodes', fields))) ?? []
  const answer = await ifThere(
    holdfast.at('/reservation/v1').get<{ hosts: { hypervisor_hostname: string }[] }>('/os-hosts'),
  )
  return {
    nodes: new Set(nodes.map(({ uuid }) => uuid)),
    words: new Set(nodes.flatMap(({ resource_class, traits }) => [classOf(resource_class ?? ''), ...traits])),
    shares: new Set((answer?.hosts ?? []).map(host => `blazar_${host.hypervisor_hostname}`)),
  }
}

/** The class in Placement of a node's resource class. */
const classOf = (name: string) => `CUSTOM_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`
