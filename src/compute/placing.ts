// Finds a place for a server: memory proposes places, and the caller takes one in a transaction or loses it to others.
import type { Clock } from '../clock/clock.ts'
import type { Mirror } from '../ledger/mirror.ts'
import { limits } from '../shared/limits.ts'
import type { Drivers } from '../metal/drivers/registry.ts'
import { Problem, type ProblemKind } from '../problems/problem.ts'
import type { ProviderId } from '../store/schema/ids.ts'
import type { Store } from '../store/store.ts'
import { runYielding } from '../shared/yielding.ts'
import { unusableHypervisors } from './hypervisors.ts'
import { findPlaces, type Place } from './scheduler.ts'
import type { Wish } from './wishes.ts'

/** What it takes to find and claim a place. */
export interface Scheduling {
  store: Store
  mirror: Mirror
  /** Resolves when the mirror knows everything that is committed now. */
  catchUp: () => Promise<void>
  clock: Clock
  drivers: Drivers
}

interface Where {
  only: string | null
  /** Hosts to leave out, by provider id. */
  except: readonly ProviderId[]
}

/** Proposes one place after another until one is taken; null when there is none, or too many were lost to others. */
export async function tryPlaces(
  { store, mirror, clock, catchUp }: Scheduling,
  wish: Wish,
  { only, except }: Where,
  take: (place: Place) => Promise<boolean>,
): Promise<Place | null> {
  const tried = new Set(except)
  let isCurrent = false
  for (let attempts = 0; attempts < limits.placesTriedMax;) {
    const without = (await store.read(unusableHypervisors)).union(tried)
    const places = await runYielding(findPlaces(mirror.table, wish, { without, only, seed: clock.newSeed() }))
    if (places.length === 0) {
      if (isCurrent) return null
      // Another process may have made room just now.
      await catchUp()
      isCurrent = true
    }
    for (const place of places) {
      attempts++
      if (await takeOrLose(place, take)) return place
      tried.add(place.host.id)
    }
  }
  return null
}

/** Problems that end the search: another place would not help. */
const FINAL: ReadonlySet<ProblemKind> = new Set(['flavor_unusable', 'quota_exceeded'])

/** A place that the ledger or a node refuses counts as lost to someone else. */
async function takeOrLose(place: Place, take: (place: Place) => Promise<boolean>): Promise<boolean> {
  try {
    return await take(place)
  } catch (error) {
    if (error instanceof Problem && place.isMetal && !FINAL.has(error.kind)) return false
    throw error
  }
}
