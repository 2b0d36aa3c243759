// Asks Nova for the hypervisor that somebody named, before the transaction that makes it a host of leases.
import { idIn, listProviders } from '../../ledger/providers.ts'
import { type Nova, NovaAway, type NovaHypervisor, NovaRefusal } from '../../nova/port.ts'
import { problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import type { LeaseContext } from '../context.ts'
import type { SeenHypervisor } from '../types.ts'

type Asking = Pick<LeaseContext, 'store' | 'clock'> & { nova: Pick<Nova, 'hypervisors'> }

/** By its hostname, its uuid, the host of its compute service, or our decimal id of its provider. */
export async function askForHypervisor({ nova, store, clock }: Asking, name: string): Promise<SeenHypervisor> {
  const id = idIn(name)
  const [provider] = id === null ? [] : await store.read(() => listProviders({ ids: [id] }))
  const seenAt = clock.now()
  return { ...named(await listedBy(nova), name, provider?.uuid), seenAt }
}

async function listedBy(nova: Asking['nova']): Promise<NovaHypervisor[]> {
  try {
    return await nova.hypervisors()
  } catch (error) {
    if (!(error instanceof NovaAway || error instanceof NovaRefusal)) throw error
    throw problem('nova_away', { reason: error.message, retrySeconds: limits.novaAwayRetrySeconds })
  }
}

function named(listed: readonly NovaHypervisor[], name: string, ofProvider: string | undefined): NovaHypervisor {
  const isMeant: ((one: NovaHypervisor) => boolean)[] = [
    one => one.hostname === name,
    one => one.id === name.toLowerCase(),
    one => one.service === name,
    one => one.id === ofProvider,
  ]
  const [found, ...more] = isMeant.map(meant => listed.filter(meant)).find(some => some.length > 0) ?? []
  if (!found) throw problem('hypervisor_not_in_nova', { name })
  if (more.length === 0) return found
  const hostnames = [found, ...more].map(({ hostname }) => hostname)
  const shown = hostnames.slice(0, limits.hypervisorsShown).join(', ')
  const reason = `${name} stands for ${hostnames.length} hypervisors of Nova, such as ${shown}. Name one of them.`
  throw problem('host_invalid', { reason })
}
