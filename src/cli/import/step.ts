// One step of a plan, and the patches that turn the present state into the wanted one.
import { isDeepStrictEqual } from 'node:util'
import type { Json, Patch } from '../../client/index.ts'

export interface Step {
  kind: 'node' | 'provider' | 'host'
  action: 'create' | 'change' | 'unchanged'
  name: string
  /** The fields that change, or that a new thing gets. */
  fields: string[]
}

export const actionFor = (isNew: boolean, fields: readonly string[]): Step['action'] =>
  isNew ? 'create' : fields.length > 0 ? 'change' : 'unchanged'

/** The patches from `present` to `wanted`. Of `documents` only the named members change. */
export function patchesFor(wanted: Json, present: Json, documents: readonly string[]): Patch[] {
  return Object.entries(wanted).flatMap(([name, value]): Patch[] => {
    if (!documents.includes(name)) return isSame(value, present[name]) ? [] : [setting([name], value)]
    const before = (present[name] ?? {}) as Json
    return Object.entries(value as Json)
      .filter(([key, inner]) => !Object.hasOwn(before, key) || !isSame(inner, before[key]))
      .map(([key, inner]) => ({ op: 'add', path: pointer([name, key]), value: inner }))
  })
}

export const setting = (path: readonly string[], value: unknown): Patch =>
  value === null ? { op: 'remove', path: pointer(path) } : { op: 'add', path: pointer(path), value }

const isSame = (one: unknown, other: unknown) => isDeepStrictEqual(one ?? null, other ?? null)
export const isSameSet = (some: readonly string[], others: readonly string[]) =>
  isDeepStrictEqual(some.toSorted(), others.toSorted())

const pointer = (path: readonly string[]) =>
  path.map(part => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** The field that a patch changes, such as `driver_info.address`. */
export const fieldOf = ({ path }: Patch) =>
  path
    .slice(1)
    .split('/')
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.')
