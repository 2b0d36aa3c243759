// What a node boots from, and the network interfaces that tenants attach to it.
import { problem } from '../../problems/problem.ts'
import { jsonIn, jsonText } from '../../shared/json.ts'
import type { Read, Write } from '../../store/transaction.ts'
import type { Access } from '../access.ts'
import type { Drivers } from '../drivers/registry.ts'
import { findNode, lockNode, type NodeRow, requireUnlocked, saveNode } from './rows.ts'
import { driverOf } from './transitions.ts'
import { called } from '../called.ts'

interface BootDevice {
  boot_device: string | null
  persistent: boolean | null
}

const internalOf = (node: NodeRow) => jsonIn(node.driver_internal_info)

export function* bootDevice(ident: string, access: Access): Read<BootDevice> {
  const set = internalOf(yield* findNode(ident, access))['boot_device'] as BootDevice | undefined
  return set ?? { boot_device: null, persistent: null }
}

export function* supportedBootDevices(ident: string, access: Access, drivers: Drivers): Read<readonly string[]> {
  return driverOf(yield* findNode(ident, access), drivers).bootDevices
}

/** Saves the boot device with the node; the driver reads it at the next start. */
export function* setBootDevice(
  ident: string,
  access: Access,
  device: BootDevice,
  drivers: Drivers,
  now: number,
): Write<void> {
  const node = yield* lockNode(ident, access)
  requireUnlocked(node)
  const supported = driverOf(node, drivers).bootDevices
  if (!supported.includes(device.boot_device!)) {
    throw problem('invalid_parameter', {
      reason: `Invalid boot device ${String(device.boot_device)} specified; use one of ${supported.join(', ')}.`,
    })
  }
  yield* saveNode(node, {
    ...node,
    driver_internal_info: jsonText({ ...internalOf(node), boot_device: device }),
    updated_at: now,
  })
}

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
