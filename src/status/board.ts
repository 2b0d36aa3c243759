// The board: a row for each machine, in memory, with its text ready made. The log says which rows to read again, and they
// are read when someone asks. What is shown is never older than `sequence`: the place in the log is read first, then the
// rows. Parts may be newer, and events after `sequence` only say again what is shown already.
import { BoundedMap } from '../shared/bounded-map.ts'
import { limits } from '../shared/limits.ts'
import type { NodeId, ProviderId } from '../store/schema/ids.ts'
import type { Store } from '../store/store.ts'
import type { Read } from '../store/transaction.ts'
import { Called } from './called.ts'
import { changedAfter, type Dirt, nodesIn, type Since } from './dirt.ts'
import { idsIn, type MachineRow, rowOf } from './machine.ts'
import { allocationsWith, everyNodeId, machinesWith, type MachineSource, type WaitingPart, waitingNow } from './rows.ts'
import { machineOf, type NamesOfPeople, type Sight } from './shown.ts'
import { type Situation, situationOf } from './verbs.ts'

export interface BoardEntry {
  row: MachineRow
  /** The place of its situation in the board's list: few differ, however many machines there are. */
  situation: number
  /** Names with numbers in them sort by the numbers. */
  order: string
  /** Its text for each viewpoint: a comma, and an object without its closing brace. */
  looks: Map<Viewpoint, Buffer>
  block: Block
}

/** Machines that are side by side. Their texts are kept together, so that an answer is made of few pieces. */
interface Block {
  readonly entries: BoardEntry[]
  /** By caller, each with the viewpoint that it was made for: its traits are numbers of that one. Empty after a change. */
  readonly texts: Map<string, { viewpoint: Viewpoint; text: Buffer }>
}

/** What callers with the same sight share. */
export interface Viewpoint {
  readonly sight: Sight
  /** The places of the traits in the list of their answer: they learn no names of what they don't see. */
  readonly traits: Map<string, number>
}

/** Of an entry that has no place yet. */
const NO_BLOCK: Block = { entries: [], texts: new Map() }

interface BoardOptions {
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
  waiting: WaitingPart[]
  /** The allocations that were asked for. */
  asked: Iterable<string>
}

export class Board {
  readonly #store: Store
  readonly #catchUpMemory: () => Promise<void>
  readonly #now: () => number
  readonly #names: Called
  readonly #entries = new Map<NodeId, BoardEntry>()
  readonly #byProvider = new Map<ProviderId, NodeId>()
  /** Which rows show an object, by its id. */
  readonly #showing = new Map<string, Set<NodeId>>()
  readonly #waiting = new Map<string, WaitingPart>()
  #blocks: readonly Block[] | null = null
  #viewpoints = new BoundedMap<string, Viewpoint>(limits.statusViewpointsMax)
  readonly #situations: Situation[] = []
  readonly #situationAt = new Map<string, number>()
  /** All up to this place of the log is in the rows. Null until all was read. */
  #sequence: number | null = null
  /** Providers that changed, as memory heard: by claims of other services too, which aren't looked for in the log. */
  #touched = new Set<ProviderId>()
  /** Until someone has asked, nothing is kept. */
  #isAsked = false
  #forgotten = 0
  #version = 0
  /** The first time at which a row changes by itself, and when the rows were last looked at for that. */
  #nextChange = Infinity
  #timeAt = -Infinity
  #last: Promise<number> = Promise.resolve(0)
  #next: Promise<number> | null = null

