// /v1/reservations: nodes held for a while.
import { canonicalUuid } from '../../ledger/uuid.ts'
import { limits } from '../../shared/limits.ts'
import type { Json } from '../../metal/drivers/port.ts'
import { parsePatches } from '../../metal/json-patch.ts'
import * as holds from '../../metal/holds/lifecycle.ts'
import { problem } from '../../problems/problem.ts'
import { futureInstant } from '../instants.ts'
import type { Operation } from '../operation.ts'
import { named, orNull, Text, TextOrNull, Uuid } from '../shapes.ts'
import { nodeUuid } from './allocations.ts'
import { asText, is, isText, isTime, isUuid, listShape, membersIn, membersOf, PATCH } from './collection.ts'
import { Links, linksTo, shownTime, Time } from './links.ts'
import { nextLink, pagingOf, parsePaging } from './paging.ts'
import { type Answer, type MetalRequest, ownerOr, parametersOf } from './request.ts'
import { Type } from '../../shared/type.ts'
import { unexpected } from '../wanted.ts'
import { expected } from '../../shared/expected.ts'

const refuse = (reason: string) => problem('invalid_parameter', { reason })

export const shownReservation = (row: Omit<holds.HeldNode, 'id'>, { base, context }: MetalRequest): Json => ({
  uuid: row.uuid,
  node_uuid: row.node_uuid,
  node_name: row.node_name,
  instance_uuid: row.instance_uuid,
  owner: row.owner,
  owner_name: row.owner && context.names.project(row.owner),
  expires_at: shownTime(row.expires_at),
  created_at: shownTime(row.created_at),
  updated_at: shownTime(row.updated_at),
  links: linksTo(base, `reservations/${row.uuid}`),
})

const Shown = named('Reservation', {
  uuid: Uuid,
  node_uuid: Uuid,
  node_name: TextOrNull,
  instance_uuid: Uuid,
  owner: TextOrNull,
  owner_name: TextOrNull,
  expires_at: Time,
  created_at: Time,
  updated_at: orNull(Time),
  links: Links,
})
export const OneReservation = Type.Object({ reservation: Shown })

const { schema: Ident } = isText()
const isNodeList = is(
  Type.Union([Ident, Type.Array(Ident, { minItems: 1, maxItems: limits.reservationNodesMax })], {
    description: `The name or UUID of a node, or a list of 1 to ${limits.reservationNodesMax} of them.`,
  }),
  value =>
    isText()(value) || (Array.isArray(value) && value.length <= limits.reservationNodesMax && value.every(isText())),
)
export const NEW_RESERVATION = membersOf(
  'NewReservation',
  { uuid: isUuid, instance_uuid: isUuid, node_uuid: isNodeList, owner: isText(), expires_at: isTime },
  { required: ['instance_uuid', 'node_uuid'] },
)
const RENEWAL = membersOf('Renewal', { expires_at: isTime })

/** When a hold ends: after the default time, or when the client says, up to the maximum. */
function expiryOf(request: MetalRequest, given: unknown): number {
  const { context, now } = request
  const { reservationMs, reservationMaxMs } = context.config
  if (given === undefined) return now + reservationMs
  const at = futureInstant('expires_at', given, now)
  if (at > now + reservationMaxMs) {
    throw refuse(`Invalid value for expires_at: a reservation lasts at most ${reservationMaxMs / 1_000} seconds.`)
  }
  return at
}

/** The hold that the body asks for, checked. */
export function newReservationOf(request: MetalRequest): holds.NewHold {
  const { context } = request
  const body = membersIn(request, NEW_RESERVATION)
  if (body['instance_uuid'] === undefined)
    throw refuse("'instance_uuid' is mandatory: the UUID of the instance that the node is kept for.")
  const nodes = [body['node_uuid'] ?? []].flat() as string[]
  if (nodes.length === 0) throw refuse(unexpected(isNodeList.schema, 'node_uuid', nodes))
  return {
    uuid: canonicalUuid(asText(body['uuid']) ?? '') ?? context.clock.newUuid(),
    instance: canonicalUuid(body['instance_uuid'] as string)!,
    nodes,
    owner: ownerOr(request, asText(body['owner']), 'baremetal:reservation:create_for_others'),
    expiresAt: expiryOf(request, body['expires_at']),
  }
}

