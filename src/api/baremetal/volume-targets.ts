// /v1/volume/targets
import type { Json } from '../../metal/drivers/port.ts'
import { uuidOr } from '../../metal/nodes/lifecycle.ts'
import { findNode } from '../../metal/nodes/rows.ts'
import {
  changeTarget,
  createTarget,
  deleteTarget,
  findTarget,
  listVolumeTargets,
  targetsById,
  type TargetRow,
  type VolumeTarget,
} from '../../metal/volume-targets.ts'
import { problem } from '../../problems/problem.ts'
import { jsonIn, type JsonText, MEMBERS, shownIn, StoredJson } from '../../shared/json.ts'
import type { Operation } from '../operation.ts'
import { Count, Document, orNull, Text, Uuid } from '../shapes.ts'
import * as c from './collection.ts'
import { Links, linksTo, shownTime, Time } from './links.ts'
import { nodeIdent } from './nodes.ts'
import { mistaken } from './ports.ts'
import type { Answer, MetalRequest } from './request.ts'
import { masked } from './secrets.ts'
import { Type } from '../../shared/type.ts'

const refuse = (reason: string) => problem('invalid_parameter', { reason })

const BOOT_INDEX_MAX = 1_000_000
const isName = c.is(Type.String({ minLength: 1, maxLength: 255 }), value => c.isText()(value) && value !== '')

const NEW = c.membersOf(
  'NewVolumeTarget',
  {
    uuid: c.isUuid,
    node_uuid: c.isUuid,
    volume_type: isName,
    volume_id: isName,
    boot_index: c.is(
      Type.Union([Type.Integer({ minimum: 0, maximum: BOOT_INDEX_MAX }), Type.String({ pattern: '^\\d{1,6}$' })], {
        description: `A whole number from 0 to ${BOOT_INDEX_MAX}.`,
      }),
      value => indexOf(value) !== null,
    ),
    properties: c.isDocument,
    extra: c.isDocument,
  },
  { required: ['node_uuid', 'volume_type', 'volume_id', 'boot_index'] },
)

/** Command-line clients send numbers as text. */
function indexOf(value: unknown): number | null {
  const index = typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : value
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 && index <= BOOT_INDEX_MAX ? index : null
}

const targets = c.resourceOf<VolumeTarget>(
  'VolumeTarget',
  {
    name: 'targets',
    short: ['uuid', 'node_uuid', 'volume_type', 'boot_index', 'volume_id', 'links'],
    detailSince: 'volume',
    sortKeys: ['uuid', 'volume_type', 'volume_id', 'boot_index', 'created_at', 'updated_at'],
  },
  {
    uuid: [Uuid, target => target.uuid],
    node_uuid: [Uuid, target => target.node_uuid],
    volume_type: [Text, target => target.volume_type],
    volume_id: [Text, target => target.volume_id],
    boot_index: [Count, target => target.boot_index],
    properties: [Document, (target, request) => shownProperties(target, request)],
    extra: [Document, target => new StoredJson(target.extra, MEMBERS)],
    created_at: [Time, target => shownTime(target.created_at)],
    updated_at: [orNull(Time), target => shownTime(target.updated_at)],
    links: [Links, ({ uuid }, { base }) => linksTo(base, `volume/targets/${uuid}`)],
  },
)
const List = c.listShape('targets', c.inPart(targets.shape))

/** How to log in at the storage is among them: others see an empty object, and nobody sees secrets. */
function shownProperties({ properties, node_owner, node_lessee }: VolumeTarget, request: MetalRequest): Json {
  const whose = { owner: node_owner, lessee: node_lessee }
  if (!request.may('baremetal:volume:view_target_properties', whose)) return {}
  return shownIn(masked(properties) as JsonText<Json>, MEMBERS)
}

const PARAMETERS = c.listParameters(targets, { node: Text })

listTargets.operation = {
  summary: 'List the volume targets that match',
  query: [PARAMETERS],
  answers: { 200: List },
} satisfies Operation

export async function listTargets(request: MetalRequest): Promise<Answer> {
  const node = request.parameters(PARAMETERS).get('node')
  const access = request.access()
  const rows = await request.context.store.read(function* () {
    return yield* listVolumeTargets(access.view, node === undefined ? node : (yield* findNode(node, access)).id)
  })
  return c.shownList(targets, { all: rows, rowsById: targetsById }, request, 'volume/targets', false)
}

