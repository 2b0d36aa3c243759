// /v1/nodes/X/management/boot_device and /v1/nodes/X/vifs
import { Type } from 'typebox'
import {
  attachVif,
  bootDevice,
  detachVif,
  listVifs,
  setBootDevice,
  supportedBootDevices,
} from '../../metal/nodes/management.ts'
import { problem } from '../../problems/problem.ts'
import type { Form, Operation } from '../operation.ts'
import { FlagOrNull, named, Text, TextOrNull } from '../shapes.ts'
import * as c from './collection.ts'
import { nodeIdent } from './nodes.ts'
import type { Answer, MetalRequest } from './request.ts'

showBootDevice.operation = {
  summary: 'Show what a node boots from',
  answers: { 200: named('BootDevice', { boot_device: TextOrNull, persistent: FlagOrNull }) },
} satisfies Operation

export async function showBootDevice(request: MetalRequest): Promise<Answer> {
  return { status: 200, body: await request.context.store.read(() => bootDevice(nodeIdent(request), request.access())) }
}

showSupportedBootDevices.operation = {
  summary: 'List what a node can boot from',
  answers: { 200: Type.Object({ supported_boot_devices: Type.Array(Text) }) },
} satisfies Operation

export async function showSupportedBootDevices(request: MetalRequest): Promise<Answer> {
  const { store, drivers } = request.context
  const devices = await store.read(() => supportedBootDevices(nodeIdent(request), request.access(), drivers))
  return { status: 200, body: { supported_boot_devices: devices } }
}

const DEVICE = c.membersOf(
  'NewBootDevice',
  { boot_device: c.isText(), persistent: c.isFlag },
  { required: ['boot_device'] },
)
const VIF: Form = {
  schema: Type.Object(
    { id: Type.String({ minLength: 1, maxLength: 255 }) },
    { title: 'Vif', additionalProperties: true },
  ),
}

putBootDevice.operation = {
  summary: 'Set what a node boots from',
  body: [DEVICE],
  answers: { 204: null },
} satisfies Operation

export async function putBootDevice(request: MetalRequest): Promise<Answer> {
  const { store, drivers } = request.context
  const given = c.membersIn(request, DEVICE)
  if (typeof given['boot_device'] !== 'string') {
    throw problem('invalid_parameter', { reason: 'Missing mandatory parameter boot_device.' })
  }
  const device = { boot_device: given['boot_device'], persistent: given['persistent'] === true }
  await store.write(() => setBootDevice(nodeIdent(request), request.access(), device, drivers, request.now))
  return { status: 204 }
}

showVifs.operation = {
  summary: 'List the virtual interfaces attached to a node',
  answers: { 200: Type.Object({ vifs: Type.Array(Type.Object({ id: Text })) }) },
} satisfies Operation

export async function showVifs(request: MetalRequest): Promise<Answer> {
  const vifs = await request.context.store.read(() => listVifs(nodeIdent(request), request.access()))
  return { status: 200, body: { vifs: vifs.map(id => ({ id })) } }
}

postVif.operation = {
  summary: 'Attach a virtual interface to a node',
  body: [VIF],
  answers: { 204: null },
} satisfies Operation

export async function postVif(request: MetalRequest): Promise<Answer> {
  const { id } = request.object(VIF)
  if (!c.isText()(id) || id === '') throw problem('invalid_parameter', { reason: 'A VIF needs an id.' })
  await request.context.store.write(() => attachVif(nodeIdent(request), request.access(), id as string, request.now))
  return { status: 204 }
}

deleteVif.operation = { summary: 'Detach a virtual interface from a node', answers: { 204: null } } satisfies Operation

export async function deleteVif(request: MetalRequest): Promise<Answer> {
  await request.context.store.write(() =>
    detachVif(nodeIdent(request), request.access(), request.param('vif'), request.now),
  )
  return { status: 204 }
}
