// /v1/conductors
import { Type } from 'typebox'
import { type Conductor, findConductor, listConductors } from '../../metal/conductors/rows.ts'
import type { Operation } from '../operation.ts'
import { Flag, named as shape, Text } from '../shapes.ts'
import { jsonIn } from '../../shared/json.ts'
import * as c from './collection.ts'
import { Links, linksTo, shownTime, Time } from './links.ts'
import type { Answer, MetalRequest } from './request.ts'

type Row = Conductor & { uuid: string }

const conductors: c.Resource<Row> = {
  name: 'conductors',
  short: ['hostname', 'conductor_group', 'alive', 'links'],
  fields: ['hostname', 'conductor_group', 'alive', 'drivers', 'created_at', 'updated_at', 'links'],
  sortKeys: ['hostname', 'conductor_group', 'created_at', 'updated_at'],
  isNamed: true,
  shape: shape('Conductor', {
    hostname: Text,
    conductor_group: Text,
    alive: Flag,
    drivers: Type.Array(Text),
    created_at: Time,
    updated_at: Time,
    links: Links,
  }),
  show: (row, { base, context }) => ({
    hostname: row.hostname,
    conductor_group: row.conductor_group,
    // When all are dead, none is left to say so.
    alive: row.online === 1 && row.silent_ms < context.config.takeOverMs,
    drivers: jsonIn(row.drivers),
    created_at: shownTime(row.registered_at),
    updated_at: shownTime(row.heartbeat_at),
    links: linksTo(base, `conductors/${row.hostname}`),
  }),
}

const PARAMETERS = c.listParameters(conductors)
const named = (row: Conductor): Row => ({ ...row, uuid: row.hostname })

listAllConductors.operation = {
  summary: 'List the conductors',
  query: [PARAMETERS],
  answers: { 200: c.listShape('conductors', c.inPart(conductors.shape)) },
} satisfies Operation

export async function listAllConductors(request: MetalRequest): Promise<Answer> {
  request.parameters(PARAMETERS)
  const rows = await request.context.store.read(listConductors)
  return c.shownList(conductors, rows.map(named), request, 'conductors', false)
}

showConductor.operation = {
  summary: 'Show a conductor',
  query: [c.FIELDS_PARAMETER],
  answers: { 200: c.inPart(conductors.shape) },
} satisfies Operation

export async function showConductor(request: MetalRequest): Promise<Answer> {
  const row = await request.context.store.read(() => findConductor(request.param('hostname')))
  return { status: 200, body: c.shownOne(conductors, named(row), request) }
}
