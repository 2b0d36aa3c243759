// Moving a server: proposes places from memory, and swaps the claims in one transaction.
import { problem } from '../problems/problem.ts'
import { withinQuota } from '../quotas/within.ts'
import { jsonIn } from '../shared/json.ts'
import { WISH } from '../store/schema/json-columns.ts'
import { findHypervisor, requireTarget } from './hypervisors.ts'
import { type MoveRequest, moveTo, requireMovable } from './moves.ts'
import { type Scheduling, tryPlaces } from './placing.ts'
import { findServer } from './servers.ts'
import { resizedWish } from './wishes.ts'

/** Moves a server to the given host, or to any other than its own. */
export async function relocate(scheduling: Scheduling, request: MoveRequest, only: string | null): Promise<void> {
  const { store, clock } = scheduling
  const server = await store.read(function* () {
    const found = yield* findServer(request.server, request.visibleTo)
    requireMovable(found, request.kind)
    if (only !== null) yield* requireTarget(only)
    if (request.kind === 'evacuation') {
      const { state, name } = yield* findHypervisor(found.host_id!)
      if (state === 'up') throw problem('hypervisor_in_use', { name })
    }
    return found
  })
  const sourceId = server.host_id!
  const before = jsonIn(server.wish, WISH)
  const resize = request.resize && { ...request.resize, wish: resizedWish(before, request.resize.wish) }
  const wish = resize?.wish ?? before
  const placed = await tryPlaces(scheduling, wish, { only, except: [sourceId] }, async place => {
    if (place.isMetal) return false
    const now = clock.now()
    return store.write(() =>
      withinQuota({ project: server.project_id, kinds: ['servers'], now }, () =>
        moveTo(place, { ...request, resize }, sourceId, now),
      ),
    )
  })
  if (!placed) throw problem('no_valid_host', { reason: 'There are not enough hosts available.' })
}
