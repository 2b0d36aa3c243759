// What a scenario may not leave: servers, flavors and aggregates in Nova; claims, leases and classes in Holdfast; and
// anything that fsck finds.
import { good } from './caller.ts'
import { allServers, remove, used } from './servers.ts'
import type { Rig } from './rig.ts'
import { until } from './until.ts'

const PATIENCE_S = 90

/** What is left, in words. Some things take a moment to go, so it looks more than once. */
export async function leftovers(rig: Rig): Promise<string[]> {
  let last: string[] = []
  await until('nothing is left', async () => (last = await look(rig)).length === 0, PATIENCE_S).catch(() => {})
  return last
}

async function look(rig: Rig): Promise<string[]> {
  const { admin } = rig
  const left: string[] = []
  const servers = await allServers(rig)
  if (servers.length > 0) left.push(`servers in Nova: ${servers.join(' ')}`)
  const flavors = await furtherFlavors(rig)
  if (flavors.length > 0) left.push(`flavors in Nova: ${flavors.join(' ')}`)
  const aggregates = (await admin.get('/os-aggregates')).aggregates
  if (aggregates.length > 0) left.push(`aggregates in Nova: ${JSON.stringify(aggregates)}`)
  for (const [host, usages] of Object.entries(await used(rig))) {
    if (Object.values(usages).some(count => count > 0)) left.push(`claims on ${host}: ${JSON.stringify(usages)}`)
  }
  const leases = good(await admin.holdfast('GET', '/reservation/v1/leases?all_tenants=1'), 'leases').leases
  if (leases.length > 0)
    left.push(`leases: ${[...leases].map(({ name, status }) => `${String(name)} ${String(status)}`).join(', ')}`)
  const classes = good(await admin.holdfast('GET', '/placement/resource_classes'), 'classes').resource_classes
  const { hosts } = good(await admin.holdfast('GET', '/reservation/v1/os-hosts'), 'hosts')
  if (hosts.length > 0) left.push(`hosts: ${hosts.length}`)
  const own = [...classes].map(({ name }) => String(name)).filter(name => name.startsWith('CUSTOM_RESERVATION'))
  if (own.length > 0) left.push(`classes: ${own.join(' ')}`)
  const found = await rig.holdfast.fsck()
  if (found !== '') left.push(`fsck: ${found.slice(-600)}`)
  return left
}

/** The ids of those that are not the rig's own. */
async function furtherFlavors(rig: Rig): Promise<string[]> {
  const { flavors } = await rig.admin.get('/flavors?is_public=none')
  return [...flavors].map(({ id }) => String(id)).filter(id => !id.startsWith('m1.'))
}

/** Removes what a failed scenario left, so that the next one can show something. */
export async function sweep(rig: Rig): Promise<void> {
  const leases = good(await rig.admin.holdfast('GET', '/reservation/v1/leases?all_tenants=1'), 'leases').leases
  for (const { id } of leases) await rig.admin.holdfast('DELETE', `/reservation/v1/leases/${String(id)}`)
  await remove(rig, await allServers(rig))
  const { hosts } = good(await rig.admin.holdfast('GET', '/reservation/v1/os-hosts'), 'hosts')
  for (const { id } of hosts) {
    await until(`host ${id} is given back`, async () => {
      const { status } = await rig.admin.holdfast('DELETE', `/reservation/v1/os-hosts/${id}`)
      return status < 300 || status === 404
    })
  }
  for (const id of await furtherFlavors(rig)) await rig.admin.nova('DELETE', `/flavors/${id}`)
}