const NODE_PARAMETERS = c.listParameters(targets)

listTargetsOfNode.operation = {
  summary: 'List the volume targets of a node',
  query: [NODE_PARAMETERS],
  answers: { 200: List },
} satisfies Operation

export async function listTargetsOfNode(request: MetalRequest): Promise<Answer> {
  request.parameters(NODE_PARAMETERS)
  const ident = nodeIdent(request)
  const access = request.access()
  const rows = await request.context.store.read(function* () {
    return yield* listVolumeTargets(access.view, (yield* findNode(ident, access)).id)
  })
  return c.shownList(targets, { all: rows, rowsById: targetsById }, request, `nodes/${ident}/volume/targets`, false)
}

showTarget.operation = {
  summary: 'Show a volume target',
  query: [c.FIELDS_PARAMETER],
  answers: { 200: c.inPart(targets.shape) },
} satisfies Operation

export async function showTarget(request: MetalRequest): Promise<Answer> {
  const target = await request.context.store.read(() => findTarget(c.uuidIn(request), request.access()))
  return { status: 200, body: c.shownOne(targets, target, request) }
}

type Columns = Omit<TargetRow, 'id' | 'uuid' | 'node_id' | 'created_at' | 'updated_at'>

function columnsOf(given: Json): Columns {
  const { volume_type, volume_id, properties, extra } = given
  const boot_index = indexOf(given['boot_index'])
  if (typeof volume_type !== 'string' || typeof volume_id !== 'string' || boot_index === null) {
    throw refuse('A volume target needs a volume_type and a volume_id, strings, and a boot_index, a whole number.')
  }
  return { volume_type, volume_id, boot_index, properties: c.asJson(properties), extra: c.asJson(extra) }
}

postTarget.operation = {
  summary: 'Make a volume target',
  body: [NEW],
  answers: { 201: targets.shape },
} satisfies Operation

export async function postTarget(request: MetalRequest): Promise<Answer> {
  const { context, now } = request
  const given = c.membersIn(request, NEW)
  const node = given['node_uuid']
  if (typeof node !== 'string') throw refuse('A volume target needs a node_uuid, the UUID of its node.')
  const columns = { ...columnsOf(given), created_at: now, updated_at: null }
  const uuid = uuidOr(given['uuid'], () => context.clock.newUuid())
  const target = await context.store.write(function* () {
    const { id } = yield* mistaken(findNode(node, request.access()))
    return yield* createTarget({ ...columns, uuid, node_id: id })
  })
  return { status: 201, location: `/volume/targets/${uuid}`, body: targets.show(target, request) }
}

patchTarget.operation = {
  summary: 'Change a volume target of a node that is off',
  body: [c.PATCH],
  answers: { 200: targets.shape },
} satisfies Operation

export async function patchTarget(request: MetalRequest): Promise<Answer> {
  const patches = c.patchesIn(request, NEW)
  const { context, now } = request
  const change = (before: VolumeTarget) => {
    const given = c.patchedMembers(patches, documentOf(before), NEW)
    if (given['node_uuid'] !== before.node_uuid) throw refuse('A volume target stays with its node.')
    return { ...columnsOf(given), updated_at: now }
  }
  const after = await context.store.write(() => changeTarget(c.uuidIn(request), request.access(), change))
  return { status: 200, body: targets.show(after, request) }
}

const documentOf = (target: VolumeTarget): Json => ({
  node_uuid: target.node_uuid,
  volume_type: target.volume_type,
  volume_id: target.volume_id,
  boot_index: target.boot_index,
  properties: jsonIn(target.properties, MEMBERS),
  extra: jsonIn(target.extra, MEMBERS),
})

deleteOneTarget.operation = {
  summary: 'Delete a volume target of a node that is off',
  answers: { 204: null },
} satisfies Operation

export async function deleteOneTarget(request: MetalRequest): Promise<Answer> {
  await request.context.store.write(() => deleteTarget(c.uuidIn(request), request.access()))
  return { status: 204 }
}
