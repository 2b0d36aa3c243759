// /calendars: calendars to subscribe to, of a user, a project or a node. The URL of one is shown once, when it is made.
import {
  deleteCalendar,
  hashOf,
  listCalendars,
  publishCalendar,
  type PublishedCalendar,
} from '../../calendars/published.ts'
import { findNode } from '../../metal/nodes/rows.ts'
import { jsonText } from '../../shared/json.ts'
import { limits } from '../../shared/limits.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { named, orNull, Text, Uuid } from '../shapes.ts'
import type { OperatorAction } from './policy.ts'
import { type Answer, inMetal, type OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const Id = Type.String({ minLength: 1, maxLength: limits.nameCharsMax })
const Of = Type.Object(
  { user: Type.Optional(Id), project: Type.Optional(Id), node: Type.Optional(Id) },
  { additionalProperties: false, minProperties: 1, maxProperties: 1 },
)
const wanted = check(Type.Object({ of: Type.Optional(Of) }, { additionalProperties: false }))

const SHOWN = {
  id: Uuid,
  of: Of,
  user: Text,
  project: orNull(Text),
  created_at: Text,
  last_read_at: orNull(Text),
}
const Shown = named('Calendar', SHOWN)
const ShownOnce = named('NewCalendar', { ...SHOWN, url: Text })

const shown = ({ id, kind, whose, user_id, project_id, created_at, last_read_at }: PublishedCalendar) => ({
  id,
  of: { [kind]: whose },
  user: user_id,
  project: project_id,
  created_at: new Date(created_at).toISOString(),
  last_read_at: last_read_at === null ? null : new Date(last_read_at).toISOString(),
})

export const CREATE = 'holdfast:calendars:create' satisfies OperatorAction
const LIST_ALL = 'holdfast:calendars:list_all' satisfies OperatorAction

postCalendar.operation = {
  summary: 'Make a calendar of a user, a project or a node; without a body, of the caller',
  description: 'The url is shown only here. Whoever has it can read the calendar, without a token.',
  body: [wanted],
  bodyIsOptional: true,
  answers: { 201: ShownOnce },
} satisfies Operation

export async function postCalendar(request: OperatorRequest): Promise<Answer> {
  const { context, caller, now } = request
  const { of = { user: request.user } } = request.hasBody ? request.body(wanted) : {}
  const subject = await subjectOf(request, of)
  const token = context.clock.newSecret(limits.calendarTokenBytes).toString('base64url')
  const calendar: PublishedCalendar = {
    id: context.clock.newUuid(),
    token_hash: hashOf(token),
    ...subject,
    auth: context.config.auth,
    user_id: request.user,
    project_id: caller.project,
    roles: jsonText([...caller.roles]),
    created_at: now,
    last_read_at: null,
  }
  await context.store.write(() => publishCalendar(calendar))
  const url = `${request.base}/calendar/${token}.ics`
  return { status: 201, body: { ...shown(calendar), url }, headers: { 'cache-control': 'no-store' } }
}

/** What the calendar is of. Throws unless the caller may have it. */
async function subjectOf(
  request: OperatorRequest,
  { user, project, node }: { user?: string; project?: string; node?: string },
): Promise<Pick<PublishedCalendar, 'kind' | 'whose'>> {
  if (node !== undefined) {
    const access = inMetal(request).access([CREATE])
    return { kind: 'node', whose: (await request.context.store.read(() => findNode(node, access))).uuid }
  }
  if (project !== undefined) {
    request.requireAllowed(CREATE, { project })
    return { kind: 'project', whose: project }
  }
  request.requireAllowed(CREATE, ofUser(user!, { user: request.user, project: request.caller.project }))
  return { kind: 'user', whose: user! }
}

/** A user's own calendar has what they made in their project; of others only those who see all projects may have one. */
export const ofUser = (whose: string, { user, project }: { user: string; project: string | null }) =>
  whose === user ? { project } : {}

getCalendars.operation = {
  summary: "List the calendars that were made in the caller's project; for admins, all",
  answers: { 200: Type.Object({ calendars: Type.Array(Shown) }) },
} satisfies Operation

export async function getCalendars(request: OperatorRequest): Promise<Answer> {
  const found = await request.context.store.read(() => listCalendars(visibleTo(request)))
  return { status: 200, body: { calendars: found.map(shown) } }
}

deleteOneCalendar.operation = {
  summary: 'Delete a calendar: its URL opens nothing any more',
  answers: { 204: null },
} satisfies Operation

export async function deleteOneCalendar(request: OperatorRequest): Promise<Answer> {
  await request.context.store.write(() => deleteCalendar(request.param('id'), visibleTo(request)))
  return { status: 204 }
}

/** The project that the caller is limited to; null for none. */
const visibleTo = (request: OperatorRequest) =>
  request.may(LIST_ALL, {}) && request.may(request.route!.action!, {}) ? null : request.project
