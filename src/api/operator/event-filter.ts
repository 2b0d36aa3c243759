// Which events a client asks for, and from where on.
import { type Cursor, cursorIn, type HoldfastEvent } from '../../events/event.ts'
import { type EventKind, isQuiet, KINDS } from '../../events/kinds.ts'
import { problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import { check } from '../schema.ts'
import type { OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const Word = Type.Optional(Type.String({ minLength: 1, maxLength: 8_192 }))

export const parameters = check(
  Type.Object(
    { after: Word, kind: Word, object: Word, project: Word, limit: Word, wait: Word, ticket: Word },
    { additionalProperties: false },
  ),
)

export interface EventFilter {
  /** The kinds to be read from the log. */
  readonly kinds: ReadonlySet<EventKind>
  readonly matches: (event: HoldfastEvent) => boolean
  /** Null for from now on. */
  readonly after: Cursor | null
  readonly limit: number
  readonly waitMs: number
}

const refuse = (reason: string) => problem('invalid_query', { reason })

export function eventFilterOf(request: OperatorRequest): EventFilter {
  const given = request.checkedQuery(parameters)
  const types = typesIn(given.kind)
  const objects = given.object === undefined ? null : new Set(listed('object', given.object))
  const { project } = given
  const isMeant = ({ kind, object, data }: HoldfastEvent) => {
    const name = data['name']
    const words = [object, ...(typeof name === 'string' ? [name] : [])]
    return objects === null || words.some(word => objects.has(word) || objects.has(`${kind}/${word}`))
  }
  const matches = (event: HoldfastEvent) =>
    (types.get(event.kind)?.has(event.became) ?? false) &&
    isMeant(event) &&
    (project === undefined || [event.whose.project, event.whose.owner, event.whose.lessee].includes(project))
  // A browser that comes back repeats the URL of its first time, and says in the header where it is now.
  const after = request.header('last-event-id') || given.after
  return {
    kinds: new Set(types.keys()),
    matches,
    after: after === undefined ? null : cursorOf(after),
    limit: given.limit === undefined ? limits.eventsPerPageMax : limitOf(given.limit),
    waitMs: given.wait === undefined ? 0 : waitMsOf(given.wait),
  }
}

function cursorOf(text: string): Cursor {
  const cursor = cursorIn(text)
  if (cursor) return cursor
  throw refuse(`'${text.slice(0, 100)}' is no cursor: it is the id of an event, or 0 for all that is kept.`)
}

function limitOf(text: string): number {
  const limit = /^[0-9]{1,9}$/.test(text) ? Number(text) : 0
  if (limit < 1) throw refuse(`limit must be a number from 1 to ${limits.eventsPerPageMax}.`)
  return Math.min(limit, limits.eventsPerPageMax)
}

function waitMsOf(text: string): number {
  const found = /^([0-9]{1,5})(s|ms)?$/.exec(text)
  const ms = found ? Number(found[1]) * (found[2] === 'ms' ? 1 : 1_000) : -1
  if (ms >= 0 && ms <= limits.eventWaitMsMax) return ms
  throw refuse(`wait must be a time such as 30s, and at most ${limits.eventWaitMsMax / 1_000}s.`)
}

function listed(name: string, text: string): string[] {
  const words = text.split(',').map(word => word.trim())
  if (words.includes('')) throw refuse(`${name} has an empty name in its list.`)
  if (words.length <= limits.eventFilterMax) return words
  throw refuse(`${name} can name at most ${limits.eventFilterMax}.`)
}

const table: Readonly<Record<string, { readonly became: Readonly<Record<string, string>> }>> = KINDS
const all = Object.keys(KINDS) as EventKind[]

/** What each kind may become to be told. Without a choice all but the quiet kinds. */
function typesIn(text: string | undefined): ReadonlyMap<EventKind, ReadonlySet<string>> {
  const types = new Map<EventKind, Set<string>>()
  const words = text === undefined ? all.filter(kind => !isQuiet(kind)) : listed('kind', text)
  for (const word of words) {
    const [name = '', became, ...rest] = word.replace(/^holdfast\./, '').split('.')
    const kind = all.find(one => one === name)
    if (!kind) throw refuse(`There is no kind '${name.slice(0, 100)}'; there are ${all.join(', ')}.`)
    const known = Object.keys(table[kind]!.became)
    if (rest.length > 0 || (became !== undefined && !known.includes(became))) {
      throw refuse(`There is no type '${word.slice(0, 100)}'; of ${kind} there are ${known.join(', ')}.`)
    }
    const wanted = types.getOrInsertComputed(kind, () => new Set())
    for (const one of became === undefined ? known : [became]) wanted.add(one)
  }
  return types
}
