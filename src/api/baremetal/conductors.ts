// /v1/conductors
import { type Conductor, findConductor, listConductors } from '../../metal/conductors/rows.ts'
import type { Operation } from '../operation.ts'
import { Flag, Text } from '../shapes.ts'
import { shownIn, TEXTS } from '../../shared/json.ts'
import * as c from './collection.ts'
import { Links, linksTo, shownTime, Time } from './links.ts'
import type { Answer, MetalRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

type Row = Conductor & { uuid: string }

/** `online` is not enough: when all conductors are dead, none is left to clear it. */
export const isAlive = ({ online, silent_ms }: Conductor, { context }: MetalRequest): boolean =>
  online === 1 && silent_ms < context.config.takeOverMs

const conductors = c.resourceOf<Row>(
  'Conductor',
  {
    name: 'conductors',
    short: ['hostname', 'conductor_group', 'alive', 'links'],
    sortKeys: ['hostname', 'conductor_group', 'created_at', 'updated_at'],
    isNamed: true,
  },
  {
    hostname: [Text, row => row.hostname],
    conductor_group: [Text, row => row.conductor_group],
    alive: [Flag, (row, request) => isAlive(row, request)],
    drivers: [Type.Array(Text), row => shownIn(row.drivers, TEXTS)],
    created_at: [Time, row => shownTime(row.registered_at)],
    updated_at: [Time, row => shownTime(row.heartbeat_at)],
    links: [Links, ({ hostname }, { base }) => linksTo(base, `conductors/${hostname}`)],
  },
)

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
  const all = rows.map(row => ({ ...named(row), bytes: row.drivers.length }))
  return c.shownList(conductors, { all, rowsById: null }, request, 'conductors', false)
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
