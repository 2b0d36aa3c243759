// Gives back everything that demo --live has taken: at its end, and at its start what an interrupted run
// has left.
import { ApiError, type Json } from '../../client/index.ts'
import { atOnce } from '../../shared/at-once.ts'
import type { Crowd } from './crowd.ts'
import { liveConsumer, liveLeaseName, unmarkLive } from './live-things.ts'
import { CLAIM_NAMES } from './live.ts'
import { isDemoLease, isMarked } from './marks.ts'

export async function tidy({ admin }: Crowd): Promise<void> {
  const isLive = (thing: Json) => isMarked(thing) && (thing['extra'] as Json)['live'] === true
  const servers = (await admin.servers.list({ all_tenants: 1 })).filter(({ metadata }) => metadata['live'] === 'true')
  await atOnce(servers, ({ id }) => tolerated(admin.servers.delete(id)))
  const leases = (await admin.leases.list()).filter(
    lease => isDemoLease(lease) && lease.name.startsWith(liveLeaseName('')),
  )
  await atOnce(leases, ({ id }) => tolerated(admin.leases.delete(id)))
  await atOnce(CLAIM_NAMES, name => tolerated(admin.claims.delete(liveConsumer(name))))
  const allocations = (await admin.allocations.list({ fields: ['uuid', 'node_uuid', 'extra'] })).filter(isLive)
  await atOnce(allocations, ({ uuid }) => endAllocation(admin, uuid))
  const nodes = (await admin.nodes.list({ fields: ['uuid', 'extra', 'maintenance', 'provision_state'] })).filter(isLive)
  await atOnce(nodes, async ({ uuid, maintenance, provision_state }) => {
    await tolerated(unmarkLive(admin, uuid))
    if (maintenance) await tolerated(admin.nodes.endMaintenance(uuid))
    if (USED.has(provision_state)) await tolerated(admin.nodes.provision(uuid, 'deleted'))
  })
}

const USED = new Set(['active', 'deploy failed', 'error'])

/** An allocation whose node is in use can't be deleted (409); if it expires, the node is torn down. */
async function endAllocation({ allocations }: Crowd['admin'], uuid: string): Promise<void> {
  try {
    await allocations.delete(uuid)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 409) await tolerated(allocations.renew(uuid, '1s'))
  }
}

/** Ignores refusals: the thing is gone already, or is just ending. */
async function tolerated(act: Promise<unknown>): Promise<void> {
  try {
    await act
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
  }
}
