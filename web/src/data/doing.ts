// What the viewer does: sent to the server, told about, and taken back while it can be.
import { createSignal } from 'solid-js'
import { ApiError, Unreachable } from '../../../src/client/errors.ts'
import type { Holdfast } from '../../../src/client/index.ts'
import { words } from '../words.ts'
import { forNext, leave, server, viewer } from './session.ts'

interface Toast {
  id: number
  text: string
  kind: 'done' | 'refused'
  /** What can be done about it. */
  action: Action | null
  /** Where it can be seen. */
  show?: Action
}

interface Action {
  text: string
  act: () => void
}

/** How long something can be taken back. */
const UNDO_MS = 8_000
const TOASTS_MAX = 4

const [toasts, setToasts] = createSignal<readonly Toast[]>([])
export { toasts }
forNext(() => setToasts([]))

let newest = 0

export function tell(toast: Omit<Toast, 'id'>): number {
  const id = ++newest
  setToasts(all => [...all, { ...toast, id }].slice(-TOASTS_MAX))
  // A refusal stays until it is read.
  if (toast.kind === 'done') setTimeout(() => dismiss(id), UNDO_MS)
  return id
}

export const dismiss = (id: number) => setToasts(all => all.filter(toast => toast.id !== id))

/** Takes back the last thing that can be. */
export function undoLast(): void {
  const last = toasts().findLast(toast => toast.action?.text === words.doing.undo)
  last?.action?.act()
}

interface Deed {
  /** What was done, once it is: `Moved vision-benchmark to Thu`. */
  said: string
  act: (server: Holdfast) => Promise<unknown>
  /** The inverse, if there is one. */
  undo?: (server: Holdfast) => Promise<unknown>
  /** Where what was made can be seen. */
  show?: Action
}

/** Does it, and says so. False if it was refused: then the refusal is shown. */
export async function carryOut({ said, act, undo, show }: Deed): Promise<boolean> {
  const by = viewer()
  try {
    await act(server())
  } catch (error) {
    if (viewer() !== by) return false
    tell({ text: words.doing.refused(reasonOf(error)), kind: 'refused', action: null })
    return false
  }
  // Another one must not hear of it, and could take it back with rights of their own.
  if (viewer() === by) tellDone({ said, ...(undo && { undo }), ...(show && { show }) })
  return true
}

/** Says what was done, with a way back if there is one. */
export function tellDone({ said, undo, show }: Omit<Deed, 'act'>): void {
  const back = undo && { text: words.doing.undo, act: () => void takeBack(id, said, undo) }
  const id = tell({ text: said, kind: 'done', action: back ?? null, ...(show && { show }) })
}

async function takeBack(id: number, said: string, undo: (server: Holdfast) => Promise<unknown>): Promise<void> {
  // Another of the same words stays: it is about something else.
  dismiss(id)
  try {
    await undo(server())
    tell({ text: words.doing.undone(said), kind: 'done', action: null })
  } catch (error) {
    tell({ text: words.doing.notUndone(reasonOf(error)), kind: 'refused', action: null })
  }
}

/** Why something failed, in the server's words. A login that has ended leads to the login. */
export function reasonOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) void leave('ended')
  // Browsers don't tell why.
  if (error instanceof Unreachable) return words.doing.noAnswer
  return error instanceof Error ? error.message : String(error)
}
