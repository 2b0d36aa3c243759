// Copies one Placement into another. Each thing is read on both sides, and only the difference is written. So a second
// run goes on where the first one stopped.
import { ApiError, type Inventory } from '../../client/index.ts'
import { atOnce } from '../../shared/at-once.ts'
import { consumerDifferences, levelsOf, partsToWrite, type Thing } from './differences.ts'
import { inFull, type Pair, type Rows, WIDTH } from './pair.ts'
import type { ProviderRow } from './placement.ts'

type Done = 'same' | 'created' | 'changed' | 'removed'

export interface Copied {
  counts: Record<Thing['kind'], Record<Done, number>>
  /** What the target refused, with its words. */
  refused: Map<string, Thing & { reason: string }>
  /** What only the target has, and keeps. */
  extra: Thing[]
  leftOut: number
}

interface CopyOptions {
  /** Also removes what only the target has. */
  deletes: boolean
  /** Takes consumers with the same amounts on both sides for the same. */
  quick: boolean
  show: (words: string, count: number) => void
}

const noCounts = (): Record<Done, number> => ({ same: 0, created: 0, changed: 0, removed: 0 })

/** What Placement says of an amount that an inventory doesn't allow, whoever had it before. */
const TOO_NARROW = /exceed the capacity|violate inventory constraints/

const MOST = 2_147_483_647
const WIDE: Inventory = { total: MOST, reserved: 0, min_unit: 1, max_unit: MOST, step_size: 1, allocation_ratio: 1 }

/** After these every other request would fail too. */
const isFinal = (error: unknown) => !(error instanceof ApiError) || [401, 403, 502, 503, 504].includes(error.status)

export class Copy {
  readonly #pair: Pair
  readonly #options: CopyOptions
  readonly outcome: Copied = {
    counts: { class: noCounts(), trait: noCounts(), provider: noCounts(), consumer: noCounts() },
    refused: new Map(),
    extra: [],
    leftOut: 0,
  }

  constructor(pair: Pair, options: CopyOptions) {
    this.#pair = pair
    this.#options = options
  }

  async run(): Promise<void> {
    for (const kind of ['class', 'trait'] as const) {
      for (const id of await this.#pair.missing(kind)) await this.#attempt({ kind, id })
    }
    const { leftOut, ...rows } = await this.#pair.providers()
    this.outcome.leftOut = leftOut
    await this.#providers(rows)
    await this.#consumers(rows)
    await this.#rounds()
    await this.#widened()
    await this.#extraProviders(rows)
  }

  async #providers({ from, to }: Rows): Promise<void> {
    // Level by level, so that parents are there before their children.
    for (const level of levelsOf([...from.values()])) {
      const copy = (row: ProviderRow) =>
        this.#attempt({ kind: 'provider', id: row.uuid }, () => this.#provider(row, to.get(row.uuid) ?? null))
      await atOnce(level, copy, { width: WIDTH })
    }
  }

