// Looks up the flavors that a new lease names, in our own compute or in a Nova, before the booking: nothing foreign is
// asked inside a transaction. What is booked is a copy.
import type { Logger } from 'pino'
import { findFlavor } from '../../compute/flavors.ts'
import { type Nova, NovaAway, NovaRefusal } from '../../nova/port.ts'
import { Problem, problem } from '../../problems/problem.ts'
import type { SourceFlavor } from '../../store/schema/leases.ts'
import type { Store } from '../../store/store.ts'
import type { AskedLease, FlavorTerms, NewLease } from '../types.ts'
import { needsOf } from './flavor-needs.ts'

interface Looking {
  readonly store: Pick<Store, 'read'>
  readonly log: Logger
  /** The Nova whose flavors these are; absent or null: they are our own. */
  readonly nova?: Nova | null
}

/** `visibleTo` is the project that must see the flavors; null sees all. */
export async function withFlavors(looking: Looking, asked: AskedLease, visibleTo: string | null): Promise<NewLease> {
  const ids = new Set(asked.reservations.flatMap(one => ('flavor_id' in one ? one.flavor_id : [])))
  const found = new Map<string, Pick<FlavorTerms, 'flavor' | 'needs'>>()
  for (const id of ids) {
    const flavor = await sourceFlavor(looking, id, visibleTo)
    if (!flavor) throw problem('lease_invalid', { reason: `Flavor ${id} could not be found.` })
    found.set(id, { flavor, needs: needsOf(flavor, looking.nova ? 'nova' : 'own') })
  }
  const reservations = asked.reservations.map(one =>
    one.resource_type === 'flavor:instance' ? { ...one, ...found.get(one.flavor_id)! } : one,
  )
  return { ...asked, reservations }
}

async function sourceFlavor(looking: Looking, id: string, visibleTo: string | null): Promise<SourceFlavor | null> {
  const { store, nova, log } = looking
  if (!nova) return store.read(() => ownFlavor(id, visibleTo))
  try {
    return await novaFlavor(nova, id, visibleTo)
  } catch (error) {
    if (!(error instanceof NovaAway) && !(error instanceof NovaRefusal)) throw error
    log.warn({ err: error, flavor: id }, 'a flavor could not be looked up in Nova')
    throw problem('unavailable', { reason: `Nova can't be asked for flavor ${id} now.` })
  }
}

function* ownFlavor(id: string, visibleTo: string | null) {
  try {
    const { disabled: _, managed_by: __, created_at: ___, is_public, ...flavor } = yield* findFlavor(id, visibleTo)
    return { ...flavor, is_public: is_public === 1 }
  } catch (error) {
    if (error instanceof Problem && error.kind === 'flavor_not_found') return null
    throw error
  }
}

/** What Nova takes as an id. Dots alone would be another path. */
const NOVA_ID = /^(?!\.+$)[\w. -]{1,255}$/

async function novaFlavor(nova: Nova, id: string, visibleTo: string | null): Promise<SourceFlavor | null> {
  const found = NOVA_ID.test(id) ? await nova.flavor(id) : null
  if (!found) return null
  const isSeen = visibleTo === null || found.is_public || (await nova.flavorAccess(id)).includes(visibleTo)
  return isSeen ? { ephemeral_gb: 0, swap_mb: 0, rxtx_factor: 1, ...found } : null
}
