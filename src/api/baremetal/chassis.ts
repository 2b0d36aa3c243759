// /v1/chassis
import {
  changeChassis,
  type Chassis,
  createChassis,
  deleteChassis,
  findChassis,
  listChassis,
} from '../../metal/chassis.ts'
import { uuidOr } from '../../metal/change.ts'
import type { Json } from '../../metal/drivers/port.ts'
import * as c from './collection.ts'
import { linksTo, shownTime } from './links.ts'
import type { Answer, MetalRequest } from './request.ts'

const CHECKS = { uuid: c.isUuid, description: c.isText(), extra: c.isDocument }

const chassis: c.Resource<Chassis> = {
  name: 'chassis',
  short: ['uuid', 'description', 'links'],
  fields: ['uuid', 'description', 'extra', 'created_at', 'updated_at', 'links', 'nodes'],
  sortKeys: ['uuid', 'description', 'created_at', 'updated_at'],
  show: (row, { base }) => ({
    uuid: row.uuid,
    description: row.description,
    extra: JSON.parse(row.extra) as Json,
    created_at: shownTime(row.created_at),
    updated_at: shownTime(row.updated_at),
    links: linksTo(base, `chassis/${row.uuid}`),
    nodes: linksTo(base, `chassis/${row.uuid}/nodes`),
  }),
}

const PARAMETERS = new Set(c.LIST_PARAMETERS)

export const listAllChassis = (request: MetalRequest) => list(request, 'chassis', false)
export const listChassisInDetail = (request: MetalRequest) => list(request, 'chassis/detail', true)

async function list(request: MetalRequest, path: string, detailed: boolean): Promise<Answer> {
  request.parameters(PARAMETERS)
  const rows = await request.context.store.read(listChassis)
  return c.shownList(chassis, rows, request, path, detailed)
}

export async function showChassis(request: MetalRequest): Promise<Answer> {
  const row = await request.context.store.read(() => findChassis(request.param('uuid')))
  return { status: 200, body: c.shownOne(chassis, row, request) }
}

const columnsOf = (given: Json) => ({ description: c.asText(given['description']), extra: c.asJson(given['extra']) })

export async function postChassis(request: MetalRequest): Promise<Answer> {
  const { context, now } = request
  const given = c.members(request.object(), CHECKS)
  const uuid = uuidOr(given['uuid'], () => context.clock.newUuid())
  const row = await context.store.write(() => createChassis({ ...columnsOf(given), uuid, created_at: now }))
  return { status: 201, location: `/chassis/${uuid}`, body: chassis.show(row, request) }
}

export async function patchChassis(request: MetalRequest): Promise<Answer> {
  const change = (row: Chassis) => {
    const before = { description: row.description, extra: JSON.parse(row.extra) as Json }
    return columnsOf(c.patchedMembers(request, before, CHECKS))
  }
  const row = await request.context.store.write(() => changeChassis(request.param('uuid'), change, request.now))
  return { status: 200, body: chassis.show(row, request) }
}

export async function deleteOneChassis(request: MetalRequest): Promise<Answer> {
  await request.context.store.write(() => deleteChassis(request.param('uuid')))
  return { status: 204 }
}
