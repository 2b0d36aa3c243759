// nova-compute with the ironic driver, on three nodes of Holdfast: the life of a server, who else may have a node, and what
// happens when nodes go and processes end.
import { randomUUID } from 'node:crypto'
import { good } from './caller.ts'
import {
  candidates,
  CLASS,
  COMPUTE,
  FLAVOR,
  hypervisors,
  inState,
  metal,
  refused,
  requireApart,
  requireQuiet,
  withNodes,
} from './metal.ts'
import { serviceOf } from './moves.ts'
import type { Rig, Scenario } from './rig.ts'
import { act, awaited, boot, order, remove, show } from './servers.ts'
import { until } from './until.ts'

/** What is done with a server, and the status that follows. */
const LIFE = [
  [{ 'os-stop': null }, 'SHUTOFF'],
  [{ 'os-start': null }, 'ACTIVE'],
  [{ reboot: { type: 'SOFT' } }, 'ACTIVE'],
  [{ reboot: { type: 'HARD' } }, 'ACTIVE'],
  [{ rescue: null }, 'RESCUE'],
  [{ unrescue: null }, 'ACTIVE'],
] as const

const nodeOf = async (rig: Rig, server: string): Promise<string> =>
  (await show(rig.admin, server))['OS-EXT-SRV-ATTR:hypervisor_hostname']!

async function setService(rig: Rig, status: 'enabled' | 'disabled'): Promise<void> {
  const { id } = await serviceOf(rig, COMPUTE)
  good(await rig.admin.nova('PUT', `/os-services/${String(id)}`, { status }), status)
}

export const ironicLife: Scenario = {
  name: 'ironic: the life of a server on 3 nodes',
  run: rig =>
    withNodes(rig, async nodes => {
      await candidates(rig, 3)
      const id = await boot(rig, rig.admin, 'on-metal', FLAVOR)
      await requireApart(rig, await nodeOf(rig, id))
      for (const [action, status] of LIFE) {
        await act(rig, id, action)
        await awaited(rig, id, status)
      }
      await act(rig, id, { rebuild: { imageRef: (await show(rig.admin, id)).image.id } })
      await awaited(rig, id, 'ACTIVE')
      await setService(rig, 'disabled')
      await candidates(rig, 0)
      await refused(rig)
      await setService(rig, 'enabled')
      await candidates(rig, 2)
      const more = await Promise.all([1, 2].map(i => boot(rig, rig.admin, `more-${i}`, FLAVOR)))
      await refused(rig)
      await requireQuiet(rig, nodes)
      await remove(rig, [id, ...more])
      await candidates(rig, 3)
    }),
}

export const ironicShared: Scenario = {
  name: 'ironic: nodes that others have',
  run: rig =>
    withNodes(rig, async ([given, held, booked]) => {
      const asked = { resource_class: CLASS, candidate_nodes: [given] }
      const { uuid } = await metal(rig, 'POST', '/allocations', asked)
      const { reservation } = await metal(rig, 'POST', '/reservations', {
        instance_uuid: randomUUID(),
        node_uuid: [held],
      })
      const enrolled = `/holdfast/v1/leasable-nodes/${booked}`
      good(await rig.admin.holdfast('PUT', enrolled, {}), 'enrolled')
      await candidates(rig, 0)
      // One with an allocation has an instance that Nova doesn't know, so it isn't a hypervisor of Nova's any more.
      await hypervisors(rig, 2)
      await refused(rig)
      await requireQuiet(rig, [given!, held!, booked!])
      await metal(rig, 'DELETE', `/allocations/${String(uuid)}`)
      await metal(rig, 'DELETE', `/reservations/${String(reservation.uuid)}`)
      good(await rig.admin.holdfast('DELETE', enrolled), 'withdrawn')
      await metal(rig, 'PUT', `/nodes/${held}/maintenance`, {})
      await candidates(rig, 2)
      await metal(rig, 'DELETE', `/nodes/${held}/maintenance`)
      await candidates(rig, 3)
      await hypervisors(rig, 3)
      await remove(rig, await Promise.all([1, 2, 3].map(i => boot(rig, rig.admin, `after-${i}`, FLAVOR))))
      await candidates(rig, 3)
    }),
}

/** Long enough to end a process in the middle. */
const SLOW = { deploy: 6, tearDown: 6 }

export const ironicRestarts: Scenario = {
  name: 'ironic: restarts, and nodes that go',
  run: rig =>
    withNodes(
      rig,
      async () => {
        await deployCut(rig)
        await candidates(rig, 3)
        const id = await boot(rig, rig.admin, 'interrupted', FLAVOR)
        await rig.stop(COMPUTE)
        await rig.start(COMPUTE)
        await until(`${COMPUTE} is up`, async () => (await serviceOf(rig, COMPUTE)).state === 'up')
        await act(rig, id, { 'os-stop': null })
        await awaited(rig, id, 'SHUTOFF')
        await remove(rig, [id])
        await candidates(rig, 3)
        await nodesGo(rig)
      },
      SLOW,
    ),
}

/** Where a node stays until someone undeploys it. */
const STUCK = new Set(['active', 'deploy failed', 'error'])

/**
 * Holdfast ends while it deploys. When it is back, it says that the deployment failed. nova-compute looks at the node every
 * second, and tries only once more: then it gives the server up, as with an Ironic that is away, and can't undo what it
 * began. The node keeps the instance that Nova has forgotten, nobody else gets it, and the server can't be deleted, until
 * the operator takes the node back.
 */
async function deployCut(rig: Rig): Promise<void> {
  const id = await order(rig.admin, 'cut', FLAVOR)
  const node = await nodeAt(rig, id)
  await inState(rig, node, 'deploying')
  await rig.holdfast.stop('SIGKILL')
  await rig.holdfast.start()
  const status = await until('Nova has decided', async () => {
    const shown = await show(rig.admin, id)
    return ['ACTIVE', 'ERROR'].includes(shown.status) ? String(shown.status) : null
  })
  if (status === 'ACTIVE') await remove(rig, [id])
  await until(`${node} is free`, async () => {
    const { provision_state, instance_uuid } = await metal(rig, 'GET', `/nodes/${node}`)
    if (STUCK.has(provision_state)) {
      await rig.admin.holdfast('PUT', `/baremetal/v1/nodes/${node}/states/provision`, { target: 'deleted' })
    }
    return provision_state === 'available' && instance_uuid === null
  })
  if (status === 'ERROR') await remove(rig, [id])
}

const nodeAt = (rig: Rig, server: string) =>
  until(`${server} has a node`, async () => {
    const { nodes } = await metal(rig, 'GET', `/nodes?instance_uuid=${server}`)
    return nodes[0] ? String(nodes[0].uuid) : null
  })

/** Nodes are deleted under Nova: one without a server, and one with. */
async function nodesGo(rig: Rig): Promise<void> {
  const id = await boot(rig, rig.admin, 'homeless', FLAVOR)
  const lost = await nodeOf(rig, id)
  const { nodes } = await metal(rig, 'GET', '/nodes')
  const free = [...nodes].map(({ uuid }) => String(uuid)).find(uuid => uuid !== lost)!
  await metal(rig, 'DELETE', `/nodes/${free}`)
  await hypervisors(rig, 2)
  await metal(rig, 'PUT', `/nodes/${lost}/maintenance`, {})
  await metal(rig, 'DELETE', `/nodes/${lost}`)
  await remove(rig, [id])
  await hypervisors(rig, 1)
  await candidates(rig, 1)
  await requireQuiet(rig, [])
}
