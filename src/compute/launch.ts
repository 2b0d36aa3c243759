// Making a server: proposes places from memory, and claims one in the same transaction that makes the server.
import type { Clock } from '../clock.ts'
import { claimBatch } from '../ledger/claims/batch.ts'
import type { ClaimRequest, Resources } from '../ledger/claims/claim.ts'
import type { Mirror } from '../ledger/mirror.ts'
import { limits } from '../limits.ts'
import type { Drivers } from '../metal/drivers/registry.ts'
import { Problem, problem } from '../problem.ts'
import type { Store } from '../store/store.ts'
import type { Write } from '../store/transaction.ts'
import { inTurns } from '../turns.ts'
import { useFlavor } from './flavors.ts'
import { unusableHypervisors } from './hypervisors.ts'
import { deployServer } from './metal-servers.ts'
import { findPlaces, type Place } from './scheduler.ts'
import { addServer, deleteServer, lockServer, type NewServer, OWNER, release, saveServer } from './servers.ts'
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

/** A server that is asked for, before it has a place. */
export type ServerRequest = Pick<
  NewServer,
  'uuid' | 'name' | 'project_id' | 'user_id' | 'flavor_id' | 'image_id' | 'key_name' | 'metadata' | 'reservation_id'
> & { wish: Wish; only: string | null }

const NOWHERE = problem('no_valid_host', { reason: 'There are not enough hosts available.' }).message

/**
 * Makes servers, each with a place of its own or with a fault that says that there is none. When fewer than `countMin` find a
 * place, none keeps it. Says how many have one.
 */
export async function launchServers(
  scheduling: Scheduling,
  requests: readonly ServerRequest[],
  countMin: number,
  visibleTo: string | null,
): Promise<number> {
  const placed: ServerRequest[] = []
  for (const request of requests) {
    if (await launch(scheduling, request, visibleTo)) placed.push(request)
  }
  if (placed.length >= countMin) return placed.length
  for (const { uuid } of placed) await scheduling.store.write(() => giveUp(uuid, scheduling.clock.now()))
  return 0
}

async function launch(scheduling: Scheduling, request: ServerRequest, visibleTo: string | null): Promise<boolean> {
  const { store, clock, drivers } = scheduling
  const placed = await tryPlaces(scheduling, request.wish, { only: request.only, except: [] }, place => {
    const now = clock.now()
    return store.write(function* (): Write<boolean> {
      yield* useFlavor(request.flavor_id, visibleTo)
      const server = newServer(request, now)
      return place.isMetal
        ? yield* deployServer(server, place.host, request.wish, drivers, now)
        : yield* startServer(server, place, now)
    })
  })
  if (placed) return true
  await store.write(function* (): Write<void> {
    yield* useFlavor(request.flavor_id, visibleTo)
    const now = clock.now()
    yield* addServer({ ...newServer(request, now), status: 'ERROR', fault: NOWHERE, fault_at: now })
  })
  return false
}

function newServer({ wish, only: _, ...request }: ServerRequest, now: number): NewServer {
  return {
    ...request,
    wish: JSON.stringify(wish),
    host_id: null,
    is_metal: 0,
    status: 'BUILD',
    task: null,
    fault: null,
    fault_at: null,
    launched_at: null,
    created_at: now,
    updated_at: now,
  }
}

/** The fake virt driver needs no time, so a server that has its claim is running. */
function* startServer(server: NewServer, { host, claims }: Place, now: number): Write<boolean> {
  const [refusal] = yield* claimBatch([claimFor(server, claims)], now)
  if (refusal) return false
  yield* addServer({ ...server, host_id: host.id, status: 'ACTIVE', launched_at: now })
  return true
}

export function claimFor(
  server: Pick<NewServer, 'uuid' | 'project_id' | 'user_id'>,
  resources: Resources,
): ClaimRequest {
  const { uuid, project_id, user_id } = server
  const claims = { consumer: uuid, projectId: project_id, userId: user_id, type: 'INSTANCE', generation: undefined }
  return { kind: 'replace', consumers: [{ ...claims, resources }], owner: OWNER }
}

export interface Where {
  only: string | null
  /** Hosts that are out of the question, by provider id. */
  except: readonly number[]
}

/** Proposes one place after another until one is taken; false when there is none, or too many were lost to others. */
export async function tryPlaces(
  { store, mirror, clock, catchUp }: Scheduling,
  wish: Wish,
  { only, except }: Where,
  take: (place: Place) => Promise<boolean>,
): Promise<boolean> {
  const tried = new Set(except)
  let isCurrent = false
  for (let attempts = 0; attempts < limits.placesTriedMax;) {
    const without = (await store.read(unusableHypervisors)).union(tried)
    const places = await inTurns(findPlaces(mirror.table, wish, { without, only, seed: clock.newSeed() }))
    if (places.length === 0) {
      if (isCurrent) return false
      // Another process may have made room just now.
      await catchUp()
      isCurrent = true
    }
    for (const place of places) {
      attempts++
      if (await takeOrLose(place, take)) return true
      tried.add(place.host.id)
    }
  }
  return false
}

/** What the ledger or a node refuses is lost to someone else; that the flavor is gone ends the search. */
async function takeOrLose(place: Place, take: (place: Place) => Promise<boolean>): Promise<boolean> {
  try {
    return await take(place)
  } catch (error) {
    if (error instanceof Problem && place.isMetal && error.kind !== 'flavor_unusable') return false
    throw error
  }
}

/** Takes a server's place away again, and leaves it with the fault that it would have had without one. */
function* giveUp(uuid: string, now: number): Write<void> {
  const server = yield* lockServer(uuid, null)
  if (server.is_metal) {
    yield* deleteServer(uuid, now)
  } else {
    yield* release([uuid], now)
    yield* saveServer({ ...server, host_id: null, status: 'ERROR', fault: NOWHERE, fault_at: now, updated_at: now })
  }
}
