// /v1/allocations
import { canonicalUuid } from '../../ledger/uuid.ts'
import { limits } from '../../shared/limits.ts'
import { type AllocationFilter, allocationParts, listAllocations, SORT_KEYS } from '../../metal/allocations/list.ts'
import { keeperName, keptUntil } from '../../metal/allocations/keeping.ts'
import { createAllocation } from '../../metal/allocations/lifecycle.ts'
import * as allocations from '../../metal/allocations/rows.ts'
import { type Access, seeing } from '../../metal/access.ts'
import type { Json } from '../../metal/drivers/port.ts'
import { NOBODY } from '../../metal/nodes/provider.ts'
import { findNode } from '../../metal/nodes/rows.ts'
import { requireTraitNames } from '../../metal/nodes/traits.ts'
import { Problem, problem } from '../../problems/problem.ts'
import { MEMBERS, TEXTS, StoredJson } from '../../shared/json.ts'
import { readInParts } from '../../http/written.ts'
import type { Write } from '../../store/transaction.ts'
import { futureInstant } from '../instants.ts'
import type { Operation } from '../operation.ts'
import { Document, from, named, oneOf, orNull, Text, TextOrNull, Uuid } from '../shapes.ts'
import { isClass, isKeeper, isList, isName, isNote } from './allocation-checks.ts'
import {
  asText,
  FIELDS_PARAMETER,
  Fields,
  inPart,
  isDocument,
  isText,
  isTime,
  isUuid,
  listShape,
  unknownField,
  membersIn,
  membersOf,
} from './collection.ts'
import { Links, linksTo, shownTime, Time } from './links.ts'
import { nodeIdent } from './nodes.ts'
import { nextLink, pagingOf, parsePaging } from './paging.ts'
import { type Answer, type MetalRequest, ownerOr, parametersOf } from './request.ts'
import { since, type Word } from './versions.ts'
import { Type } from '../../shared/type.ts'
import { unexpected } from '../wanted.ts'

export const refuse = (reason: string) => problem('invalid_parameter', { reason })

/** The fields that came with a later version. */
const SINCE: Record<string, Word> = {
  node: 'allocationBackfill',
  owner: 'allocationOwner',
  expires_at: 'allocationTimes',
  wait_until: 'allocationTimes',
  keeper: 'allocationKeeper',
  planned_end: 'allocationKeeper',
  ending: 'allocationKeeper',
  note: 'allocationNote',
  user: 'allocationNames',
  user_name: 'allocationNames',
  project: 'allocationNames',
  project_name: 'allocationNames',
  node_name: 'allocationNames',
}

type Shown = Omit<allocations.Allocation, 'id'>

export function shownAllocation(row: Shown, { base, has, context }: MetalRequest): Json {
  const { names, fleet } = context
  const known = (id: string) => (id === NOBODY.project ? null : id)
  const [user, project] = [known(row.user_id), known(row.project_id)]
  const all: Json = {
    uuid: row.uuid,
    name: row.name,
    node_uuid: row.node_uuid,
    node_name: (row.node_uuid !== null && fleet.withUuid(row.node_uuid)?.name) || null,
    resource_class: row.resource_class,
    state: row.state,
    last_error: row.last_error,
    traits: new StoredJson(row.traits, TEXTS),
    candidate_nodes: new StoredJson(row.candidate_nodes, TEXTS),
    extra: new StoredJson(row.extra, MEMBERS),
    owner: row.owner,
    expires_at: shownTime(row.expires_at),
    wait_until: shownTime(row.wait_until),
    keeper: row.keeper === null ? null : keeperName(row.keeper),
    planned_end: shownTime(row.planned_end),
    ending: shownEnding(row),
    note: row.note,
    user,
    user_name: user && names.user(user),
    project,
    project_name: project && names.project(project),
    created_at: shownTime(row.created_at),
    updated_at: shownTime(row.updated_at),
    links: linksTo(base, `allocations/${row.uuid}`),
  }
  for (const [name, word] of Object.entries(SINCE)) if (!has[word]) delete all[name]
  return all
}

const shownEnding = (row: Shown) =>
  row.ending_at === null
    ? null
    : {
        by: row.ending_by,
        message: row.ending_message,
        at: shownTime(row.ending_at),
        until: shownTime(keptUntil(row)),
      }

const Ending = Type.Object({ by: Text, message: TextOrNull, at: Time, until: Time })

