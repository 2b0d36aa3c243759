// /calendar/TOKEN.ics: a calendar for programs, which send no token of ours: the one in the path is the key.
// What it shows is decided anew at each reading, with the rights that its maker has then.
import { createHash } from 'node:crypto'
import { icalendarOf } from '../../calendars/icalendar.ts'
import {
  calendarWithHash,
  hashOf,
  isReadingNews,
  makerOf,
  noteReading,
  type PublishedCalendar,
} from '../../calendars/published.ts'
import { appointmentsOf, type Sight } from '../../calendars/shown.ts'
import type { Caller } from '../../identity/caller.ts'
import type { View } from '../../metal/access.ts'
import { findNode } from '../../metal/nodes/rows.ts'
import { Problem, problem } from '../../problems/problem.ts'
import type { Context } from '../../process/context.ts'
import { limits } from '../../shared/limits.ts'
import type { Operation } from '../operation.ts'
import type { Action } from '../policy.ts'
import { CREATE, ofUser } from './calendars.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

readCalendar.operation = {
  summary: 'Read a calendar as iCalendar, by the secret in its URL',
  answers: { 200: Type.String({ contentMediaType: 'text/calendar' }), 304: null },
} satisfies Operation

export async function readCalendar(request: OperatorRequest): Promise<Answer> {
  const { context, raw, now } = request
  const hash = hashOf(request.param('token'))
  const text = await guarded(context, hash, raw.ip, () => textOf(context, hash, now))
  // Never made, deleted, or its maker may no longer see it: nobody is told which.
  if (text === null) throw problem('route_not_found', {})
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`
  const headers = { etag, 'cache-control': 'private, no-cache' }
  if (isKnown(request.header('if-none-match'), etag)) return { status: 304, headers }
  return { status: 200, body: text, headers: { ...headers, 'content-type': 'text/calendar; charset=utf-8' } }
}

/** Counts what opens nothing, by address. */
async function guarded<T>(
  { calendarGuesses }: Context,
  hash: string,
  address: string,
  open: () => Promise<T | null>,
): Promise<T | null> {
  calendarGuesses.begin(hash, address)
  try {
    const opened = await open()
    if (opened !== null) calendarGuesses.succeeded(hash, address)
    return opened
  } catch (error) {
    calendarGuesses.withdrawn(hash, address)
    throw error
  }
}

const isKnown = (header: string | null, etag: string): boolean =>
  header !== null && header.split(',').some(one => ['*', etag].includes(one.trim().replace(/^W\//, '')))

async function textOf(context: Context, hash: string, now: number): Promise<string | null> {
  const { store, identity } = context
  const calendar = await store.read(() => calendarWithHash(hash))
  const maker = calendar && identity.standing(makerOf(calendar))
  const subject = calendar && maker ? await nameOf(context, calendar, maker) : null
  if (!calendar || !maker || subject === null) return null
  const sight = sightOf(context, maker)
  const { appointments, isCut } = await store.read(() => appointmentsOf(calendar, sight, now))
  if (isReadingNews(calendar, now)) await store.write(() => noteReading(calendar.id, now))
  const description = isCut ? `There is more: only ${limits.calendarAppointmentsMax} of each kind are shown` : null
  return icalendarOf({ name: `Holdfast: ${subject}`, description, appointments }, now)
}

/** The name of what the calendar is of; null if its maker may no longer have it. */
async function nameOf(context: Context, { kind, whose }: PublishedCalendar, maker: Caller): Promise<string | null> {
  const may = (target: object) => context.policy.allows(CREATE, maker, target)
  if (kind === 'project') {
    if (!may({ project: whose })) return null
    return `project ${whose === maker.project ? (maker.projectName ?? whose) : whose}`
  }
  if (kind === 'user') {
    if (!may(ofUser(whose, maker))) return null
    return `user ${whose === maker.user ? (maker.userName ?? whose) : whose}`
  }
  const node = await nodeOf(context, whose, maker)
  return node && may(node) ? `node ${node.name ?? node.uuid}` : null
}

async function nodeOf(context: Context, uuid: string, maker: Caller) {
  const { nodes: view } = sightOf(context, maker)
  try {
    return await context.store.read(() => findNode(uuid, { view, permit: () => {} }))
  } catch (error) {
    if (error instanceof Problem && error.kind === 'metal_not_found') return null
    throw error
  }
}

/** What the maker sees, by the rules of the APIs that show it. */
function sightOf({ policy }: Pick<Context, 'policy'>, maker: Caller): Sight {
  const { project } = maker
  const may = (action: Action, target: object) => policy.allows(action, maker, target)
  const viewOf = (seesAll: Action, get: Action): View | null => {
    if (may(seesAll, {}) && may(get, {})) return { all: 1, project }
    return may(get, { project }) ? { all: 0, project } : null
  }
  return {
    leases: viewOf('blazar:leases:list_all', 'blazar:leases:get'),
    allocations: viewOf('baremetal:node:list_all', 'baremetal:allocation:get'),
    nodes: { all: may('baremetal:node:list_all', {}) ? 1 : 0, project },
  }
}
