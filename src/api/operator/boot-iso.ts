// /media/NODE/SIGNATURE/boot.iso: the ISO that boots the kernel of a deployment, for the BMC of its node, and for the
// conductor that waits until it is made. The signature in the path is the key, as with config drives.
import { type KernelBoot, isSignedBoot, kernelBootOf } from '../../metal/media/kernel-boot.ts'
import { machineOf } from '../../metal/nodes/validation.ts'
import { problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { partOf } from './byte-range.ts'
import { mediumNode } from './media.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const Iso = Type.String({ contentMediaType: 'application/octet-stream', contentEncoding: 'binary' })

readBootIso.operation = {
  summary: 'Read the ISO that boots the kernel of a deployment, by the signature in its URL',
  description: 'Parts of it with Range. While it is being made, the answer is 503 with Retry-After.',
  answers: { 200: Iso, 206: Iso, 416: null },
} satisfies Operation

/** In these the machine boots from it. */
const STATES: ReadonlySet<string> = new Set(['deploying', 'wait call-back', 'active'])

export async function readBootIso(request: OperatorRequest): Promise<Answer> {
  const boot = await bootOf(request)
  if (boot === null) throw problem('route_not_found', {})
  const found = await request.context.bootIsos.open(boot)
  if (found === 'being made') throw problem('unavailable', { reason: 'The boot ISO is being made; ask again.' })
  const { handle, bytes } = found
  const part = partOf(request.header('range'), bytes)
  const headers = {
    'content-type': 'application/octet-stream',
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
  }
  if (part === 'outside' || request.raw.method === 'HEAD') {
    await handle.close()
    if (part === 'outside') return { status: 416, headers: { ...headers, 'content-range': `bytes */${bytes}` } }
    return { status: 200, headers: { ...headers, 'content-length': `${bytes}` } }
  }
  const { from, to } = part ?? { from: 0, to: bytes - 1 }
  const body = handle.createReadStream({ start: from, end: to })
  const length = { ...headers, 'content-length': `${to - from + 1}` }
  if (part === null) return { status: 200, body, headers: length }
  return { status: 206, body, headers: { ...length, 'content-range': `bytes ${from}-${to}/${bytes}` } }
}

async function bootOf(request: OperatorRequest): Promise<KernelBoot | null> {
  const node = await mediumNode(request)
  if (!node || node.driver !== 'redfish' || !STATES.has(node.provision_state)) return null
  const machine = machineOf(node)
  return isSignedBoot(machine, request.param('signature')) ? kernelBootOf(machine) : null
}