export const AllocationShape = named('Allocation', {
  uuid: Uuid,
  name: TextOrNull,
  node_uuid: orNull(Uuid),
  node_name: from(since('allocationNames'), TextOrNull),
  resource_class: TextOrNull,
  state: oneOf(...allocations.STATES),
  last_error: TextOrNull,
  traits: Type.Array(Text),
  candidate_nodes: Type.Array(Text),
  extra: Document,
  owner: from(since('allocationOwner'), TextOrNull),
  expires_at: from(since('allocationTimes'), orNull(Time)),
  wait_until: from(since('allocationTimes'), orNull(Time)),
  keeper: from(since('allocationKeeper'), TextOrNull),
  planned_end: from(since('allocationKeeper'), orNull(Time)),
  ending: from(since('allocationKeeper'), orNull(Ending)),
  note: from(since('allocationNote'), TextOrNull),
  user: from(since('allocationNames'), TextOrNull),
  user_name: from(since('allocationNames'), TextOrNull),
  project: from(since('allocationNames'), TextOrNull),
  project_name: from(since('allocationNames'), TextOrNull),
  created_at: Time,
  updated_at: orNull(Time),
  links: Links,
})
const FIELDS = new Set(Object.keys(AllocationShape.properties))

function chosenFields(request: MetalRequest, given: string | undefined): (all: Json) => Json {
  if (given === undefined) return all => all
  const names = new Set(given.split(',').map(name => name.trim()))
  for (const name of names) {
    if (!FIELDS.has(name)) throw refuse(unknownField(name, FIELDS))
    requireMember(request, name)
  }
  names.add('links')
  return all => Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)))
}

export function requireMember(request: MetalRequest, name: string): void {
  const word = SINCE[name]
  if (word) request.require(word, `The field ${name}`)
}

export const NEW_ALLOCATION = membersOf(
  'NewAllocation',
  {
    uuid: isUuid,
    name: isName,
    resource_class: isClass,
    traits: isList(limits.allocationTraitsMax),
    candidate_nodes: isList(limits.candidateNodesMax),
    extra: isDocument,
    owner: isText(),
    node: isText(),
    expires_at: isTime,
    wait_until: isTime,
    keeper: isKeeper,
    planned_end: isTime,
    note: isNote,
  },
  { needs: SINCE },
)

/** The allocation that the body asks for, checked. */
export function newAllocationOf(request: MetalRequest): allocations.AllocationRequest {
  const { context, now } = request
  const body = membersIn(request, NEW_ALLOCATION)
  if (body['node'] !== undefined && !request.has.allocationBackfill) {
    // All other members of later versions are 406.
    throw refuse(`Cannot set node in this API version: allocations of a node came with ${since('allocationBackfill')}.`)
  }
  for (const name of Object.keys(body)) requireMember(request, name)
  const traits = [...new Set((body['traits'] as string[] | undefined) ?? [])]
  requireTraitNames(traits)
  const time = (name: string) => (body[name] === undefined ? null : futureInstant(name, body[name], now))
  const node = asText(body['node'])
  const resourceClass = asText(body['resource_class'])
  const candidates = (body['candidate_nodes'] as string[] | undefined) ?? null
  if (resourceClass === null && node === null)
    throw refuse("'resource_class' is mandatory, if no node is named: the class of the nodes to choose from.")
  if (node !== null && candidates !== null) throw refuse('candidate_nodes can not be used together with node.')
  const keeper = asText(body['keeper'])
  if (keeper !== null && body['expires_at'] === undefined) throw refuse('An allocation with a keeper needs expires_at.')
  if (keeper !== null && node !== null) throw refuse('keeper can not be used together with node.')
  const givenUuid = canonicalUuid(asText(body['uuid']) ?? '')
  return {
    uuid: givenUuid ?? context.clock.newUuid(),
    givenUuid,
    name: asText(body['name']),
    resourceClass,
    traits,
    candidates: candidates?.length ? candidates : null,
    node,
    extra: (body['extra'] as Json | undefined) ?? {},
    owner: ownerOr(request, asText(body['owner']), 'baremetal:allocation:create_for_others'),
    waitUntil: time('wait_until'),
    expiresAt: time('expires_at'),
    keeper,
    plannedEnd: time('planned_end'),
    note: asText(body['note']),
    requestId: request.id,
  }
}

/** The routing of a new allocation. After the commit, `isGranted` tells whether this process already granted a node. */
export function routingOf({ context: { config, clock, allocator } }: Pick<MetalRequest, 'context'>) {
  const routing = {
    takeOverMs: config.takeOverMs,
    seed: clock.newSeed(),
    isGranted: false,
    attempt:
      allocator &&
      function* (row: allocations.AllocationRow, now: number): Write<void> {
        routing.isGranted = yield* allocator.attempt(row, now)
      },
  }
  return routing
}

