// The virtual network interfaces that tenants attach to a node.
import { problem } from '../../problems/problem.ts'
import { jsonIn, jsonText, MEMBERS } from '../../shared/json.ts'
import type { Read, Write } from '../../store/transaction.ts'
import type { Access } from '../access.ts'
import { findNode, lockNode, type NodeRow, requireUnlocked, saveNode } from './rows.ts'
import { called } from '../called.ts'

const internalOf = (node: NodeRow) => jsonIn(node.driver_internal_info, MEMBERS)

const vifsIn = (node: NodeRow) => (internalOf(node)['vifs'] as string[] | undefined) ?? []

export function* listVifs(ident: string, access: Access): Read<string[]> {
  return vifsIn(yield* findNode(ident, access))
}

const VIFS_MAX = 256

export function* attachVif(ident: string, access: Access, vif: string, now: number): Write<void> {
  const node = yield* lockNode(ident, access)
  requireUnlocked(node)
  const vifs = vifsIn(node)
  if (vifs.includes(vif))
    throw problem('metal_exists', { reason: `VIF ${vif} is already attached to node ${called(node)}.` })
  if (vifs.length >= VIFS_MAX) throw problem('invalid_parameter', { reason: `A node has at most ${VIFS_MAX} VIFs.` })
  yield* saveVifs(node, [...vifs, vif], now)
}

export function* detachVif(ident: string, access: Access, vif: string, now: number): Write<void> {
  const node = yield* lockNode(ident, access)
  requireUnlocked(node)
  const vifs = vifsIn(node)
  if (!vifs.includes(vif)) {
    throw problem('invalid_parameter', { reason: `VIF ${vif} is not attached to node ${called(node)}.` })
  }
  yield* saveVifs(
    node,
    vifs.filter(other => other !== vif),
    now,
  )
}

function* saveVifs(node: NodeRow, vifs: readonly string[], now: number): Write<void> {
  yield* saveNode(node, { ...node, driver_internal_info: jsonText({ ...internalOf(node), vifs }), updated_at: now })
}
