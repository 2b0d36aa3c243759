// In the middle of the load: no copy in memory goes back to what it has left behind, or shows what was never committed.
// It may be late, which the check in the recess judges: here no time counts.
import { isDeepStrictEqual } from 'node:util'
import type { Memory } from '../../src/process/memory.ts'
import type { ProviderId } from '../../src/store/schema/ids.ts'
import type { Finding } from '../port.ts'
import type { Inside } from './inside.ts'

/** What a class of a provider shows: what is used of it, and what there is. */
type Shown = number | undefined
const PARTS = ['used', 'capacity'] as const
type Part = (typeof PARTS)[number]
type Stock = ReadonlyMap<string, Readonly<Record<Part, number>>>
/** As it was, by revision: not every change raises it. */
type Revisions = Map<number, Stock[]>

interface StockRow {
  id: ProviderId
  revision: number
  name: string | null
  used: number
  capacity: number
}

/** What is counted up with each change, by id. */
interface Counted {
  id: number
  count: number
}

const STOCKS = `select p.id, p.revision, c.name, i.used, i.capacity from providers p
  left join inventories i on i.provider_id = p.id left join resource_classes c on c.id = i.class_id`
const NODES = 'select id, revision as count from nodes'
const LEASABLES = 'select provider_id as id, version as count from leasables'

const READ_FOR = {
  stocks: ['providers', 'inventories', 'claims'],
  nodes: ['nodes'],
  leasables: ['leasables', 'bookings'],
}

/** What one memory has shown so far. */
interface Past {
  /** The first revision that can explain what is shown, by provider, class and part. */
  shown: Map<string, number>
  nodes: Map<number, number>
  leasables: Map<number, number>
}

export class Following {
  readonly #stocks = new Map<ProviderId, Revisions>()
  /** The classes that each provider had at some time. */
  readonly #classes = new Map<ProviderId, Set<string>>()
  #nodes = new Map<number, number>()
  #leasables = new Map<number, number>()
  /** Ids of leasables that were taken out of the calendar, and may be back with lower versions. */
  readonly #returned = new Set<number>()
  readonly #pasts = new WeakMap<Memory, Past>()

  /** Takes note of what was committed to these tables, and looks. */
  async committed(inside: Inside, touched: ReadonlySet<string>): Promise<Finding[]> {
    const isTouched = (tables: readonly string[]) => tables.some(table => touched.has(table))
    if (isTouched(READ_FOR.stocks)) await this.#readStocks(inside)
    if (isTouched(READ_FOR.nodes)) this.#nodes = await counts(inside, NODES)
    if (isTouched(READ_FOR.leasables)) await this.#readLeasables(inside)
    return this.look(inside)
  }

  /** What is wrong now. */
  async look(inside: Inside): Promise<Finding[]> {
    if (this.#wrong(inside).length === 0) return []
    // Someone may have committed without our notice: a server process whose connection was closed.
    await this.#readStocks(inside)
    this.#nodes = await counts(inside, NODES)
    await this.#readLeasables(inside)
    return this.#wrong(inside).map(text => ({ check: 'memory', text }))
  }

  async #readStocks(inside: Inside): Promise<void> {
    const rows = await inside.rows<StockRow>(STOCKS)
    for (const [id, some] of Map.groupBy(rows, row => row.id)) {
      const stock: Stock = new Map(
        some.flatMap(({ name, used, capacity }) => (name === null ? [] : [[name, { used, capacity }]])),
      )
      const classes = this.#classes.getOrInsertComputed(id, () => new Set())
      for (const name of stock.keys()) classes.add(name)
      const revisions: Revisions = this.#stocks.getOrInsertComputed(id, () => new Map())
      const known = revisions.getOrInsertComputed(some[0]!.revision, () => [])
      if (!known.some(one => isDeepStrictEqual(one, stock))) known.push(stock)
    }
  }

  async #readLeasables(inside: Inside): Promise<void> {
    const found = await counts(inside, LEASABLES)
    for (const id of this.#leasables.keys()) if (!found.has(id)) this.#returned.add(id)
    for (const id of this.#returned) found.delete(id)
    this.#leasables = found
  }

  #wrong(inside: Inside): string[] {
    return inside.memories().flatMap(({ name, memory }) => {
      const past = this.#pasts.getOrInsertComputed(memory, () => ({
        shown: new Map(),
        nodes: new Map(),
        leasables: new Map(),
      }))
      const nodes = [...memory.fleet.nodes()].map(({ id, revision }) => ({ id, count: revision }))
      const leasables = memory.calendar.leasables
        .filter(({ id }) => !this.#returned.has(id))
        .map(({ id, version }) => ({ id, count: version }))
      return [
        ...this.#wrongStocks(memory, past),
        ...wentBack('node', nodes, past.nodes, this.#nodes),
        ...wentBack('leasable', leasables, past.leasables, this.#leasables),
      ].map(text => `${name}: ${text}`)
    })
  }

  #wrongStocks({ mirror }: Memory, past: Past): string[] {
    const { table } = mirror
    const wrong: string[] = []
    for (const [id, revisions] of this.#stocks) {
      const row = table.rowOfId(id)
      const revision = mirror.revisionOf(id)
      if (row < 0 || revision === undefined) continue
      for (const name of this.#classes.get(id)!) {
        const column = table.column(name)
        const shown = { used: column?.usedAt(row), capacity: column?.capacity[column.at(row)] }
        for (const part of PARTS) {
          const key = `${id} ${name} ${part}`
          const since = explained(revisions, { name, part, shown: shown[part], since: past.shown.get(key), revision })
          if (since === null) wrong.push(`provider ${id} never had ${part} ${shown[part]} of ${name} since it was seen`)
          else past.shown.set(key, since)
        }
      }
    }
    return wrong
  }
}

const counts = async ({ rows }: Inside, text: string): Promise<Map<number, number>> =>
  new Map((await rows<Counted>(text)).map(({ id, count }) => [id, count]))

interface Question {
  name: string
  part: Part
  shown: Shown
  /** The revision that explained what was shown before. */
  since: number | undefined
  /** The newest that the memory has. */
  revision: number
}

/**
 * The first revision, not before the one that was seen, at which the provider was as it is shown; null if it never was.
 * A revision that nobody saw may have been as it likes: two commits may come in one event.
 */
function explained(revisions: Revisions, { name, part, shown, since, revision }: Question): number | null {
  const first = since ?? Math.min(...revisions.keys())
  let isKnown = revision >= first
  for (let each = first; each <= revision; each++) {
    const stocks = revisions.get(each)
    if (!stocks) isKnown = false
    else if (stocks.some(stock => stock.get(name)?.[part] === shown)) return each
  }
  return isKnown ? null : first
}

/** Notes where each is now. */
function wentBack(
  what: string,
  shown: readonly Counted[],
  past: Map<number, number>,
  there: ReadonlyMap<number, number>,
): string[] {
  const now = new Map(shown.map(({ id, count }) => [id, count]))
  const back = shown.filter(({ id, count }) => count < (past.get(id) ?? 0))
  const lost = [...past.keys()].filter(id => !now.has(id) && there.has(id))
  for (const [id, count] of now) past.set(id, Math.max(count, past.get(id) ?? 0))
  for (const id of past.keys()) if (!now.has(id) && !there.has(id)) past.delete(id)
  return [
    ...back.map(({ id, count }) => `${what} ${id} was seen at ${past.get(id)}, and is back at ${count}`),
    ...lost.map(id => `${what} ${id} was seen, and is lost`),
  ]
}
