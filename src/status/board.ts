// The board: a row for each machine, in memory, with its text ready made. The log says which rows to read again, and they
// are read when someone asks. What is shown is never older than `sequence`: the place in the log is read first, then the
// rows. Parts may be newer, and events after `sequence` only say again what is shown already.
import { BoundedMap } from '../shared/bounded-map.ts'
import { limits } from '../shared/limits.ts'
import type { NodeId, ProviderId } from '../store/schema/ids.ts'
import type { Store } from '../store/store.ts'
import type { Read } from '../store/transaction.ts'
import { Called } from './called.ts'
import type { Departed } from './changes.ts'
import { changedAfter, nodesIn, type Since } from './dirt.ts'
import { allocationsWith, everyNodeId, machinesWith, type MachineSource, type WaitingPart, waitingNow } from './rows.ts'
import { machineOf, type NamesOfPeople, type Sight } from './shown.ts'
import { type Block, type BoardEntry, MachineTable } from './table.ts'
import type { Situation } from './verbs.ts'
import type { Viewpoint } from './viewpoint.ts'
import { WaitingList } from './waiting-list.ts'

interface BoardOptions {
  /** No other board has it, in any process. */
  id: string
  store: Store
  /** Resolves when all that is committed was told by `touch`, or all is forgotten. */
  catchUp: () => Promise<void>
  now: () => number
  names: NamesOfPeople
}

/** What one look at the log found. */
interface Found {
  newest: number
  /** Some that changed, and what was read of them. */
  first: NodeId[]
  read: MachineSource[]
  /** The rest that is to be read. */
  ids: NodeId[]
  isAll: boolean
  /** Whether providers changed that are no machines. */
  isOfOthers: boolean
  waiting: WaitingPart[]
  /** The allocations that were asked for. */
  asked: Iterable<string>
}

export class Board {
  readonly #id: string
  readonly #store: Store
  readonly #catchUpMemory: () => Promise<void>
  readonly #now: () => number
  readonly #names: Called
  readonly #table = new MachineTable()
  readonly #waiting = new WaitingList()
  #hostsVersion = 0
  #viewpoints = new BoundedMap<string, Viewpoint>(limits.statusViewpointsMax)
  #viewpointsMade = 0
  /** How often all was read. */
  #readings = 0
  /** All up to this place of the log is in the rows. Null until all was read. */
  #sequence: number | null = null
  /** Providers that changed, as memory heard: by claims of other services too, which aren't looked for in the log. */
  #touched = new Set<ProviderId>()
  /** Until someone has asked, nothing is kept. */
  #isAsked = false
  #forgotten = 0
  #last: Promise<number> = Promise.resolve(0)
  #next: Promise<number> | null = null

  constructor({ id, store, catchUp, now, names }: BoardOptions) {
    this.#id = id
    this.#store = store
    this.#catchUpMemory = catchUp
    this.#now = now
    this.#names = new Called(names)
  }

