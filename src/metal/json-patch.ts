// JSON patches for nodes, ports, allocations and the like: add, replace and remove, all or nothing.
import { limits } from '../shared/limits.ts'
import { problem } from '../problems/problem.ts'
import type { Json } from './drivers/port.ts'
import { isObject } from '../shared/is-object.ts'

export interface Patch {
  op: 'add' | 'replace' | 'remove'
  /** The attribute, then the keys below it. */
  path: readonly [string, ...string[]]
  value: unknown
}

const PATH = /^(\/[\w-]+)+$/
const OPS = new Set(['add', 'replace', 'remove'])

const refuse = (reason: string) => problem('invalid_parameter', { reason })

/** Parses a patch; throws a problem that says what is wrong with it. */
export function parsePatches(body: unknown): Patch[] {
  if (!Array.isArray(body)) throw refuse('A patch is a list of operations, each an object with op, path and value.')
  if (body.length > limits.patchesMax) throw refuse(`A patch has at most ${limits.patchesMax} operations.`)
  return body.map(parsePatch)
}

function parsePatch(given: unknown): Patch {
  if (!isObject(given)) throw refuse('An operation of a patch is an object with op, path and value.')
  const { op, path, value, ...others } = given
  if (Object.keys(others).length > 0)
    throw refuse(
      `An operation of a patch has no member ${Object.keys(others)[0]!.slice(0, 100)}, only op, path and value.`,
    )
  if (typeof op !== 'string' || !OPS.has(op))
    throw refuse(`The op ${JSON.stringify(op ?? null).slice(0, 100)} is not one of add, replace, remove.`)
  if (typeof path !== 'string' || !PATH.test(path))
    throw refuse(`The path ${JSON.stringify(path ?? null).slice(0, 100)} is not one such as /extra/rack.`)
  if (op !== 'remove' && value === undefined) throw refuse(`'add' and 'replace' operations need a value.`)
  const [, ...parts] = path.split('/')
  return { op: op as Patch['op'], path: parts as [string, ...string[]], value }
}

/** Returns a patched copy of the document. A removed attribute is undefined, which means its default. */
export function applyPatches(document: Json, patches: readonly Patch[]): Json {
  const after = structuredClone(document)
  for (const { op, path, value } of patches) {
    const [attribute, ...rest] = path
    if (rest.length === 0) after[attribute] = op === 'remove' ? undefined : structuredClone(value)
    else change(parentOf((after[attribute] ??= {}), rest, { op, path }), rest.at(-1)!, { op, path, value })
  }
  return after
}

function parentOf(root: unknown, way: readonly string[], { op, path }: Pick<Patch, 'op' | 'path'>): Json | unknown[] {
  let at = root
  for (const name of way.slice(0, -1)) {
    const next: unknown = Array.isArray(at)
      ? at[Number(name)]
      : isObject(at) && Object.hasOwn(at, name)
        ? at[name]
        : null
    if (next === undefined || next === null) throw missing(path, op)
    at = next
  }
  if (!isObject(at) && !Array.isArray(at)) throw missing(path, op)
  return at
}

function change(parent: Json | unknown[], name: string, { op, path, value }: Patch): void {
  if (Array.isArray(parent)) return changeItem(parent, name, { op, path, value })
  const isThere = Object.hasOwn(parent, name)
  if (op !== 'add' && !isThere) throw missing(path, op)
  if (op === 'remove') delete parent[name]
  // Not an assignment: `__proto__` is a key like any other here.
  else Object.defineProperty(parent, name, { value, enumerable: true, configurable: true, writable: true })
}

function changeItem(list: unknown[], name: string, { op, path, value }: Patch): void {
  if (op === 'add' && name === '-') return void list.push(value)
  const index = /^\d+$/.test(name) ? Number(name) : -1
  if (index < 0 || index > list.length || (op !== 'add' && index === list.length)) throw missing(path, op)
  if (op === 'add') list.splice(index, 0, value)
  else if (op === 'replace') list[index] = value
  else list.splice(index, 1)
}

// "can't remove a non-existent object" is what Ironic's clients look for.
const missing = (path: readonly string[], op: Patch['op']) =>
  refuse(`Couldn't apply the patch: can't ${op} a non-existent object, there is nothing at /${path.join('/')}.`)