  constructor({ store, catchUp, now, names }: BoardOptions) {
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
    if (this.#blocks) return this.#blocks
    const sorted = [...this.#entries.values()].sort((a, b) => (a.order < b.order ? -1 : 1))
    const blocks: Block[] = []
    for (let at = 0; at < sorted.length; at += limits.statusBlockSize) {
      const block: Block = { entries: sorted.slice(at, at + limits.statusBlockSize), texts: new Map() }
      for (const entry of block.entries) entry.block = block
      blocks.push(block)
    }
    return (this.#blocks = blocks)
  }

  get entries(): readonly BoardEntry[] {
    return this.blocks.flatMap(({ entries }) => entries)
  }

  /** The machine of this name or uuid. */
  entryOf(ident: string): BoardEntry | undefined {
    const all = [...this.#entries.values()]
    const byName = all.find(({ row }) => row.source.node.name === ident)
    return byName ?? all.find(({ row }) => row.source.node.uuid === ident)
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

  /** Grows with every change of what is shown. */
  get version(): number {
    return this.#version
  }

  /** Those that wait, in the order of their ids, then the last that gave up. */
  get waiting(): readonly WaitingPart[] {
    return [...this.#waiting.values()].sort(
      (a, b) => Number(a.state === 'error') - Number(b.state === 'error') || a.id - b.id,
    )
  }

  viewpoint(sight: Sight): Viewpoint {
    const known = this.#viewpoints.get(sight.key)
    if (known) return known
    const viewpoint = { sight, traits: new Map<string, number>() }
    this.#viewpoints.set(sight.key, viewpoint)
    return viewpoint
  }

  get names(): NamesOfPeople {
    return this.#names
  }

  situation(place: number): Situation {
    return this.#situations[place]!
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
      this.#passTime(this.#now())
      return since.newest
    } catch (error) {
      for (const provider of touched) this.#touched.add(provider)
      throw error
    }
  }

  *#find({ newest, dirt }: Since, touched: readonly ProviderId[]): Read<Found> {
    if (dirt === null) {
      const ids = yield* everyNodeId()
      return { newest, first: [], read: [], ids, isAll: true, waiting: yield* waitingNow(), asked: [] }
    }
    // Those that are known need no lookup: mostly that is all.
    const isOf = (id: NodeId, uuid: string) => this.#entries.get(id)?.row.source.node.uuid === uuid
    const isNew = (uuid: string) => ![...(this.#showing.get(uuid) ?? [])].some(id => isOf(id, uuid))
    const [node, resource_provider] = [dirt.node, dirt.resource_provider].map(some => new Set([...some].filter(isNew)))
    const unknown = touched.filter(provider => !this.#byProvider.has(provider))
    const ids = yield* nodesIn({ ...dirt, node: node!, resource_provider: resource_provider! }, unknown)
    for (const id of this.#shownIn(dirt)) ids.add(id)
    for (const provider of touched) if (this.#byProvider.has(provider)) ids.add(this.#byProvider.get(provider)!)
    const waiting = yield* allocationsWith([...dirt.allocation])
    // Mostly they are few, and then they are read in the same transaction.
    const [first, rest] = [[...ids].slice(0, limits.statusReadMax), [...ids].slice(limits.statusReadMax)]
    const read = first.length === 0 ? [] : yield* machinesWith(first)
    return { newest, first, read, ids: rest, isAll: false, waiting, asked: dirt.allocation }
  }

  /** The rows that show one of these objects now. */
  #shownIn(dirt: Dirt): NodeId[] {
    const ids = Object.values(dirt).flatMap((some: Set<string>) => [...some])
    return ids.flatMap(id => [...(this.#showing.get(id) ?? [])])
  }

  /** In parts, each newer than `newest`, so that others get a turn between them. */
  async #read({ first, read, ids, isAll }: Found): Promise<void> {
    if (isAll) {
      const there = new Set(ids)
      for (const id of this.#entries.keys()) if (!there.has(id)) this.#drop(id)
      this.#viewpoints = new BoundedMap(limits.statusViewpointsMax)
    }
    if (this.#names.haveChanged()) {
      for (const { looks } of this.#entries.values()) looks.clear()
      this.#blocks = null
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
    for (const id of ids) if (!found.has(id)) this.#drop(id)
    for (const source of read) this.#put(source, now)
  }

  #take({ newest, isAll, waiting, asked }: Found): void {
    if (newest !== this.#sequence) this.#version++
    if (isAll) this.#waiting.clear()
    for (const uuid of asked) this.#waiting.delete(uuid)
    for (const row of waiting) if (row.state !== 'active') this.#waiting.set(row.uuid, row)
    const gaveUp = [...this.#waiting.values()].filter(({ state }) => state === 'error').sort((a, b) => b.id - a.id)
    for (const { uuid } of gaveUp.slice(limits.statusGaveUpMax)) this.#waiting.delete(uuid)
  }

  /** Makes the rows again that changed because time went on, or the clock was set back. */
  #passTime(now: number): void {
    const isSetBack = now < this.#timeAt
    this.#timeAt = now
    if (now < this.#nextChange && !isSetBack) return
    this.#nextChange = Infinity
    for (const { row } of this.#entries.values()) {
      if (row.validUntil <= now || row.validFrom > now) this.#put(row.source, now)
      else this.#nextChange = Math.min(this.#nextChange, row.validUntil)
    }
  }

  #put(source: MachineSource, now: number): void {
    this.#version++
    const { id, name, uuid } = source.node
    const before = this.#entries.get(id)
    if (before) this.#unlist(before)
    const row = rowOf(source, now)
    const order = `${(name ?? uuid).replace(/\d+/g, digits => digits.padStart(12, '0'))} ${uuid}`
    const made = { row, situation: this.#situationOf(row), order, looks: new Map<Viewpoint, Buffer>() }
    // It stays where it is, if its name is the same.
    if (before?.order === order) {
      Object.assign(before, made)
      before.block.texts.clear()
    } else {
      this.#entries.set(id, { ...made, block: NO_BLOCK })
      this.#blocks = null
    }
    this.#byProvider.set(source.node.provider_id, id)
    for (const shown of idsIn(row)) this.#showing.getOrInsertComputed(shown, () => new Set()).add(id)
    this.#nextChange = Math.min(this.#nextChange, row.validUntil)
  }

  #drop(id: NodeId): void {
    const entry = this.#entries.get(id)
    if (!entry) return
    this.#unlist(entry)
    this.#entries.delete(id)
    this.#byProvider.delete(entry.row.source.node.provider_id)
    this.#blocks = null
  }

  #unlist({ row }: BoardEntry): void {
    const { id } = row.source.node
    for (const shown of idsIn(row)) {
      const rows = this.#showing.get(shown)
      rows?.delete(id)
      if (rows?.size === 0) this.#showing.delete(shown)
    }
  }

  #situationOf(row: MachineRow): number {
    const situation = situationOf(row)
    const key = JSON.stringify(situation)
    return this.#situationAt.getOrInsertComputed(key, () => this.#situations.push(situation) - 1)
  }
}
