// The duty that follows Nova's hosts: it asks Nova which of them are up, and writes down what has changed. Healing acts
// on that as it does with our own hypervisors. While Nova is away, all stays as it was said last.
import { sql } from 'kysely'
import { recorded } from '../../audit/record.ts'
import type { Witness } from '../../audit/witness.ts'
import { type HypervisorState, sayHypervisors } from '../../compute/hypervisors.ts'
import { changeUuid } from '../../ledger/provider-uuid.ts'
import { listProviders, lockProvidersWith, type Provider } from '../../ledger/providers.ts'
import { type Nova, NovaAway, type NovaHypervisor, NovaRefusal } from '../../nova/port.ts'
import { inFull } from '../../nova/words.ts'
import { Duty } from '../../shared/duty.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import { query } from '../../store/statement.ts'
import { all, type Read, wake, type Write } from '../../store/transaction.ts'
import { lockLeasables } from '../calendar/resources.ts'
import type { LeaseContext } from '../context.ts'
import { type HostChange, hostChanges, type KnownHost, WELL } from './host-changes.ts'

type Working = Pick<LeaseContext, 'store' | 'clock' | 'log'> & {
  witness: Witness
  nova: Pick<Nova, 'hypervisors'>
  /** How often Nova is asked. */
  pollMs: number
}

/** All that is said of hypervisors, the hosts of leases, and whatever has one of these uuids. */
const candidates = query((db, a: { uuids: readonly string[] }, on) =>
  db
    .selectFrom('providers as p')
    .leftJoin('hypervisors as h', 'h.provider_id', 'p.id')
    .select(['p.id', 'p.uuid', 'p.name', 'p.parent_id', 'p.managed_by'])
    .select(['h.state', 'h.status', 'h.disabled_reason', 'h.updated_at as said_at'])
    // The ids first: with `or` all providers would be read, and a cloud has many more of them than hosts.
    .where(
      on.isAmong(
        'p.id',
        sql`(${db
          .selectFrom('hypervisors')
          .select('provider_id as id')
          .union(db.selectFrom('leasables').select('provider_id as id').where('kind', '=', 'host'))
          .union(db.selectFrom('providers').select('id').where(on.isIn('uuid', a.uuids)))})`,
      ),
    )
    .orderBy('p.id'),
)

interface Known {
  hosts: (KnownHost & { saidAt: number | null })[]
  taken: ReadonlySet<string>
}

function* knownHosts(listed: readonly NovaHypervisor[]): Read<Known> {
  const rows = yield* all(candidates({ uuids: listed.map(({ id }) => id) }))
  // A child or a node's provider is none of Nova's compute hosts, whatever its uuid.
  const hosts = rows.filter(({ parent_id, managed_by }) => parent_id === null && managed_by === null)
  return {
    hosts: hosts.map(({ id, uuid, name, said_at, state, status, disabled_reason }) => ({
      id,
      uuid,
      name,
      said: state && status ? { state, status, disabled_reason } : WELL,
      saidAt: said_at,
    })),
    taken: new Set(rows.map(({ uuid }) => uuid)),
  }
}

export class NovaHosts {
  readonly duty: Duty
  readonly #context: Working
  /** When Nova last said how its hosts are, or when this process began to ask. */
  #heardAt: number
  #isAway = false

  constructor(context: Working) {
    const { pollMs, log, clock } = context
    this.#context = context
    this.#heardAt = clock.now()
    this.duty = new Duty({ name: 'hosts of Nova', pollMs, log, run: () => this.#look() })
  }

  /** For how long nothing is known of Nova's hosts. */
  get silentSeconds(): number {
    return Math.max(this.#context.clock.now() - this.#heardAt, 0) / 1_000
  }

  async #look(): Promise<null> {
    const { nova, clock, log } = this.#context
    const askedAt = clock.now()
    try {
      await this.#follow(await nova.hypervisors(), askedAt)
    } catch (error) {
      if (!(error instanceof NovaAway || error instanceof NovaRefusal)) throw error
      if (!this.#isAway) log.warn({ reason: inFull(error) }, 'Nova does not say how its hosts are; nothing is healed')
      this.#isAway = true
      return null
    }
    if (this.#isAway) log.info('Nova says again how its hosts are')
    this.#isAway = false
    this.#heardAt = askedAt
    return null
  }

  async #follow(listed: readonly NovaHypervisor[], askedAt: number): Promise<void> {
    const { store, clock, witness } = this.#context
    const { hosts, taken } = await store.read(() => knownHosts(listed))
    // More likely a Nova that was set up anew, or looks into the wrong cell, than a cloud that lost all its hosts at once.
    if (listed.length === 0 && hosts.length > 0) throw new NovaAway('Nova lists no host at all, though it had some.')
    const ids = hostChanges(hosts, listed, taken).map(({ id }) => id)
    if (ids.length === 0) return
    const entry = witness({ action: 'follow_nova', outcome: 'done' })
    await store.write(() => recorded(writeChanges(ids, listed, askedAt, clock.now()), entry))
  }
}

/** Decides once more under lock: another process may have looked at Nova later than we did. */
function* writeChanges(
  ids: readonly ProviderId[],
  listed: readonly NovaHypervisor[],
  askedAt: number,
  now: number,
): Write<void> {
  // Leasables come before providers. While they are locked, no host is withdrawn or healed.
  yield* lockLeasables(ids)
  const locked = new Map((yield* lockProvidersWith(ids)).map(provider => [provider.id, provider]))
  const { hosts, taken } = yield* knownHosts(listed)
  const older = hosts.filter(({ id, saidAt }) => locked.has(id) && (saidAt ?? 0) <= askedAt)
  const changes = hostChanges(older, listed, taken)
  for (const { id, uuid } of changes) if (uuid !== null) yield* changeUuid(locked.get(id)!, uuid, now)
  yield* sayHypervisors(changes.map(stateOf), askedAt)
}

const stateOf = ({ id, name, said }: HostChange): HypervisorState & Pick<Provider, 'id' | 'name'> => ({
  id,
  name,
  ...said,
})

/** Someone wants to make a provider of a name that a host has: it may be the host, with the new uuid that Nova gave it. */
export function* askAgain(name: string): Write<void> {
  const [provider] = yield* listProviders({ name })
  if (provider && provider.dedicated_to !== null) yield* wake('hypervisors')
}
