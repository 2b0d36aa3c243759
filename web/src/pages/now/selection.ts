// Which machines are selected: one by one, a range, a group with exceptions, or all that are shown.
import { type Accessor, createMemo, createSignal } from 'solid-js'
import type { Layout } from './groups.ts'

export type Marked = 'all' | 'some' | 'none'

export interface Selection {
  /** In the order of the page. What isn't shown any more isn't selected. */
  ids: Accessor<readonly string[]>
  has: (id: string) => boolean
  toggle: (id: string) => void
  /** All between the one that was chosen last and this one. */
  reach: (id: string) => void
  of: (ids: readonly string[]) => Marked
  /** Selects all of them; if they are already, none. */
  toggleAll: (ids: readonly string[]) => void
  clear: () => void
}

export function createSelection(layout: Accessor<Layout>): Selection {
  const [chosen, setChosen] = createSignal<ReadonlySet<string>>(new Set())
  let last: string | null = null
  const all = createMemo(() => layout().groups.flatMap(({ kind, ids }) => (kind === 'machines' ? ids : [])))
  const add = (ids: readonly string[]) => setChosen(before => new Set([...before, ...ids]))
  const of = (ids: readonly string[]) => markOf(ids, chosen())
  return {
    ids: createMemo(() => (chosen().size === 0 ? [] : all().filter(id => chosen().has(id)))),
    has: id => chosen().has(id),
    of,
    toggle(id) {
      last = id
      setChosen(before => toggledSet(before, id))
    },
    reach(id) {
      add(between(all(), last ?? id, id))
      last = id
    },
    toggleAll(ids) {
      if (of(ids) !== 'all') add(ids)
      else setChosen(before => before.difference(new Set(ids)))
    },
    clear() {
      last = null
      setChosen(new Set<string>())
    },
  }
}

export function markOf(ids: readonly string[], chosen: ReadonlySet<string>): Marked {
  if (chosen.size === 0 || ids.length === 0) return 'none'
  let count = 0
  for (const id of ids) if (chosen.has(id)) count++
  return count === 0 ? 'none' : count === ids.length ? 'all' : 'some'
}

function toggledSet(before: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const after = new Set(before)
  if (!after.delete(id)) after.add(id)
  return after
}

/** From one to the other, both included, whichever comes first. */
export function between(all: readonly string[], from: string, to: string): readonly string[] {
  const [one, other] = [all.indexOf(from), all.indexOf(to)]
  if (one < 0 || other < 0) return other < 0 ? [] : [to]
  return all.slice(Math.min(one, other), Math.max(one, other) + 1)
}
