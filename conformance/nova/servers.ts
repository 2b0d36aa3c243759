// Servers of Nova, as scenarios need them: made, awaited, moved and gone.
import assert from 'node:assert/strict'
import { type Caller, good, type Loose } from './caller.ts'
import type { Rig } from './rig.ts'
import { until } from './until.ts'

/** Asks for a server and answers its id. */
export async function order(who: Caller, name: string, flavor = 'm1.tiny', more: object = {}): Promise<string> {
  const images = good(await who.holdfast('GET', '/image/v2/images'), 'images').images
  const server = { name, flavorRef: flavor, imageRef: images[0]!.id, networks: 'none', ...more }
  return good(await who.nova('POST', '/servers', { server }), `server ${name}`).server.id
}

export async function show(who: Caller, id: string): Promise<Loose> {
  return good(await who.nova('GET', `/servers/${id}`), `server ${id}`).server
}

/** Waits until the server has this status, and answers it. ERROR ends the wait. */
export async function awaited(rig: Rig, id: string, status: string): Promise<Loose> {
  return until(`server ${id} is ${status}`, async () => {
    const server = await show(rig.admin, id)
    if (server.status === status && (server['OS-EXT-STS:task_state'] ?? null) === null) return server
    if (server.status === 'ERROR' && status !== 'ERROR') {
      throw new Error(`server ${id} is ERROR, not ${status}: ${JSON.stringify(server.fault)}`)
    }
    return null
  })
}

/** A server that runs. */
export async function boot(rig: Rig, who: Caller, name: string, flavor?: string, more?: object): Promise<string> {
  const id = await order(who, name, flavor, more)
  await awaited(rig, id, 'ACTIVE')
  return id
}

export const hostOf = (server: Loose): string => server['OS-EXT-SRV-ATTR:host']!

export async function act(rig: Rig, id: string, action: object): Promise<void> {
  good(await rig.admin.nova('POST', `/servers/${id}/action`, action), `${JSON.stringify(action)} of ${id}`)
}

export async function remove(rig: Rig, ids: readonly string[]): Promise<void> {
  for (const id of ids) await rig.admin.nova('DELETE', `/servers/${id}`)
  for (const id of ids) {
    await until(`server ${id} is gone`, async () => (await rig.admin.nova('GET', `/servers/${id}`)).status === 404)
  }
}

/** All servers that Nova has, of every project. */
export async function allServers(rig: Rig): Promise<string[]> {
  const servers = (await rig.admin.get('/servers?all_tenants=1')).servers
  return [...servers].map(server => String(server.id))
}

/** What is used of each host by the ledger: {"compute-1": {"VCPU": 1, …}}. */
export async function used(rig: Rig): Promise<Record<string, Record<string, number>>> {
  const all: Record<string, Record<string, number>> = {}
  const list = good(await rig.admin.holdfast('GET', '/placement/resource_providers'), 'providers')
  for (const { uuid, name } of list.resource_providers) {
    const usages = good(
      await rig.admin.holdfast('GET', `/placement/resource_providers/${String(uuid)}/usages`),
      'usages',
    )
    all[String(name)] = usages.usages
  }
  return all
}

/** Waits until the ledger says that this many VCPUs of each host are used. */
export async function usedVcpus(rig: Rig, wanted: Record<string, number>): Promise<void> {
  let last: unknown
  await until(`the ledger has ${JSON.stringify(wanted)} VCPUs`, async () => {
    const now = await used(rig)
    last = Object.fromEntries(Object.keys(wanted).map(host => [host, now[host]?.['VCPU'] ?? 0]))
    return Object.entries(wanted).every(([host, count]) => (now[host]?.['VCPU'] ?? 0) === count)
  }).catch((error: Error) => assert.fail(`${error.message}; it has ${JSON.stringify(last)}`))
}
