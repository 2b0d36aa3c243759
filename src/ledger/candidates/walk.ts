// Lists the candidates of one anchor, one at a time: a depth-first walk over the slots that gives each a provider, checks room while descending,
// and turns back as soon as nothing below can succeed.
//
// Everything that the walk reads is copied when it starts, between two breaths, so a candidate never mixes two states of a tree.
import type { Row } from './bitset.ts'
import { DeadEnds } from './deadends.ts'
import { handsOut, isSetAside } from './dedicated.ts'
import { accepts } from './plan.ts'
import type { Plan } from './plan.ts'
import { sharersOfTree } from './sharing.ts'
import { Subtrees } from './subtrees.ts'
import type { CandidateTable } from './table.ts'

/** Counts work. `stop` is where the next breath is due, `max` where the search ends. */
export interface Meter {
  steps: number
  stop: number
  max: number
  /** Steps after which a walk remembers dead ends: in shorter walks, nearly all, it costs more than it saves. */
  hardAfter: number
}

export class Walk {
  readonly anchor: number
  /** Rows that may be chosen; a position below is an index into this list. */
  readonly rows: number[] = []
  readonly plan: Plan
  /** Slot by depth, the one with the fewest choices first. */
  readonly order: number[]
  readonly options: readonly (readonly number[])[]
  readonly chosen: Int32Array
  /** What is left, by position and column: of the inventory, and of its max_unit for the sum. */
  readonly room: Float64Array
  readonly unit: Float64Array
  readonly busy: Uint8Array
  readonly covers: Covers | null
  readonly subtrees: Subtrees | null
  readonly oneOfTree: OneOfTree | null
  readonly dedicated: Dedicated | null
  #cursor: Int32Array
  #foundBefore: Float64Array
  #depth = 0
  #found = 0
  #steps = 0
  #dead: DeadEnds | null = null

  private constructor(table: CandidateTable, plan: Plan, anchor: number, choices: readonly (readonly number[])[]) {
    this.plan = plan
    this.anchor = anchor
    const depths = plan.slots.length
    this.order = choices.map((_, slot) => slot).sort((a, b) => choices[a]!.length - choices[b]!.length || a - b)
    const position = new Map<number, number>()
    this.options = this.order.map(slot =>
      choices[slot]!.map(row => position.get(row) ?? (position.set(row, this.rows.length), this.rows.push(row) - 1)),
    )
    this.chosen = new Int32Array(depths).fill(-1)
    this.#cursor = new Int32Array(depths)
    this.#foundBefore = new Float64Array(depths)
    const width = plan.columns.length
    this.room = new Float64Array(this.rows.length * width)
    this.unit = new Float64Array(this.rows.length * width)
    this.busy = new Uint8Array(this.rows.length)
    this.#copyRoom()
    this.covers = Covers.of(table, this)
    this.subtrees = plan.subtrees.length === 0 ? null : new Subtrees(table, this)
    this.oneOfTree = plan.request.nested ? null : new OneOfTree(table, this.rows)
    this.dedicated = Dedicated.of(table, this.rows)
  }

  /** null when some slot has no choice under this anchor. */
  static start(table: CandidateTable, plan: Plan, anchor: number, meter: Meter, shuffle: Shuffle | null): Walk | null {
    if (!plan.root.fits(table.traitSet[anchor]!)) return null
    const own = table.treeOf[anchor]?.rows ?? [anchor]
    const shared = sharersOfTree(table, own)
    const choices: number[][] = []
    for (const slot of plan.slots) {
      meter.steps += own.length + shared.length
      const rows: number[] = []
      const isClosed = (row: Row) => slot.needs.length > 0 && isSetAside(table, row, plan.columns)
      for (const row of own) if (accepts(table, plan, slot, row, anchor, true) && !isClosed(row)) rows.push(row)
      for (const row of shared) if (accepts(table, plan, slot, row, anchor, false) && !isClosed(row)) rows.push(row)
      if (rows.length === 0) return null
      choices.push(shuffle === null ? rows : shuffle(rows))
    }
    return new Walk(table, plan, anchor, choices)
  }