postReservation.operation = {
  summary: 'Hold the first of some nodes that is free, for a while',
  body: [NEW_RESERVATION],
  answers: { 201: OneReservation },
} satisfies Operation

export async function postReservation(request: MetalRequest): Promise<Answer> {
  const { context, principal, now } = request
  const wanted = newReservationOf(request)
  const access = request.access()
  const row =
    (await context.grants.hold(wanted, access.view, principal)) ??
    (await context.store.write(() => holds.createHold(wanted, access, principal, now)))
  return { status: 201, location: `/reservations/${row.uuid}`, body: { reservation: shownReservation(row, request) } }
}

const SORT_KEYS = ['id', 'created_at'] as const
const LIST_PARAMETERS = parametersOf({ ...pagingOf(SORT_KEYS), node: Text, instance_uuid: Uuid, owner: Text })

listAllReservations.operation = {
  summary: 'List the reservations that match',
  query: [LIST_PARAMETERS],
  answers: { 200: listShape('reservations', Shown) },
} satisfies Operation

export async function listAllReservations(request: MetalRequest): Promise<Answer> {
  const { context, now } = request
  const access = request.access()
  const given = request.parameters(LIST_PARAMETERS)
  const paging = parsePaging(given, SORT_KEYS)
  const instance = given.get('instance_uuid')
  const instance_uuid = instance === undefined ? null : canonicalUuid(instance)
  if (instance !== undefined && instance_uuid === null) throw refuse(expected('a UUID', 'instance_uuid', instance))
  const rows = await context.store.read(function* () {
    const node = given.get('node')
    const node_uuid = node === undefined ? null : yield* nodeUuid(node, access)
    const filter = { node_uuid, instance_uuid, owner: given.get('owner') ?? null }
    return yield* holds.listHolds(filter, paging, access, now)
  })
  const page = rows.slice(0, paging.limit)
  const body: Json = { reservations: page.map(row => shownReservation(row, request)) }
  if (rows.length > page.length) body['next'] = nextLink(request, 'reservations', paging.limit, page.at(-1)!.uuid)
  return { status: 200, body }
}

function uuidOf(request: MetalRequest): string {
  const uuid = canonicalUuid(request.param('uuid'))
  if (uuid === null) throw problem('metal_not_found', { what: 'Reservation', name: request.param('uuid') })
  return uuid
}

showReservation.operation = { summary: 'Show a reservation', answers: { 200: OneReservation } } satisfies Operation

export async function showReservation(request: MetalRequest): Promise<Answer> {
  const { context, now } = request
  const row = await context.store.read(() => holds.findHold(uuidOf(request), request.access(), now))
  return { status: 200, body: { reservation: shownReservation(row, request) } }
}

putReservation.operation = {
  summary: 'Renew a reservation',
  body: [RENEWAL],
  answers: { 200: OneReservation },
} satisfies Operation

export async function putReservation(request: MetalRequest): Promise<Answer> {
  return renew(request, membersIn(request, RENEWAL)['expires_at'])
}

patchReservation.operation = {
  summary: 'Set the end of a reservation',
  body: [PATCH],
  answers: { 200: OneReservation },
} satisfies Operation

export async function patchReservation(request: MetalRequest): Promise<Answer> {
  const patches = parsePatches(request.json(PATCH))
  const wrong = patches.find(({ op, path }) => path.join('/') !== 'expires_at' || op === 'remove')
  if (wrong) throw refuse(`Cannot patch /${wrong.path.join('/').slice(0, 200)}. Only expires_at can be set.`)
  return renew(request, patches.at(-1)?.value)
}

/** Without a time, the hold lasts as long as a new one. */
async function renew(request: MetalRequest, given: unknown): Promise<Answer> {
  const { context, now } = request
  const expiresAt = expiryOf(request, given ?? undefined)
  const row = await context.store.write(() => holds.renewHold(uuidOf(request), request.access(), expiresAt, now))
  return { status: 200, body: { reservation: shownReservation(row, request) } }
}

deleteOneReservation.operation = { summary: 'End a reservation', answers: { 204: null } } satisfies Operation

export async function deleteOneReservation(request: MetalRequest): Promise<Answer> {
  const { context, now } = request
  await context.store.write(() => holds.deleteHold(uuidOf(request), request.access(), now))
  return { status: 204 }
}
