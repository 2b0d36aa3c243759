// /v1/nodes/X/management: what a node boots from, and a non-maskable interrupt. The machine itself is asked.
import { findNode } from '../../metal/nodes/rows.ts'
import { driverOf } from '../../metal/nodes/transitions.ts'
import { problem } from '../../problems/problem.ts'
import type { Form, Operation } from '../operation.ts'
import { FlagOrNull, named, Text, TextOrNull } from '../shapes.ts'
import { askMachine } from './asking.ts'
import * as c from './collection.ts'
import { nodeIdent } from './nodes.ts'
import type { Answer, MetalRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

showBootDevice.operation = {
  summary: 'Ask a machine what it boots from',
  answers: { 200: named('BootDevice', { boot_device: TextOrNull, persistent: FlagOrNull }) },
} satisfies Operation

export async function showBootDevice(request: MetalRequest): Promise<Answer> {
  return { status: 200, body: await askMachine(request, { name: 'boot_device', args: {} }) }
}

showSupportedBootDevices.operation = {
  summary: 'Ask a machine what it can boot from',
  answers: { 200: Type.Object({ supported_boot_devices: Type.Array(Text) }) },
} satisfies Operation

export async function showSupportedBootDevices(request: MetalRequest): Promise<Answer> {
  return { status: 200, body: await askMachine(request, { name: 'supported_boot_devices', args: {} }) }
}

const DEVICE = c.membersOf(
  'NewBootDevice',
  { boot_device: c.isText(), persistent: c.isFlag },
  { required: ['boot_device'] },
)

putBootDevice.operation = {
  summary: 'Set what a machine boots from',
  body: [DEVICE],
  answers: { 204: null },
} satisfies Operation

export async function putBootDevice(request: MetalRequest): Promise<Answer> {
  const { store, drivers } = request.context
  const { boot_device, persistent } = c.membersIn(request, DEVICE)
  if (typeof boot_device !== 'string') {
    throw problem('invalid_parameter', { reason: 'Missing mandatory parameter boot_device, a string.' })
  }
  const node = await store.read(() => findNode(nodeIdent(request), request.access()))
  const known = driverOf(node, drivers).bootDevices
  if (!known.includes(boot_device)) {
    throw problem('invalid_parameter', {
      reason: `Invalid boot device (boot_device) ${boot_device.slice(0, 100)} specified; use one of ${known.join(', ')}.`,
    })
  }
  await askMachine(request, { name: 'set_boot_device', args: { boot_device, persistent: persistent === true } })
  return { status: 204 }
}

const NOTHING: Form = { schema: Type.Object({}, { title: 'Nothing', additionalProperties: false }) }

putNmi.operation = {
  summary: 'Send a machine a non-maskable interrupt, so that its operating system writes a dump',
  body: [NOTHING],
  bodyIsOptional: true,
  answers: { 204: null },
} satisfies Operation

export async function putNmi(request: MetalRequest): Promise<Answer> {
  const unknown = request.hasBody ? Object.keys(request.object(NOTHING))[0] : undefined
  if (unknown !== undefined)
    throw problem('invalid_parameter', { reason: `Unknown member ${unknown.slice(0, 100)}: there are none.` })
  await askMachine(request, { name: 'inject_nmi', args: {} })
  return { status: 204 }
}