const AllocationRow = inPart(AllocationShape)

postAllocation.operation = {
  summary: 'Ask for a node',
  description: 'The answer comes before a node was found: ask for the allocation until its state is active or error.',
  body: [NEW_ALLOCATION],
  answers: { 201: AllocationShape },
} satisfies Operation

export async function postAllocation(request: MetalRequest): Promise<Answer> {
  const { context, principal, now } = request
  const wanted = newAllocationOf(request)
  const routing = routingOf(request)
  const granted = await context.grants.allocate(wanted, principal)
  const row = granted
    ? { ...granted, node_uuid: null }
    : await context.store.write(() => createAllocation(wanted, request.access(), principal, routing, now))
  if (granted || routing.isGranted) context.metrics.allocated('active', context.clock.now() - now)
  return { status: 201, location: `/allocations/${row.uuid}`, body: shownAllocation(row, request) }
}

const STATE = oneOf(...allocations.STATES)
const LIST_PARAMETERS = parametersOf({
  ...pagingOf(SORT_KEYS),
  fields: Fields,
  node: Text,
  resource_class: Text,
  state: STATE,
  owner: from(since('allocationOwner'), Text),
})

listAllAllocations.operation = {
  summary: 'List the allocations that match',
  query: [LIST_PARAMETERS],
  answers: { 200: listShape('allocations', AllocationRow) },
} satisfies Operation

export async function listAllAllocations(request: MetalRequest): Promise<Answer> {
  const { context } = request
  const given = request.parameters(LIST_PARAMETERS)
  if (given.has('owner')) request.require('allocationOwner', 'The filter owner')
  const paging = parsePaging(given, SORT_KEYS)
  const choose = chosenFields(request, given.get('fields'))
  const filter = filterOf(given)
  const { rows, marker } = await context.store.read(function* () {
    const node = given.get('node')
    const node_uuid = node === undefined ? null : yield* nodeUuid(node, request.access())
    return yield* listAllocations({ ...filter, node_uuid }, paging, request.access())
  })
  const parts = allocationParts(context.store, rows)
  const shown = readInParts(rows.bytes, parts, row => choose(shownAllocation(row, request)))
  const next = marker === null ? {} : { next: nextLink(request, 'allocations', paging.limit, marker) }
  return { status: 200, body: { allocations: shown, ...next } }
}

function filterOf(given: ReadonlyMap<string, string>): Omit<AllocationFilter, 'node_uuid'> {
  const [state = null, resource_class = null, owner = null] = ['state', 'resource_class', 'owner'].map(name =>
    given.get(name),
  )
  if (state !== null && !allocations.STATES.has(state)) throw refuse(unexpected(STATE, 'state', state))
  if (resource_class !== null && !isClass(resource_class))
    throw refuse(unexpected(isClass.schema, 'resource_class', resource_class))
  return { state, resource_class, owner }
}

/** In a filter, an unknown node is a bad request, not a 404. */
export function* nodeUuid(ident: string, access: Access) {
  try {
    return (yield* findNode(ident, seeing(access))).uuid
  } catch (error) {
    if (error instanceof Problem && error.kind === 'metal_not_found')
      throw refuse(`Node ${ident.slice(0, 300)} could not be found.`)
    throw error
  }
}

showAllocation.operation = {
  summary: 'Show an allocation',
  query: [FIELDS_PARAMETER],
  answers: { 200: AllocationRow },
} satisfies Operation

export async function showAllocation(request: MetalRequest): Promise<Answer> {
  const { context } = request
  const choose = chosenFields(request, request.parameters(FIELDS_PARAMETER).get('fields'))
  const row = await context.store.read(() => allocations.findAllocation(request.param('ident'), request.access()))
  return { status: 200, body: choose(shownAllocation(row, request)) }
}

showAllocationOfNode.operation = {
  summary: 'Show the allocation that has a node',
  query: [FIELDS_PARAMETER],
  answers: { 200: AllocationRow },
} satisfies Operation

export async function showAllocationOfNode(request: MetalRequest): Promise<Answer> {
  const { context } = request
  const choose = chosenFields(request, request.parameters(FIELDS_PARAMETER).get('fields'))
  const row = await context.store.read(() => allocations.allocationOfNode(nodeIdent(request), request.access()))
  return { status: 200, body: choose(shownAllocation(row, request)) }
}
