// The machines of the board in memory: a row for each, by name, and which of them changed after a version.
import { limits } from '../shared/limits.ts'
import type { NodeId, ProviderId } from '../store/schema/ids.ts'
import { Changes } from './changes.ts'
import { idsIn, type MachineRow, peopleIn, rowOf } from './machine.ts'
import type { MachineSource } from './rows.ts'
import { type Situation, situationOf } from './verbs.ts'
import type { Viewpoint } from './viewpoint.ts'

export interface BoardEntry {
  row: MachineRow
  /** The board's version when it changed last. */
  version: number
  /** The place of its situation in the board's list: few differ, however many machines there are. */
  situation: number
  /** Names with numbers in them sort by the numbers. */
  order: string
  /** Its text for each viewpoint: a comma, and an object without its closing brace. */
  looks: Map<Viewpoint, Buffer>
  block: Block
}

/** Machines that are side by side. Their texts are kept together, so that an answer is made of few pieces. */
export interface Block {
  readonly entries: BoardEntry[]
  /** By caller, each with the viewpoint that it was made for: its traits are numbers of that one. Empty after a change. */
  readonly texts: Map<string, { viewpoint: Viewpoint; text: Buffer }>
}

/** Of an entry that has no place yet. */
const NO_BLOCK: Block = { entries: [], texts: new Map() }

export class MachineTable {
  readonly changes = new Changes()
  readonly #entries = new Map<NodeId, BoardEntry>()
  readonly #byProvider = new Map<ProviderId, NodeId>()
  /** Which rows show an object, by its id. */
  readonly #showing = new Map<string, Set<NodeId>>()
  #blocks: readonly Block[] | null = null
  readonly #situations: Situation[] = []
  readonly #situationAt = new Map<string, number>()
  /** The first time at which a row changes by itself, and when the rows were last looked at for that. */
  #nextChange = Infinity
  #timeAt = -Infinity
  /** What changed after a version, as it was last asked for: those who follow ask for the same. */
  #asked: { after: number; version: number; entries: readonly BoardEntry[] } | null = null

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

  get ids(): Iterable<NodeId> {
    return this.#entries.keys()
  }

  /** The machine of this name or uuid. */
  entryOf(ident: string): BoardEntry | undefined {
    const all = [...this.#entries.values()]
    const byName = all.find(({ row }) => row.source.node.name === ident)
    return byName ?? all.find(({ row }) => row.source.node.uuid === ident)
  }

  /** Those that changed after a version, by name. */
  changedAfter(after: number): readonly BoardEntry[] {
    const { version } = this.changes
    if (this.#asked?.after !== after || this.#asked.version !== version) {
      const entries = after === version ? [] : this.entries.filter(entry => entry.version > after)
      this.#asked = { after, version, entries }
    }
    return this.#asked.entries
  }

  /** The node of a provider, if it is a machine. */
  nodeOf(provider: ProviderId): NodeId | undefined {
    return this.#byProvider.get(provider)
  }

  /** The rows that show one of these objects now. */
  showing(ids: Iterable<string>): NodeId[] {
    return [...ids].flatMap(id => [...(this.#showing.get(id) ?? [])])
  }

  /** The machine of this uuid. */
  entryWith(uuid: string): BoardEntry | undefined {
    const entries = this.showing([uuid]).map(id => this.#entries.get(id))
    return entries.find(entry => entry?.row.source.node.uuid === uuid)
  }

  situation(place: number): Situation {
    return this.#situations[place]!
  }

  get nextChange(): number {
    return this.#nextChange
  }

  /** Makes the rows again that changed because time went on, or the clock was set back. */
  passTime(now: number): void {
    const isSetBack = now < this.#timeAt
    this.#timeAt = now
    if (now < this.#nextChange && !isSetBack) return
    this.#nextChange = Infinity
    for (const { row } of this.#entries.values()) {
      if (row.validUntil <= now || row.validFrom > now) this.put(row.source, now)
      else this.#nextChange = Math.min(this.#nextChange, row.validUntil)
    }
  }

  /** The texts in which these people or projects are named are no longer right. */
  callAnew(ids: ReadonlySet<string>): void {
    for (const entry of this.#entries.values()) {
      if (!peopleIn(entry.row).some(id => id !== null && ids.has(id))) continue
      entry.version = this.changes.grow()
      entry.looks.clear()
      entry.block.texts.clear()
    }
  }

  put(source: MachineSource, now: number): void {
    const { id, name, uuid } = source.node
    const before = this.#entries.get(id)
    if (before) this.#unlist(before)
    const row = rowOf(source, now)
    const order = `${(name ?? uuid).replace(/\d+/g, digits => digits.padStart(12, '0'))} ${uuid}`
    if (before) this.#noteOwners(before.row.source, source)
    const version = this.changes.grow()
    const made = { row, version, situation: this.#situationOf(row), order, looks: new Map<Viewpoint, Buffer>() }
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

  drop(id: NodeId): void {
    const entry = this.#entries.get(id)
    if (!entry) return
    this.#unlist(entry)
    this.#entries.delete(id)
    this.#byProvider.delete(entry.row.source.node.provider_id)
    this.#blocks = null
    this.changes.depart(entry.row.source.node)
  }

  /** Who saw it before may not see it any more. */
  #noteOwners({ node: before }: MachineSource, { node: now }: MachineSource): void {
    if (before.owner !== now.owner || before.lessee !== now.lessee) this.changes.depart(before)
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