  async #provider(row: ProviderRow, present: ProviderRow | null): Promise<Done> {
    const { from: source, to: target } = this.#pair
    const from = await source.inFull(row)
    // It has gone since it was listed.
    if (!from) return 'same'
    const to = present && (await target.inFull(present))
    if (!to) await target.addProvider(from)
    else if (to.name !== from.name || to.parent !== from.parent) await target.changeProvider(from)
    const parts = partsToWrite(from, to)
    if (parts.length === 0)
      return !to ? 'created' : to.name === from.name && to.parent === from.parent ? 'same' : 'changed'
    let generation = (await target.row(row.uuid))?.generation ?? 0
    for (const part of parts) generation = await target.setPart(row.uuid, part, from[part], generation)
    return to ? 'changed' : 'created'
  }

  async #consumers(rows: Rows): Promise<void> {
    const { quick } = this.#options
    // A consumer may be there by another provider, which a quick look has passed over.
    const copy = (id: string, seen: { to: boolean }) =>
      this.#attempt({ kind: 'consumer', id }, () => this.#consumer(id, quick || seen.to))
    const passed = await this.#pair.eachConsumer(rows, quick, copy)
    this.outcome.counts.consumer.same += passed
  }

  async #consumer(id: string, mayBeThere = true): Promise<Done> {
    const { from: source, to: target, hasTypes } = this.#pair
    const from = await source.consumer(id)
    const to = mayBeThere ? await target.consumer(id) : null
    if (this.#pair.isLeftOut(from, to) || consumerDifferences(id, from, to, hasTypes).length === 0) return 'same'
    if (from) {
      await target.setConsumer(id, from, to?.generation ?? null)
      return to ? 'changed' : 'created'
    }
    return this.#remove({ kind: 'consumer', id }, () => target.removeConsumer(id))
  }

  async #remove(thing: Thing, remove: () => Promise<void>): Promise<Done> {
    if (this.#options.deletes) {
      await remove()
      return 'removed'
    }
    this.outcome.extra.push(thing)
    return 'same'
  }

  /** The deepest first: a parent with children can't go. */
  async #extraProviders({ from, to }: Rows): Promise<void> {
    const extra = [...to.values()].filter(({ uuid }) => !from.has(uuid))
    for (const level of levelsOf(extra).toReversed()) {
      for (const { uuid } of level) {
        const thing = { kind: 'provider', id: uuid } as const
        await this.#attempt(thing, () => this.#remove(thing, () => this.#pair.to.removeProvider(uuid)))
      }
    }
  }

  /** Tries again what was refused, as long as that helps: two servers may have changed places, or a writer was faster. */
  async #rounds(): Promise<void> {
    const { refused } = this.outcome
    for (let before = Infinity; refused.size > 0 && refused.size < before;) {
      before = refused.size
      await atOnce([...refused.values()], ({ kind, id }) => this.#attempt({ kind, id }), { width: WIDTH })
    }
  }

  /**
   * Consumers that their own inventory wouldn't let in today: an operator has lowered it below its use. Their providers
   * are opened wide for a moment. If this run dies before they are as they were, the next one finds them different.
   */
  async #widened(): Promise<void> {
    const { from: source, to: target } = this.#pair
    const stuck = [...this.outcome.refused.values()].filter(({ reason }) => TOO_NARROW.test(reason))
    const opened = new Set<string>()
    for (const { id } of stuck) {
      for (const [provider, amounts] of Object.entries((await source.consumer(id))?.resources ?? {})) {
        if (await this.#open(provider, Object.keys(amounts))) opened.add(provider)
      }
    }
    if (opened.size === 0) return
    await this.#rounds()
    for (const id of opened) {
      const [row, present] = [await source.row(id), await target.row(id)]
      if (row) await this.#attempt({ kind: 'provider', id }, () => this.#provider(row, present), false)
    }
  }

  async #open(provider: string, classes: readonly string[]): Promise<boolean> {
    const present = await inFull(this.#pair.to, provider)
    if (!present) return false
    const wide = Object.fromEntries(classes.map(name => [name, WIDE]))
    try {
      const inventories = { ...present.inventories, ...wide }
      await this.#pair.to.setPart(provider, 'inventories', inventories, present.generation)
      return true
    } catch (error) {
      // The consumer's refusal stays the reason.
      if (isFinal(error)) throw error
      return false
    }
  }

  async #again({ kind, id }: Thing): Promise<Done> {
    const { from: source, to: target } = this.#pair
    if (kind === 'class') await target.addClass(id)
    else if (kind === 'trait') await target.addTrait(id)
    else if (kind === 'consumer') return this.#consumer(id)
    else {
      const row = await source.row(id)
      return row ? this.#provider(row, await target.row(id)) : 'same'
    }
    return 'created'
  }

  async #attempt(thing: Thing, work = () => this.#again(thing), counts = true): Promise<void> {
    const { refused } = this.outcome
    const key = `${thing.kind} ${thing.id}`
    try {
      const done = await work()
      refused.delete(key)
      if (counts) this.outcome.counts[thing.kind][done]++
    } catch (error) {
      if (isFinal(error)) throw error
      refused.set(key, { ...thing, reason: (error as ApiError).message })
    }
    const { same, created, changed, removed } = this.outcome.counts[thing.kind]
    this.#options.show(thing.kind, same + created + changed + removed)
  }
}
