// /v1/nodes/X/management/boot_device and /v1/nodes/X/vifs
import {
  attachVif,
  bootDevice,
  detachVif,
  listVifs,
  setBootDevice,
  supportedBootDevices,
} from '../../metal/management.ts'
import * as c from './collection.ts'
import { nodeIdent } from './nodes.ts'
import type { Answer, MetalRequest } from './request.ts'
import { problem } from '../../problem.ts'

export async function showBootDevice(request: MetalRequest): Promise<Answer> {
  return { status: 200, body: await request.context.store.read(() => bootDevice(nodeIdent(request), request.access())) }
}

export async function showSupportedBootDevices(request: MetalRequest): Promise<Answer> {
  const { store, drivers } = request.context
  const devices = await store.read(() => supportedBootDevices(nodeIdent(request), request.access(), drivers))
  return { status: 200, body: { supported_boot_devices: devices } }
}

const DEVICE = { boot_device: c.isText(), persistent: c.isFlag }

export async function putBootDevice(request: MetalRequest): Promise<Answer> {
  const { store, drivers } = request.context
  const given = c.members(request.object(), DEVICE)
  if (typeof given['boot_device'] !== 'string') {
    throw problem('invalid_parameter', { reason: 'Missing mandatory parameter boot_device.' })
  }
  const device = { boot_device: given['boot_device'], persistent: given['persistent'] === true }
  await store.write(() => setBootDevice(nodeIdent(request), request.access(), device, drivers, request.now))
  return { status: 204 }
}

export async function showVifs(request: MetalRequest): Promise<Answer> {
  const vifs = await request.context.store.read(() => listVifs(nodeIdent(request), request.access()))
  return { status: 200, body: { vifs: vifs.map(id => ({ id })) } }
}

export async function postVif(request: MetalRequest): Promise<Answer> {
  const { id } = request.object()
  if (!c.isText()(id) || id === '') throw problem('invalid_parameter', { reason: 'A VIF needs an id.' })
  await request.context.store.write(() => attachVif(nodeIdent(request), request.access(), id as string, request.now))
  return { status: 204 }
}

export async function deleteVif(request: MetalRequest): Promise<Answer> {
  await request.context.store.write(() =>
    detachVif(nodeIdent(request), request.access(), request.param('vif'), request.now),
  )
  return { status: 204 }
}