  /** After 'found', `picks` writes the candidate; 'breath' means: call again. */
  next(meter: Meter): 'found' | 'done' | 'breath' {
    const last = this.order.length - 1
    for (let depth = this.#depth; ;) {
      if (this.chosen[depth]! >= 0) this.#retract(depth)
      const picked = this.#pick(depth, meter)
      if (picked === BREATH) {
        this.#depth = depth
        return 'breath'
      }
      if (picked === NONE) {
        if (this.#dead !== null && this.#foundBefore[depth] === this.#found) this.#dead.remember(depth)
        if (depth === 0) return 'done'
        depth--
        continue
      }
      this.#place(depth, picked)
      if (!this.#promising(depth)) continue
      if (depth === last) {
        if (this.dedicated !== null && !this.#isHandedOut(this.dedicated)) continue
        this.#found++
        // Keeping a candidate costs about as much as looking at one provider for each slot.
        meter.steps += this.order.length
        this.#depth = depth
        return 'found'
      }
      if (this.#enters(depth + 1, meter)) depth++
    }
  }

  picks(out: Int32Array, at: number): void {
    for (let depth = 0; depth < this.order.length; depth++) {
      out[at + this.order[depth]!] = this.rows[this.chosen[depth]!]!
    }
  }

  #enters(depth: number, meter: Meter): boolean {
    this.#cursor[depth] = 0
    this.#foundBefore[depth] = this.#found
    // Dead ends don't record who hands out which provider, so they aren't used there.
    if (this.#steps < meter.hardAfter || this.dedicated !== null) return true
    this.#dead ??= new DeadEnds(this)
    meter.steps += this.rows.length
    return !this.#dead.known(depth)
  }

  #pick(depth: number, meter: Meter): number {
    const options = this.options[depth]!
    const slot = this.plan.slots[this.order[depth]!]!
    let i = this.#cursor[depth]!
    let picked = NONE
    while (i < options.length) {
      if (meter.steps >= meter.stop) {
        picked = BREATH
        break
      }
      meter.steps++
      this.#steps++
      const position = options[i++]!
      if (this.#fits(slot, position)) {
        picked = position
        break
      }
    }
    this.#cursor[depth] = i
    return picked
  }

  /** Whether each dedicated provider in use is handed out by another provider in use. */
  #isHandedOut(dedicated: Dedicated): boolean {
    const giving = this.order.flatMap((slot, depth) =>
      this.plan.slots[slot]!.needs.length > 0 ? [this.chosen[depth]!] : [],
    )
    return dedicated.permits(giving)
  }

  #fits(slot: Plan['slots'][number], position: number): boolean {
    if (slot.group.suffixed && this.plan.isolate && this.busy[position]! > 0) return false
    const at = position * this.plan.columns.length
    for (const { column, amount } of slot.needs) {
      if (this.room[at + column]! < amount || this.unit[at + column]! < amount) return false
    }
    return this.oneOfTree === null || slot.needs.length === 0 || this.oneOfTree.free(position)
  }

  #place(depth: number, position: number): void {
    this.chosen[depth] = position
    this.#take(depth, position, 1)
  }

  #retract(depth: number): void {
    const position = this.chosen[depth]!
    this.chosen[depth] = -1
    this.#take(depth, position, -1)
  }

  #take(depth: number, position: number, sign: 1 | -1): void {
    const slot = this.plan.slots[this.order[depth]!]!
    const at = position * this.plan.columns.length
    for (const { column, amount } of slot.needs) {
      this.room[at + column]! -= sign * amount
      this.unit[at + column]! -= sign * amount
    }
    if (slot.group.suffixed) this.busy[position]! += sign
    if (this.oneOfTree !== null && slot.needs.length > 0) this.oneOfTree.hold(position, sign)
  }

  #promising(depth: number): boolean {
    if (this.covers !== null && !this.covers.promising(depth, this.chosen[depth]!)) return false
    return this.subtrees === null || this.subtrees.promising(depth, this.rows[this.chosen[depth]!]!)
  }

  #copyRoom(): void {
    const width = this.plan.columns.length
    for (let i = 0; i < this.rows.length; i++) {
      for (let c = 0; c < width; c++) {
        const column = this.plan.columns[c]!
        const entry = column.at(this.rows[i]!)
        this.room[i * width + c] = entry < 0 ? -Infinity : column.room[entry]!
        this.unit[i * width + c] = entry < 0 ? -Infinity : column.maxUnit[entry]!
      }
    }
  }
}

