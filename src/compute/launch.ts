// Creates servers. One transaction creates the server and claims its place.
import { claimBatch } from '../ledger/claims/batch.ts'
import type { ClaimRequest, Resources } from '../ledger/claims/claim.ts'
import { Problem, problem } from '../problems/problem.ts'
import { vcpusOf } from '../quotas/usage.ts'
import { kindsOf } from '../quotas/texts.ts'
import { requireRoom, withinQuota } from '../quotas/within.ts'
import { jsonText } from '../shared/json.ts'
import type { Write } from '../store/transaction.ts'
import { useFlavor } from './flavors.ts'
import { deployServer } from './metal-servers.ts'
import { type Scheduling, tryPlaces } from './placing.ts'
import type { Place } from './scheduler.ts'
import { addServer, deleteServer, lockServer, type NewServer, OWNER, release, saveServer } from './servers.ts'
import type { Wish } from './wishes.ts'

/** A server that is asked for, before it has a place. */
export type ServerRequest = Pick<
  NewServer,
  | 'uuid'
  | 'name'
  | 'project_id'
  | 'user_id'
  | 'flavor_id'
  | 'image_id'
  | 'key_name'
  | 'metadata'
  | 'reservation_id'
  | 'description'
  | 'launch_index'
  | 'network'
> & {
  wish: Wish
  only: string | null
  /** The flavor of the reservation in the scheduler hint: the project must have access to it. */
  reservation: string | null
}

const NOWHERE = problem('no_valid_host', { reason: 'There are not enough hosts available.' }).message

/**
 * Creates servers, each with a place of its own or with a fault that says there is none. If fewer than `countMin` get a
 * place, all lose it. Returns how many have one.
 */
export async function launchServers(
  scheduling: Scheduling,
  requests: readonly ServerRequest[],
  countMin: number,
  visibleTo: string | null,
): Promise<number> {
  const { store, clock } = scheduling
  await requireRoomForAll(scheduling, requests.slice(0, countMin))
  const places = new Map<string, Place>()
  for (const [made, request] of requests.entries()) {
    try {
      const place = await launch(scheduling, request, visibleTo)
      if (place) places.set(request.uuid, place)
    } catch (error) {
      if (!(error instanceof Problem) || error.kind !== 'quota_exceeded') throw error
      // The quota is used up: keep the servers made so far if they are enough.
      if (made >= countMin) break
      for (const { uuid } of requests.slice(0, made)) await store.write(() => deleteServer(uuid, clock.now()))
      throw error
    }
  }
  if (places.size >= countMin) return places.size
  for (const uuid of places.keys()) await store.write(() => giveUp(uuid, clock.now()))
  return 0
}

/** Checks the quota for all servers before the first one is created. */
async function requireRoomForAll({ store, clock }: Scheduling, requests: readonly ServerRequest[]): Promise<void> {
  const project = requests[0]!.project_id
  const asked = new Map([
    ['instances', requests.length],
    ['vcpus', requests.reduce((sum, { wish }) => sum + vcpusOf(wish), 0)],
  ])
  await store.read(() => requireRoom({ project, kinds: ['servers'], now: clock.now() }, asked))
}

async function launch(scheduling: Scheduling, request: ServerRequest, visibleTo: string | null): Promise<Place | null> {
  const { store, clock, drivers } = scheduling
  const place = await tryPlaces(scheduling, request.wish, { only: request.only, except: [] }, place => {
    const now = clock.now()
    return store.write(() =>
      withinQuota(
        { project: request.project_id, kinds: ['servers', 'nodes', ...kindsOf(request.metadata)], now },
        function* (): Write<boolean> {
          yield* useFlavor(request.flavor_id, visibleTo)
          if (request.reservation !== null) yield* useFlavor(request.reservation, request.project_id)
          const server = newServer(request, now)
          return place.isMetal
            ? yield* deployServer(server, place.host, request.wish, drivers, now)
            : yield* startServer(server, place, now)
        },
      ),
    )
  })
  if (place) return place
  const now = clock.now()
  await store.write(() =>
    withinQuota(
      { project: request.project_id, kinds: ['servers', ...kindsOf(request.metadata)], now },
      function* (): Write<void> {
        yield* useFlavor(request.flavor_id, visibleTo)
        yield* addServer({ ...newServer(request, now), status: 'ERROR', fault: NOWHERE, fault_at: now })
      },
    ),
  )
  return null
}

function newServer({ wish, only: _, reservation: __, ...request }: ServerRequest, now: number): NewServer {
  return {
    ...request,
    wish: jsonText(wish),
    tags: jsonText([]),
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

/** The fake virt driver needs no time, so a server runs as soon as it has its claim. */
function* startServer(server: NewServer, { host, claims }: Place, now: number): Write<boolean> {
  const [refusal] = yield* claimBatch([claimFor(server, claims)], now)
  if (refusal) return false
  yield* addServer({ ...server, host_id: host.id, status: 'ACTIVE', launched_at: now })
  return true
}

function claimFor(server: Pick<NewServer, 'uuid' | 'project_id' | 'user_id'>, resources: Resources): ClaimRequest {
  const { uuid, project_id, user_id } = server
  const claims = { consumer: uuid, projectId: project_id, userId: user_id, type: 'INSTANCE', generation: undefined }
  return { kind: 'replace', consumers: [{ ...claims, resources }], owner: OWNER }
}

/** Takes a server's place away and sets the fault for no place. A server on bare metal is deleted. */
function* giveUp(uuid: string, now: number): Write<void> {
  const server = yield* lockServer(uuid, null)
  if (server.is_metal) {
    yield* deleteServer(uuid, now)
  } else {
    yield* release([uuid], now)
    yield* saveServer(server, {
      ...server,
      host_id: null,
      status: 'ERROR',
      fault: NOWHERE,
      fault_at: now,
      updated_at: now,
    })
  }
}
