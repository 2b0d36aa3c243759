// Rows that don't move under the hand: while the pointer or the focus is inside, order stays, rows that are gone stay as
// they were, and new ones wait.
import { type Accessor, createMemo, createSignal } from 'solid-js'

interface Steady<T> {
  keys: readonly string[]
  rows: ReadonlyMap<string, T>
  /** Those that are shown, and no longer there. */
  gone: ReadonlySet<string>
  /** How many changes of the list wait. */
  pending: number
}

const NONE: ReadonlySet<string> = new Set()

/** What is shown next, given what was shown and what there is. */
export function steadyOf<T>(before: Steady<T> | null, now: ReadonlyMap<string, T>, isHeld: boolean): Steady<T> {
  const keys = [...now.keys()]
  if (before === null || before.keys.length === 0 || !isHeld) {
    const isSame = before !== null && sameOrder(before.keys, keys)
    return { keys: isSame ? before.keys : keys, rows: now, gone: NONE, pending: 0 }
  }
  const rows = new Map(before.keys.map(key => [key, now.get(key) ?? before.rows.get(key)!]))
  const gone = new Set(before.keys.filter(key => !now.has(key)))
  const there = before.keys.filter(key => now.has(key))
  const known = keys.filter(key => rows.has(key))
  const moved = known.filter((key, at) => key !== there[at]).length
  return { keys: before.keys, rows, gone, pending: gone.size + (keys.length - known.length) + moved }
}

const sameOrder = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((key, at) => key === b[at])

interface Steadied<T> {
  steady: Accessor<Steady<T>>
  /** Shows what waits, though the hand is still there. */
  release: () => void
  /** For the element that holds the rows. */
  hold: {
    onPointerEnter: () => void
    onPointerLeave: () => void
    onFocusIn: () => void
    onFocusOut: (event: FocusEvent) => void
  }
}

export function createSteady<T>(rows: Accessor<readonly T[]>, keyOf: (row: T) => string): Steadied<T> {
  const [isPointed, setIsPointed] = createSignal(false)
  const [isFocused, setIsFocused] = createSignal(false)
  const steady = createMemo<Steady<T>>(
    before => steadyOf(before ?? null, new Map(rows().map(row => [keyOf(row), row])), isPointed() || isFocused()),
    undefined as unknown as Steady<T>,
  )
  const hold: Steadied<T>['hold'] = {
    onPointerEnter: () => setIsPointed(true),
    onPointerLeave: () => setIsPointed(false),
    onFocusIn: () => setIsFocused(true),
    onFocusOut: ({ currentTarget, relatedTarget }) =>
      setIsFocused(relatedTarget instanceof Node && (currentTarget as Node).contains(relatedTarget)),
  }
  const release = () => {
    setIsPointed(false)
    setIsFocused(false)
  }
  return { steady, hold, release }
}
