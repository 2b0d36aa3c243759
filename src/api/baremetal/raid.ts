// /v1/nodes/X/states/raid and /v1/drivers/D/raid/logical_disk_properties
import {
  DISK_INTERFACES,
  DISK_TYPES,
  LOGICAL_DISK_PROPERTIES,
  RAID_LEVELS,
  raidConfigIn,
  setTargetRaid,
} from '../../metal/nodes/raid.ts'
import { problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import type { Form, Operation } from '../operation.ts'
import { byName, Document, oneOf, Text } from '../shapes.ts'
import { findDriver } from './drivers.ts'
import { nodeIdent } from './nodes.ts'
import type { Answer, MetalRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const Name = Type.String({ maxLength: 255 })
const Whole = Type.Integer({ minimum: 1, maximum: 1e9 })
const LogicalDisk = Type.Object(
  {
    raid_level: oneOf(...RAID_LEVELS),
    size_gb: Type.Union([Whole, oneOf('MAX')]),
    volume_name: Type.Optional(Name),
    is_root_volume: Type.Optional(Type.Boolean()),
    share_physical_disks: Type.Optional(Type.Boolean()),
    disk_type: Type.Optional(oneOf(...DISK_TYPES)),
    interface_type: Type.Optional(oneOf(...DISK_INTERFACES)),
    number_of_physical_disks: Type.Optional(Whole),
    controller: Type.Optional(Name),
    physical_disks: Type.Optional(Type.Array(Type.Union([Name, Document]), { minItems: 1 })),
  },
  { title: 'LogicalDisk', additionalProperties: false },
)
const CONFIG: Form = {
  schema: Type.Object(
    { logical_disks: Type.Optional(Type.Array(LogicalDisk, { minItems: 1, maxItems: limits.logicalDisksMax })) },
    { title: 'NewRaidConfig', additionalProperties: false },
  ),
}

putRaidConfig.operation = {
  summary: 'Say which logical disks a node should have, for the next step that makes them',
  body: [CONFIG],
  answers: { 204: null },
} satisfies Operation

export async function putRaidConfig(request: MetalRequest): Promise<Answer> {
  const wanted = raidConfigIn(request.object(CONFIG))
  await request.context.store.write(() => setTargetRaid(nodeIdent(request), request.access(), wanted, request.now))
  return { status: 204 }
}

showLogicalDiskProperties.operation = {
  summary: 'Show what can be said of a logical disk',
  answers: { 200: byName(Text) },
} satisfies Operation

export async function showLogicalDiskProperties(request: MetalRequest): Promise<Answer> {
  const { driver } = await findDriver(request)
  if (driver.interfaces.raid.every(name => name === 'no-raid')) {
    throw problem('interface_unsupported', { driver: driver.name, name: 'raid' })
  }
  return { status: 200, body: LOGICAL_DISK_PROPERTIES }
}
