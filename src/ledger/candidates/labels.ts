// Traits and aggregates: which rows carry a label, and the distinct sets of labels, each kept once.
//
// Thousands of providers carry the same few sets. Kept once, a set costs a provider one pointer, two providers with the
// same traits have the same object, and a search judges each set once instead of each provider.
import { type Row, RowSet } from './bitset.ts'

export interface LabelSet {
  readonly key: string
  readonly labels: readonly number[]
  /** The names as a JSON list. */
  readonly json: string
  users: number
  /** Sharing rows reachable through this set, see sharing.ts. */
  sharers: { at: number; rows: readonly number[] }
}

export class Labels {
  readonly names: string[] = []
  readonly rows: RowSet[] = []
  #index = new Map<string, number>()
  #sets = new Map<string, LabelSet>()
  readonly none: LabelSet = { key: '', labels: [], json: '[]', users: 1, sharers: { at: -1, rows: [] } }

  #last = this.none
  #lastNames: readonly string[] = []

  /** -1 when no row ever carried it. */
  find(name: string): number {
    return this.#index.get(name) ?? -1
  }

  rowsOf(name: string): RowSet | null {
    const index = this.find(name)
    return index < 0 ? null : this.rows[index]!
  }

  /** Moves a row from one set to another (both kept counted) and returns the new one. */
  change(row: Row, from: LabelSet, names: readonly string[], rowsMax: number): LabelSet {
    const to = this.#intern(names)
    if (to === from) return from
    for (const label of from.labels) if (!to.labels.includes(label)) this.rows[label]!.delete(row)
    for (const label of to.labels) this.rows[label]!.add(row, rowsMax)
    to.users++
    from.users--
    if (from.users === 0) this.#sets.delete(from.key)
    return to
  }

  #intern(names: readonly string[]): LabelSet {
    if (names.length === 0) return this.none
    // Most providers have the labels of the one before.
    if (this.#last.users > 0 && isSame(this.#lastNames, names)) return this.#last
    const set = this.#find(names)
    this.#last = set
    this.#lastNames = names
    return set
  }

  #find(names: readonly string[]): LabelSet {
    // In the given order, which answers keep. Snapshots always give equal sets in the same order.
    const distinct = names.length === 1 ? names : [...new Set(names)]
    const key = distinct.join(',')
    const known = this.#sets.get(key)
    if (known !== undefined) return known
    const labels = distinct.map(name => this.#label(name))
    const set = { key, labels, json: JSON.stringify(distinct), users: 0, sharers: { at: -1, rows: [] } }
    this.#sets.set(key, set)
    return set
  }

  #label(name: string): number {
    const known = this.#index.get(name)
    if (known !== undefined) return known
    this.#index.set(name, this.names.length)
    this.rows.push(new RowSet())
    return this.names.push(name) - 1
  }
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  if (some.length !== others.length) return false
  for (let i = 0; i < some.length; i++) if (some[i] !== others[i]) return false
  return true
}
