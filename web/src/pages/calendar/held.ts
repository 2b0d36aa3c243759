// Rows that don't come and go under the hand, and what the viewer folded. What the viewer asks for is shown at once; what
// others do waits while the pointer or the focus is on the rows.
import { type Accessor, createMemo, createSignal } from 'solid-js'
import { changesBetween, type Folds, type Row } from './rows.ts'

interface HeldOptions<T> {
  rows: Accessor<readonly T[]>
  /** Whether two lists look the same. */
  same: (a: readonly T[], b: readonly T[]) => boolean
  /** What was asked for: when it is another, rows are too. */
  question: Accessor<readonly unknown[]>
}

interface Shown<T> {
  rows: readonly T[]
  question: readonly unknown[]
  refreshed: number
}

export function createHeld<T extends { key: string }>({ rows, same, question }: HeldOptions<T>) {
  const [isHeld, hold] = createSignal(false)
  const [refreshed, setRefreshed] = createSignal(0)
  const live = createMemo(rows, [], { equals: same })
  const shown = createMemo<Shown<T> | null>(before => {
    const fresh = { rows: live(), question: question(), refreshed: refreshed() }
    const isAsked =
      before === null ||
      before.rows.length === 0 ||
      before.refreshed !== fresh.refreshed ||
      before.question.some((part, at) => part !== fresh.question[at])
    return isAsked || !isHeld() ? fresh : before
  }, null)
  return {
    rows: () => shown()?.rows ?? [],
    /** How many rows would come or go. */
    waiting: createMemo(() => (isHeld() ? changesBetween(shown()?.rows ?? [], live()) : 0)),
    hold,
    refresh: () => setRefreshed(times => times + 1),
  }
}

/** Kept while the dashboard is open: whoever comes back finds the rows as they were. */
const [folds, setFolds] = createSignal<Folds>({ open: new Map(), quiet: new Set() })

export const createFolds = () => ({
  folds,
  fold: ({ key }: Row, isOpen: boolean) =>
    setFolds(({ open, quiet }) => ({ open: new Map([...open, [key, isOpen]]), quiet })),
  showQuiet: ({ key }: Row) =>
    setFolds(({ open, quiet }) => ({ open, quiet: quiet.symmetricDifference(new Set([key])) })),
})
