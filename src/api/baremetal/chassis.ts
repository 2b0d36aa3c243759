// /v1/chassis
import {
  changeChassis,
  type Chassis,
  createChassis,
  deleteChassis,
  findChassis,
  chassisById,
  listChassis,
} from '../../metal/chassis.ts'
import { uuidOr } from '../../metal/nodes/lifecycle.ts'
import type { Json } from '../../metal/drivers/port.ts'
import type { Operation } from '../operation.ts'
import { Document, orNull, TextOrNull, Uuid } from '../shapes.ts'
import { jsonIn, MEMBERS, StoredJson } from '../../shared/json.ts'
import * as c from './collection.ts'
import { Links, linksTo, shownTime, Time } from './links.ts'
import type { Answer, MetalRequest } from './request.ts'

const NEW = c.membersOf('NewChassis', { uuid: c.isUuid, description: c.isText(), extra: c.isDocument })

const chassis = c.resourceOf<Chassis>(
  'Chassis',
  {
    name: 'chassis',
    short: ['uuid', 'description', 'links'],
    sortKeys: ['uuid', 'description', 'created_at', 'updated_at'],
  },
  {
    uuid: [Uuid, row => row.uuid],
    description: [TextOrNull, row => row.description],
    extra: [Document, row => new StoredJson(row.extra, MEMBERS)],
    created_at: [Time, row => shownTime(row.created_at)],
    updated_at: [orNull(Time), row => shownTime(row.updated_at)],
    links: [Links, ({ uuid }, { base }) => linksTo(base, `chassis/${uuid}`)],
    nodes: [Links, ({ uuid }, { base }) => linksTo(base, `chassis/${uuid}/nodes`)],
  },
)

const PARAMETERS = c.listParameters(chassis)

export const listAllChassis = (request: MetalRequest) => list(request, 'chassis', false)
listAllChassis.operation = {
  summary: 'List the chassis',
  query: [PARAMETERS],
  answers: { 200: c.listShape('chassis', c.inPart(chassis.shape)) },
} satisfies Operation
export const listChassisInDetail = (request: MetalRequest) => list(request, 'chassis/detail', true)
listChassisInDetail.operation = {
  summary: 'List the chassis with all their fields',
  query: [PARAMETERS],
  answers: { 200: c.listShape('chassis', chassis.shape) },
} satisfies Operation

async function list(request: MetalRequest, path: string, detailed: boolean): Promise<Answer> {
  request.parameters(PARAMETERS)
  const rows = await request.context.store.read(listChassis)
  return c.shownList(chassis, { all: rows, rowsById: chassisById }, request, path, detailed)
}

showChassis.operation = {
  summary: 'Show a chassis',
  query: [c.FIELDS_PARAMETER],
  answers: { 200: c.inPart(chassis.shape) },
} satisfies Operation

export async function showChassis(request: MetalRequest): Promise<Answer> {
  const row = await request.context.store.read(() => findChassis(request.param('uuid')))
  return { status: 200, body: c.shownOne(chassis, row, request) }
}

const columnsOf = (given: Json) => ({ description: c.asText(given['description']), extra: c.asJson(given['extra']) })

postChassis.operation = { summary: 'Make a chassis', body: [NEW], answers: { 201: chassis.shape } } satisfies Operation

export async function postChassis(request: MetalRequest): Promise<Answer> {
  const { context, now } = request
  const given = c.membersIn(request, NEW)
  const uuid = uuidOr(given['uuid'], () => context.clock.newUuid())
  const row = await context.store.write(() => createChassis({ ...columnsOf(given), uuid, created_at: now }))
  return { status: 201, location: `/chassis/${uuid}`, body: chassis.show(row, request) }
}

patchChassis.operation = {
  summary: 'Change a chassis',
  body: [c.PATCH],
  answers: { 200: chassis.shape },
} satisfies Operation

export async function patchChassis(request: MetalRequest): Promise<Answer> {
  const patches = c.patchesIn(request, NEW)
  const change = (row: Chassis) => {
    const before = { description: row.description, extra: jsonIn(row.extra, MEMBERS) }
    return columnsOf(c.patchedMembers(patches, before, NEW))
  }
  const row = await request.context.store.write(() => changeChassis(request.param('uuid'), change, request.now))
  return { status: 200, body: chassis.show(row, request) }
}

deleteOneChassis.operation = { summary: 'Delete a chassis without nodes', answers: { 204: null } } satisfies Operation

export async function deleteOneChassis(request: MetalRequest): Promise<Answer> {
  await request.context.store.write(() => deleteChassis(request.param('uuid')))
  return { status: 204 }
}
