// Servers that move: cold and live migration, resize confirmed and reverted, deletion in between, evacuation; shelving is
// refused in words. The ledger has the right claims after each.
import assert from 'node:assert/strict'
import { act, awaited, boot, hostOf, remove, show, usedVcpus } from './servers.ts'
import type { Rig, Scenario } from './rig.ts'
import { until } from './until.ts'

const HOSTS = ['compute-1', 'compute-2', 'compute-3']

export const moves: Scenario = {
  name: 'moves',
  async run(rig) {
    const id = await boot(rig, rig.admin, 'mover')
    const at = async () => hostOf(await show(rig.admin, id))
    const move = async (action: object) => {
      const from = await at()
      await act(rig, id, action)
      await awaited(rig, id, 'VERIFY_RESIZE')
      return { from, to: await at() }
    }
    const settle = async (action: object) => {
      await act(rig, id, action)
      await awaited(rig, id, 'ACTIVE')
      return at()
    }
    const first = await move({ migrate: null })
    await only(rig, { [first.from]: 1, [first.to]: 1 })
    await only(rig, { [await settle({ confirmResize: null })]: 1 })
    const second = await move({ resize: { flavorRef: 'm1.small' } })
    await only(rig, { [second.from]: 1, [second.to]: 2 })
    assert.equal(await settle({ revertResize: null }), second.from)
    await only(rig, { [second.from]: 1 })
    await move({ resize: { flavorRef: 'm1.small' } })
    await only(rig, { [await settle({ confirmResize: null })]: 2 })
    await move({ resize: { flavorRef: 'm1.tiny' } })
    await remove(rig, [id])
    await only(rig, {})
  },
}

/** Only these hosts have VCPUs in use. */
const only = (rig: Rig, some: Record<string, number>) =>
  usedVcpus(rig, { ...Object.fromEntries(HOSTS.map(host => [host, 0])), ...some })

/** The fake driver can't move a running server; what the ledger has afterwards is what counts. */
export const liveMigration: Scenario = {
  name: 'live migration',
  async run(rig) {
    const id = await boot(rig, rig.admin, 'live')
    await act(rig, id, { 'os-migrateLive': { host: null, block_migration: 'auto' } })
    await until('the migration is over', async () => {
      const all = (await rig.admin.get(`/os-migrations?instance_uuid=${id}`)).migrations
      return ['completed', 'error', 'failed'].includes(all[0]?.status)
    })
    await awaited(rig, id, 'ACTIVE')
    const now = hostOf(await show(rig.admin, id))
    await only(rig, { [now]: 1 })
    await remove(rig, [id])
  },
}

export const evacuate: Scenario = {
  name: 'evacuate',
  async run(rig) {
    const id = await boot(rig, rig.admin, 'refugee', 'm1.tiny', { availability_zone: 'nova:compute-1' })
    await withoutCompute(rig, 'compute-1', async () => {
      await act(rig, id, { evacuate: {} })
      await until('it is on another host', async () => hostOf(await show(rig.admin, id)) !== 'compute-1')
      const { 'OS-EXT-SRV-ATTR:host': host } = await awaited(rig, id, 'ACTIVE')
      // Until its old host is back, the server holds its place there too.
      await only(rig, { 'compute-1': 1, [host]: 1 })
    })
    await only(rig, { [hostOf(await show(rig.admin, id))]: 1 })
    await remove(rig, [id])
  },
}

export const shelve: Scenario = {
  name: 'shelve is refused',
  async run(rig) {
    const id = await boot(rig, rig.admin, 'shelf')
    const { status, body } = await rig.admin.nova('POST', `/servers/${id}/action`, { shelve: null })
    assert.equal(status, 403, JSON.stringify(body))
    assert.match(String(body.forbidden['message']), /Images are not kept here/)
    // Nova notes the task before it asks for the image, and doesn't take it back when that is refused.
    await act(rig, id, { 'os-resetState': { state: 'active' } })
    await awaited(rig, id, 'ACTIVE')
    const snapshot = await rig.admin.nova('POST', `/servers/${id}/action`, { createImage: { name: 'snap' } })
    assert.equal(snapshot.status, 403, JSON.stringify(snapshot.body))
    assert.equal((await awaited(rig, id, 'ACTIVE'))['OS-EXT-STS:task_state'] ?? null, null)
    await remove(rig, [id])
  },
}

/** Does something while a nova-compute is dead and known to be, and waits until it is up again. */
export async function withoutCompute(
  rig: Rig,
  host: 'compute-1' | 'compute-2',
  body: () => Promise<void>,
): Promise<void> {
  const service = await serviceOf(rig, host)
  rig.kill(host)
  await rig.admin.nova('PUT', `/os-services/${String(service.id)}`, { forced_down: true })
  await until(`${host} counts as down`, async () => (await serviceOf(rig, host)).state === 'down')
  try {
    await body()
  } finally {
    await rig.stop(host)
    await reported(rig, [host], async () => {
      await rig.start(host)
      // Nova refuses this until the host has let go of what was evacuated.
      await until(`${host} may be up`, async () => {
        const { status } = await rig.admin.nova('PUT', `/os-services/${String(service.id)}`, { forced_down: false })
        return status === 200
      })
    })
  }
}

/** Starts something, and waits until these computes have reported since. A dead one counts as up for a minute. */
export async function reported(rig: Rig, hosts: readonly string[], start: () => Promise<void>): Promise<void> {
  const began = new Date().toISOString().slice(0, 19)
  await start()
  for (const host of hosts) {
    await until(`${host} is up`, async () => {
      const path = `/os-services?binary=nova-compute&host=${host}`
      // nova-api may be what has just been started.
      const answer = await rig.admin.nova('GET', path).catch(() => null)
      const [service] = answer?.status === 200 ? answer.body.services : []
      return service?.state === 'up' && String(service.updated_at) > began
    })
  }
}

export async function serviceOf(rig: Rig, host: string) {
  const all = (await rig.admin.get(`/os-services?binary=nova-compute&host=${host}`)).services
  return all[0]!
}
