// Compares what Nova says of its hypervisors with what we know of them.
import type { HypervisorState } from '../../compute/hypervisors.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import type { NovaHypervisor } from '../../nova/port.ts'
import type { ProviderId } from '../../store/schema/ids.ts'

/** A provider that is one of Nova's hypervisors, or was. */
export interface KnownHost {
  id: ProviderId
  uuid: string
  name: string
  /** What was said of it last. */
  said: HypervisorState
}

export interface HostChange {
  id: ProviderId
  name: string
  /** Its new uuid in Nova; null while that is the same. */
  uuid: string | null
  said: HypervisorState
}

/** What nobody has said anything about is taken to be well. */
export const WELL: HypervisorState = { state: 'up', status: 'enabled', disabled_reason: null }

const GONE = 'gone from Nova'

export const toldBy = ({ state, status, disabledReason }: NovaHypervisor): HypervisorState => ({
  state,
  status,
  disabled_reason: disabledReason,
})

/** The hosts of which Nova says something new. `taken` are the uuids that providers have, of hosts or not. */
export function hostChanges(
  known: readonly KnownHost[],
  listed: readonly NovaHypervisor[],
  taken: ReadonlySet<string>,
): HostChange[] {
  const byUuid = new Map(listed.map(one => [one.id, one]))
  const byName = Map.groupBy(listed, one => one.hostname)
  return known.flatMap(({ id, uuid, name, said }) => {
    const same = byUuid.get(uuid)
    if (same) return isSame(said, toldBy(same)) ? [] : { id, name, uuid: null, said: toldBy(same) }
    // A compute service that is deleted and comes back has the same name and a new uuid.
    const [again, ...more] = byName.get(name) ?? []
    const isFree = again && more.length === 0 && canonicalUuid(again.id) === again.id && !taken.has(again.id)
    if (isFree) return { id, name, uuid: again.id, said: toldBy(again) }
    const away: HypervisorState = { state: 'down', status: said.status, disabled_reason: awayBecause(again) }
    return isSame(said, away) ? [] : { id, name, uuid: null, said: away }
  })
}

const awayBecause = (again: NovaHypervisor | undefined) =>
  again ? `${GONE}, where its name now has a uuid that it can't have here: ${again.id}` : GONE

const isSame = (a: HypervisorState, b: HypervisorState) =>
  a.state === b.state && a.status === b.status && a.disabled_reason === b.disabled_reason