  /** Takes note of what changed, to read it when someone asks. */
  touch(providers: readonly ProviderId[]): void {
    if (this.#isAsked) for (const provider of providers) this.#touched.add(provider)
  }

  /** Everything is to be read again: memory may have missed something. */
  forget(): void {
    this.#sequence = null
    this.#forgotten++
  }

  /**
   * Resolves when the board has all that was committed before this call, to the place in the log up to which what it
   * shows from then on is true.
   */
  fresh(): Promise<number> {
    if (this.#next) return this.#next
    this.#isAsked = true
    const run = async () => {
      this.#next = null
      return this.#catchUp()
    }
    this.#next = this.#last.then(run, run)
    this.#last = this.#next
    return this.#next
  }

  /** All machines, by name. */
  get blocks(): readonly Block[] {
    return this.#table.blocks
  }

  get entries(): readonly BoardEntry[] {
    return this.#table.entries
  }

  /** The machine of this name or uuid. */
  entryOf(ident: string): BoardEntry | undefined {
    return this.#table.entryOf(ident)
  }

  /** The machine of this uuid. */
  entryWith(uuid: string): BoardEntry | undefined {
    return this.#table.entryWith(uuid)
  }

  situation(place: number): Situation {
    return this.#table.situation(place)
  }

  /** Grows with every change of what is shown. */
  get version(): number {
    return this.#table.changes.version
  }

  /** Those that changed after a version, by name. */
  changedAfter(version: number): readonly BoardEntry[] {
    return this.#table.changedAfter(version)
  }

  /** What is gone, or is others' now, since a version; null if not all of it is known. */
  departedAfter(version: number): readonly Departed[] | null {
    return this.#table.changes.departedAfter(version)
  }

  /** When a row changes by itself next; Infinity for never. */
  get nextChange(): number {
    return this.#table.nextChange
  }

  /** Those that wait, in the order of their ids, then the last that gave up. */
  get waiting(): readonly WaitingPart[] {
    return this.#waiting.rows
  }

  /** Grows when one that waits comes, goes or changes. */
  get waitingVersion(): number {
    return this.#waiting.version
  }

  /** Grows when a provider changed that is no machine. */
  get hostsVersion(): number {
    return this.#hostsVersion
  }

  get names(): NamesOfPeople {
    return this.#names
  }

  viewpoint(sight: Sight): Viewpoint {
    const known = this.#viewpoints.get(sight.key)
    if (known) return known
    const id = `${this.#id} ${++this.#viewpointsMade}`
    const viewpoint = { id, reading: this.#readings, sight, traits: new Map<string, number>() }
    this.#viewpoints.set(sight.key, viewpoint)
    return viewpoint
  }

  /** Whether nothing was read anew since this viewpoint was made. */
  isPresent({ reading }: Viewpoint): boolean {
    return reading === this.#readings
  }

  /** The text of a block for a caller, made by `make` if it isn't known. */
  textOf({ texts }: Block, viewpoint: Viewpoint, caller: string, make: () => Buffer): Buffer {
    const known = texts.get(caller)
    if (known?.viewpoint === viewpoint) return known.text
    if (texts.size >= limits.statusCallersMax) texts.clear()
    const text = make()
    texts.set(caller, { viewpoint, text })
    return text
  }

  /** The text of a row as seen from there: a comma, and an object without its closing brace. */
  lookOf({ row, looks }: BoardEntry, viewpoint: Viewpoint): Buffer {
    const known = looks.get(viewpoint)
    if (known) return known
    if (looks.size >= limits.statusLooksMax) looks.clear()
    const { sight, traits } = viewpoint
    const traitAt = (name: string) => traits.getOrInsertComputed(name, () => traits.size)
    const look = Buffer.from(`,${JSON.stringify(machineOf(row, sight, this.#names, traitAt)).slice(0, -1)}`)
    looks.set(viewpoint, look)
    return look
  }

  async #catchUp(): Promise<number> {
    await this.#store.ordered()
    const [after, before] = [this.#sequence, this.#forgotten]
    const since = await this.#store.read(() => changedAfter(after))
    // What memory had not heard of yet, of all that has its place by now.
    await this.#catchUpMemory()
    const [touched, forgotten] = [this.#touched, this.#forgotten]
    const changed = forgotten === before ? since : { ...since, dirt: null }
    this.#touched = new Set()
    try {
      const found = await this.#store.read(() => this.#find(changed, [...touched]))
      await this.#read(found)
      this.#take(found)
      if (forgotten === this.#forgotten) this.#sequence = since.newest
      this.#table.passTime(this.#now())
      return since.newest
    } catch (error) {
      for (const provider of touched) this.#touched.add(provider)
      throw error
    }
  }

  *#find({ newest, dirt }: Since, touched: readonly ProviderId[]): Read<Found> {
    if (dirt === null) {
      const ids = yield* everyNodeId()
      const waiting = yield* waitingNow()
      return { newest, first: [], read: [], ids, isAll: true, isOfOthers: true, waiting, asked: [] }
    }
    const table = this.#table
    // Those that are known need no lookup: mostly that is all.
    const isNew = (uuid: string) => !table.entryWith(uuid)
    const [node, resource_provider] = [dirt.node, dirt.resource_provider].map(some => new Set([...some].filter(isNew)))
    const unknown = touched.filter(provider => table.nodeOf(provider) === undefined)
    const ids = yield* nodesIn({ ...dirt, node: node!, resource_provider: resource_provider! }, unknown)
    for (const some of Object.values(dirt)) for (const id of table.showing(some)) ids.add(id)
    for (const id of touched.map(provider => table.nodeOf(provider))) if (id !== undefined) ids.add(id)
    const waiting = yield* allocationsWith([...dirt.allocation])
    // Mostly they are few, and then they are read in the same transaction.
    const [first, rest] = [[...ids].slice(0, limits.statusReadMax), [...ids].slice(limits.statusReadMax)]
    const read = first.length === 0 ? [] : yield* machinesWith(first)
    const isOfOthers = unknown.length > 0
    return { newest, first, read, ids: rest, isAll: false, isOfOthers, waiting, asked: dirt.allocation }
  }

  /** In parts, each newer than `newest`, so that others get a turn between them. */
  async #read({ first, read, ids, isAll }: Found): Promise<void> {
    if (isAll) {
      const there = new Set(ids)
      for (const id of this.#table.ids) if (!there.has(id)) this.#table.drop(id)
      this.#viewpoints = new BoundedMap(limits.statusViewpointsMax)
      this.#readings++
    }
    this.#replace(first, read)
    for (let at = 0; at < ids.length; at += limits.statusReadMax) {
      const some = ids.slice(at, at + limits.statusReadMax)
      this.#replace(some, await this.#store.read(() => machinesWith(some)))
    }
  }

  /** These are as they were read; those that were not found are gone. */
  #replace(ids: readonly NodeId[], read: readonly MachineSource[]): void {
    const now = this.#now()
    const found = new Set(read.map(({ node }) => node.id))
    for (const id of ids) if (!found.has(id)) this.#table.drop(id)
    for (const source of read) this.#table.put(source, now)
  }

  #take(found: Found): void {
    if (found.newest !== this.#sequence) this.#table.changes.grow()
    if (found.isOfOthers) this.#hostsVersion++
    this.#waiting.take(found)
    const renamed = this.#names.changed()
    if (renamed.size === 0) return
    this.#table.callAnew(renamed)
    this.#waiting.grow()
    this.#hostsVersion++
  }
}
