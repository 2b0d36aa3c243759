// What users and projects are called, asked once for each id.
import { createSignal } from 'solid-js'
import { forNext, server, viewer } from './session.ts'

const [known, setKnown] = createSignal<ReadonlyMap<string, string>>(new Map())
// Not everyone may know the same names.
forNext(() => setKnown(new Map()))

/** The name of a user or project, or the id itself when no name is known. */
export const nameOf = (id: string | null): string => (id === null ? '' : (known().get(id) ?? id))

/** Looks up the names of these, unless they are known. */
export async function learnNames(ids: Iterable<string | null>): Promise<void> {
  const unknown = [...new Set(ids)].filter((id): id is string => id !== null && !known().has(id))
  if (unknown.length === 0) return
  const by = viewer()
  const { users, projects } = await server().names.of(unknown)
  if (viewer() !== by) return
  setKnown(before => new Map([...before, ...unknown.map(id => [id, id] as const), ...users, ...projects]))
}