const NONE = -1
const BREATH = -2

export type Shuffle = (rows: number[]) => number[]

/** Required traits of the unsuffixed group: together, its providers must have them all. */
class Covers {
  /** By depth, the bits covered by the choices above; chunks of 31 bits. */
  readonly so: Int32Array
  readonly chunks: number
  readonly masks: Int32Array
  #open: Int32Array
  #full: Int32Array
  #counts: Uint8Array

  private constructor(table: CandidateTable, walk: Walk, lists: readonly (readonly number[])[]) {
    const depths = walk.order.length
    this.chunks = Math.ceil(lists.length / 31)
    this.so = new Int32Array((depths + 1) * this.chunks)
    this.#open = new Int32Array((depths + 1) * this.chunks)
    this.#full = new Int32Array(this.chunks)
    this.masks = new Int32Array(walk.rows.length * this.chunks)
    this.#counts = new Uint8Array(depths)
    lists.forEach((any, i) => {
      const chunk = Math.floor(i / 31)
      const bit = 1 << (i % 31)
      this.#full[chunk]! |= bit
      walk.rows.forEach((row, position) => {
        const { labels } = table.traitSet[row]!
        if (any.some(label => labels.includes(label))) this.masks[position * this.chunks + chunk]! |= bit
      })
    })
    for (let depth = depths - 1; depth >= 0; depth--) {
      this.#counts[depth] = walk.plan.slots[walk.order[depth]!]!.group.suffixed ? 0 : 1
      for (let chunk = 0; chunk < this.chunks; chunk++) {
        let open = this.#open[(depth + 1) * this.chunks + chunk]!
        if (this.#counts[depth] === 1)
          for (const p of walk.options[depth]!) open |= this.masks[p * this.chunks + chunk]!
        this.#open[depth * this.chunks + chunk] = open
      }
    }
  }

  static of(table: CandidateTable, walk: Walk): Covers | null {
    const lists = walk.plan.groups.find(group => !group.suffixed)?.together ?? []
    return lists.length === 0 ? null : new Covers(table, walk, lists)
  }

  promising(depth: number, position: number): boolean {
    for (let chunk = 0; chunk < this.chunks; chunk++) {
      const mask = this.#counts[depth] === 1 ? this.masks[position * this.chunks + chunk]! : 0
      const so = this.so[depth * this.chunks + chunk]! | mask
      this.so[(depth + 1) * this.chunks + chunk] = so
      if ((so | this.#open[(depth + 1) * this.chunks + chunk]!) !== this.#full[chunk]) return false
    }
    return true
  }
}

/** Which providers of a walk are dedicated, and which ones hand them out; by position. */
class Dedicated {
  readonly #handers: ReadonlyMap<number, readonly number[]>

  private constructor(handers: ReadonlyMap<number, readonly number[]>) {
    this.#handers = handers
  }

  static of(table: CandidateTable, rows: readonly number[]): Dedicated | null {
    if (table.dedicated.count === 0) return null
    const handers = new Map<number, number[]>()
    rows.forEach((row, position) => {
      if (table.dedicatedTo[row] === null) return
      handers.set(
        position,
        rows.flatMap((child, at) => (handsOut(table, child, row) ? [at] : [])),
      )
    })
    return handers.size === 0 ? null : new Dedicated(handers)
  }

  permits(giving: readonly number[]): boolean {
    return giving.every(position => this.#handers.get(position)?.some(at => giving.includes(at)) ?? true)
  }
}

/** Below 1.29: of each tree only one provider may give something. */
class OneOfTree {
  readonly root: readonly number[]
  #holder = new Map<number, number>()
  #holds: Int32Array

  constructor(table: CandidateTable, rows: readonly number[]) {
    this.root = rows.map(row => table.rootRow(row))
    this.#holds = new Int32Array(rows.length)
  }

  free(position: number): boolean {
    const holder = this.#holder.get(this.root[position]!)
    return holder === undefined || holder === position
  }

  held(position: number): boolean {
    return this.#holds[position]! > 0
  }

  hold(position: number, sign: 1 | -1): void {
    this.#holds[position]! += sign
    if (this.#holds[position] === 0) this.#holder.delete(this.root[position]!)
    else this.#holder.set(this.root[position]!, position)
  }
}
