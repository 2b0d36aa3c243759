// /media/NODE/SIGNATURE/configdrive.iso: the config drive of a deployment, for the BMC of its node. A BMC sends no token
// of ours: the signature in the path is the key, and it opens this one medium until the deployment ends.
import { EVERYTHING } from '../../metal/access.ts'
import { configDriveIso, isSigned } from '../../metal/media/config-drive.ts'
import { findNode, type NodeRow } from '../../metal/nodes/rows.ts'
import { machineOf } from '../../metal/nodes/validation.ts'
import { Problem, problem } from '../../problems/problem.ts'
import { BoundedMap } from '../../shared/bounded-map.ts'
import { limits } from '../../shared/limits.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import type { Operation } from '../operation.ts'
import { partOf } from './byte-range.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const Iso = Type.String({ contentMediaType: 'application/octet-stream', contentEncoding: 'binary' })

readConfigDrive.operation = {
  summary: 'Read the config drive of a deployment, by the signature in its URL; parts of it with Range',
  answers: { 200: Iso, 206: Iso, 416: null },
} satisfies Operation

export async function readConfigDrive(request: OperatorRequest): Promise<Answer> {
  const iso = await driveOf(request)
  // Another node, another deployment, or none: nobody is told which.
  if (iso === null) throw problem('route_not_found', {})
  const headers = {
    'content-type': 'application/octet-stream',
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
  }
  const part = partOf(request.header('range'), iso.length)
  if (part === 'outside') return { status: 416, headers: { ...headers, 'content-range': `bytes */${iso.length}` } }
  if (part === null) return { status: 200, body: iso, headers }
  const range = `bytes ${part.from}-${part.to}/${iso.length}`
  return { status: 206, body: iso.subarray(part.from, part.to + 1), headers: { ...headers, 'content-range': range } }
}

/** What was made lately, by signature: a BMC that streams asks for a few sectors at a time. */
const made = new BoundedMap<string, Buffer>(limits.configDrivesKept)

async function driveOf(request: OperatorRequest): Promise<Buffer | null> {
  const signature = request.param('signature')
  const node = await mediumNode(request)
  const machine = node && machineOf(node)
  if (!machine || !isSigned(machine, signature)) return null
  const kept = made.get(signature)
  if (kept) return kept
  const iso = configDriveIso(machine)
  if (iso) made.set(signature, iso)
  return iso
}

/** The node in the path; null if there is none. */
export async function mediumNode(request: OperatorRequest): Promise<NodeRow | null> {
  const uuid = canonicalUuid(request.param('node'))
  if (uuid === null) return null
  try {
    return await request.context.store.read(() => findNode(uuid, EVERYTHING))
  } catch (error) {
    if (error instanceof Problem && error.kind === 'metal_not_found') return null
    throw error
  }
}
