// Three nodes of Holdfast and a nova-compute with the ironic driver that looks after them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { good, type Loose } from './caller.ts'
import { serviceOf } from './moves.ts'
import type { Rig } from './rig.ts'
import { awaited, order, remove } from './servers.ts'
import { until } from './until.ts'

export const COMPUTE = 'ironic-1'
export const FLAVOR = 'metal'
export const CLASS = 'metal'
const TRAIT = 'CUSTOM_CONFORMANCE'
/** A node is a hypervisor by its uuid, other computes by their names. */
const NODE = /^[0-9a-f-]{36}$/

export const metal = async (rig: Rig, method: string, path: string, body?: unknown): Promise<Loose> =>
  good(await rig.admin.holdfast(method, `/baremetal/v1${path}`, body), `${method} ${path}`)

/** Makes three nodes, a flavor for them and a nova-compute, and takes all of them away in the end. */
export async function withNodes(
  rig: Rig,
  body: (nodes: readonly string[]) => Promise<void>,
  fake_delay: object = {},
): Promise<void> {
  const nodes = await Promise.all(['metal-1', 'metal-2', 'metal-3'].map(name => makeNode(rig, name, fake_delay)))
  try {
    await makeFlavor(rig)
    await rig.start(COMPUTE)
    await hypervisors(rig, nodes.length)
    await body(nodes)
  } finally {
    await rig.stop(COMPUTE)
    await rig.admin.nova('DELETE', `/flavors/${FLAVOR}`)
    for (const node of nodes) {
      await rig.admin.holdfast('PUT', `/baremetal/v1/nodes/${node}/maintenance`, {})
      await rig.admin.holdfast('DELETE', `/baremetal/v1/nodes/${node}`)
    }
    const service = await serviceOf(rig, COMPUTE)
    if (service) await rig.admin.nova('DELETE', `/os-services/${String(service.id)}`)
  }
}

async function makeNode(rig: Rig, name: string, fake_delay: object): Promise<string> {
  const properties = { cpus: 4, memory_mb: 4096, local_gb: 20, cpu_arch: 'x86_64' }
  const wanted = { driver: 'fake-hardware', name, resource_class: CLASS, properties, driver_info: { fake_delay } }
  const { uuid } = await metal(rig, 'POST', '/nodes', wanted)
  await metal(rig, 'PUT', `/nodes/${name}/traits`, { traits: [TRAIT] })
  for (const [target, state] of [
    ['manage', 'manageable'],
    ['provide', 'available'],
  ] as const) {
    await metal(rig, 'PUT', `/nodes/${name}/states/provision`, { target })
    await inState(rig, name, state)
  }
  return String(uuid)
}

export const inState = (rig: Rig, node: string, state: string) =>
  until(`${node} is ${state}`, async () => (await metal(rig, 'GET', `/nodes/${node}`)).provision_state === state)

async function makeFlavor(rig: Rig): Promise<void> {
  const flavor = { id: FLAVOR, name: FLAVOR, vcpus: 4, ram: 4096, disk: 20 }
  good(await rig.admin.nova('POST', '/flavors', { flavor }), 'flavor')
  const none = Object.fromEntries(['VCPU', 'MEMORY_MB', 'DISK_GB'].map(name => [`resources:${name}`, '0']))
  const extra_specs = { ...none, 'resources:CUSTOM_METAL': '1', [`trait:${TRAIT}`]: 'required' }
  good(await rig.admin.nova('POST', `/flavors/${FLAVOR}/os-extra_specs`, { extra_specs }), 'extra specs')
}

/** Waits until Nova has this many nodes as hypervisors. */
export async function hypervisors(rig: Rig, count: number): Promise<void> {
  await until(`Nova has ${count} nodes`, async () => {
    await rig.manage('cell_v2', 'discover_hosts')
    const all = [...(await rig.admin.get('/os-hypervisors')).hypervisors]
    return all.filter(({ hypervisor_hostname }) => NODE.test(String(hypervisor_hostname))).length === count
  })
}

/** Waits until Nova could choose among this many nodes. */
export async function candidates(rig: Rig, count: number): Promise<void> {
  const query = `resources=CUSTOM_METAL:1&required=${TRAIT}&root_required=!COMPUTE_STATUS_DISABLED`
  await until(`there are ${count} candidates`, async () => {
    const answer = await rig.admin.holdfast('GET', `/placement/allocation_candidates?${query}`)
    return good(answer, 'candidates').allocation_requests.length === count
  })
}

/** A server more than there are nodes for ends in ERROR. */
export async function refused(rig: Rig): Promise<void> {
  const id = await order(rig.admin, 'too-many', FLAVOR)
  await awaited(rig, id, 'ERROR')
  await remove(rig, [id])
}

/** Placement shows Nova's traits with the node's, and the node has only its own. */
export async function requireApart(rig: Rig, node: string): Promise<void> {
  const shown = good(await rig.admin.holdfast('GET', `/placement/resource_providers/${node}/traits`), 'traits')
  for (const name of [TRAIT, 'COMPUTE_NODE']) assert.ok(shown.traits.includes(name), name)
  assert.deepEqual((await metal(rig, 'GET', `/nodes/${node}/traits`)).traits, [TRAIT])
}

const LISTS = '/baremetal/v1/nodes?fields=uuid'

/** Two periods of nova-compute: what it writes changes nothing, and it has nothing to complain of. */
export async function requireQuiet(rig: Rig, nodes: readonly string[]): Promise<void> {
  const generations = () => Promise.all(nodes.map(node => generationOf(rig, node)))
  // The first period may still report what has just happened.
  await periods(rig, 2)
  const [before, errors, from] = [await generations(), errorsIn(rig), rig.requests.length]
  await periods(rig, 2)
  assert.deepEqual(await generations(), before)
  assert.deepEqual(errorsIn(rig).slice(errors.length), [])
  const asked = rig.requests.slice(from).filter(({ agent }) => agent.startsWith('nova-compute'))
  const refusals = asked.filter(({ status }) => status >= 400)
  assert.deepEqual(refusals, [])
}

async function periods(rig: Rig, count: number): Promise<void> {
  const lists = () => rig.requests.filter(({ url }) => url.startsWith(LISTS) && !url.includes('instance_uuid=')).length
  const wanted = lists() + count
  await until(`${count} periods of nova-compute`, () => lists() >= wanted)
}

async function generationOf(rig: Rig, provider: string): Promise<number> {
  return good(await rig.admin.holdfast('GET', `/placement/resource_providers/${provider}`), 'provider').generation
}

/** The errors that nova-compute has logged. */
function errorsIn(rig: Rig): string[] {
  const lines = readFileSync(join(rig.logs, `${COMPUTE}.out`), 'utf8').split('\n')
  // It can't tell how long a node has been up, and says so whenever someone lists hypervisors.
  return lines.filter(line => / ERROR /.test(line) && !/oslo_messaging\.rpc\.server/.test(line))
}
