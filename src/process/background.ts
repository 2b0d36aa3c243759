// Starts the background work of a process: the conductor with its nodes, and the duties of each room.
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { auditDuty } from '../audit/duty.ts'
import { recorded } from '../audit/record.ts'
import { type Witness, witnessOf } from '../audit/witness.ts'
import { workOnServers } from '../compute/duty.ts'
import type { Config } from '../config/config.ts'
import type { Context } from './context.ts'
import { Duty } from '../shared/duty.ts'
import { eventsDuty } from '../leases/lifecycle/duty.ts'
import { MINUTE_MS } from '../leases/context.ts'
import { leaveWork } from '../leases/nova/rows.ts'
import { novaDuty } from '../leases/nova/duty.ts'
import { healingDuty } from '../leases/healing/duty.ts'
import { NovaHosts } from '../leases/nova/hosts.ts'
import { leftOversDuty } from '../leases/pool/reservation-provider.ts'
import { limits } from '../shared/limits.ts'
import type { Memory } from './memory.ts'
import { takeOverAllocations } from '../metal/allocations/conductor-writes.ts'
import { Allocator } from '../metal/allocations/allocator.ts'
import { Answering } from '../metal/calls/answering.ts'
import { Conductor } from '../metal/conductors/conductor.ts'
import { historyDuty } from '../metal/history/duty.ts'
import { endLapsed } from '../metal/expiry.ts'
import { remindOfEnds } from '../metal/reminders.ts'
import { hasRoom } from '../metal/allocations/matching.ts'
import { isOpen } from '../metal/nodes/fleet.ts'
import { PowerSync } from '../metal/power-sync/sync.ts'
import { rulesOf } from '../metal/queue/order.ts'
import { countUsage } from '../metal/queue/usage.ts'
import type { Drivers } from '../metal/drivers/registry.ts'
import type { Bell } from '../store/bell.ts'
import { StoreDamaged, StoreUnavailable } from '../store/failure.ts'
import type { Topic } from '../store/log.ts'
import type { ProviderId } from '../store/schema/ids.ts'
import { Courier } from '../webhooks/courier.ts'
import { seesWith } from './carrying.ts'

type Workplace = Pick<Context, 'config' | 'store' | 'log' | 'metrics' | 'drivers' | 'clock'> &
  Pick<Context, 'policy' | 'publisher' | 'carrier' | 'nova' | 'compute'> & {
    memory: Memory
    bell: Bell
    /** The drivers that this process's conductor works with. */
    offered: Drivers
  }

interface Work {
  hostname: string
  allocator: Allocator
  /** The conductor, for those who give out nodes in its name. */
  conductor: Pick<Conductor, 'affinity' | 'witness'>
  duties: readonly Duty[]
  stop(): Promise<void>
}

export async function startWork(place: Workplace): Promise<Work> {
  const { config, store, log, metrics, offered: drivers, bell, clock } = place
  const conductor = new Conductor({
    store,
    clock,
    log,
    drivers,
    rules: config.inspectionRules,
    hostname: config.conductorName ?? hostname(),
    isNameGiven: config.conductorName !== null,
    group: config.conductorGroup,
    takeOverMs: config.takeOverMs,
    isAudited: config.audit === 'on',
    tookOver: ({ silent, resumed, failed }) => {
      metrics.tookOver('conductor', silent)
      metrics.tookOver('node resumed', resumed)
      metrics.tookOver('node failed', failed)
    },
  })
  metrics.watch(
    'holdfast_conductor_locks_without_task',
    'Nodes that this conductor has locked and is not working on, as of its last look: more than zero for long is a fault.',
    () => conductor.strayLocks,
  )
  const incarnation = () => conductor.incarnation
  const answering = new Answering({ store, log, drivers, group: config.conductorGroup, incarnation })
  const allocator = allocatorOf(place, conductor)
  const allocations = allocationDuty(place, allocator)
  const { expiry, servers, leases, healing, nova, hypervisors, leftOvers, usage } = dutiesOf(place, conductor.witness)
  const audit = auditDuty({ store, clock, log, keepDays: daysKept(config) })
  const history = historyDuty({ store, clock, log, keep: config.historyKeep, keepDays: config.historyKeepDays })
  const takeOver = takeOverOf(place, conductor, allocations)
  const courier = new Courier({ ...place, sees: seesWith(place.policy), witness: conductor.witness })
  const power = powerSyncOf(place, conductor)
  const duties = [
    allocations,
    expiry,
    servers,
    leases,
    healing,
    ...(nova ? [nova] : []),
    ...(hypervisors ? [hypervisors] : []),
    leftOvers,
    usage,
    audit,
    history,
    courier.duty,
    ...answering.duties,
    ...takeOver.duties,
    ...(power ? [power.duty] : []),
  ]
  const nudged: Record<Exclude<Topic, 'any' | 'answers'>, { wake(): unknown } | undefined> = {
    nodes: conductor,
    calls: answering,
    allocations,
    expiry,
    servers,
    leases,
    healing,
    nova,
    hypervisors,
  }
  const begin = async () => {
    await conductor.start()
    if (!place.nova) await store.write(() => leaveWork(clock.now()))
    await takeOver.first()
    bell.listen(topic => {
      // Those who asked listen for themselves.
      if (topic === 'answers') return
      const concerned = topic === 'any' ? Object.values(nudged) : [nudged[topic]]
      const wake = () => concerned.forEach(worker => void worker?.wake())
      // In tests the bell may mean that the clock was moved.
      if (clock.isTest) void clock.look().then(wake, wake)
      else wake()
    })
    for (const duty of duties) void duty.wake()
    courier.start()
  }
  const later = await begunOrLater(place, begin)
  const stop = async () => {
    const working = [...duties, ...later].map(duty => duty.stop())
    await atMost(limits.drainMsMax / 2, Promise.all([courier.stop(), power?.stop(), answering.stop(), ...working]))
    await atMost(limits.drainMsMax, conductor.stop())
  }
  return { hostname: conductor.hostname, allocator, conductor, duties: [...duties, ...later], stop }
}

/**
 * A file on a full disk can be read, so the process serves, and the work begins when there is room. On PostgreSQL others
 * serve meanwhile.
 */
async function begunOrLater({ store, log }: Workplace, begin: () => Promise<void>): Promise<Duty[]> {
  let hasBegun = false
  const run = async () => {
    if (!hasBegun) await begin()
    hasBegun = true
    return null
  }
  try {
    await run()
    return []
  } catch (error) {
    const isFull = error instanceof StoreUnavailable && !(error instanceof StoreDamaged)
    if (store.dialect !== 'sqlite' || !isFull) throw error
    log.warn({ err: error }, 'the database takes no writes: reads are answered, and the conductor begins once it does')
    const later = new Duty({ name: 'start', pollMs: limits.startRetryMs, run, log })
    later.wakeLater()
    return [later]
  }
}

/** While the audit is off, the log is only for those who listen. 0 keeps it for ever. */
const daysKept = ({ audit, auditKeepDays: days }: Config) =>
  audit === 'on' || (days > 0 && days < limits.eventKeepDays) ? days : limits.eventKeepDays

/** Waits for the work, but no longer than this. The next process finishes the rest, as after a crash. */
async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const late = sleep(ms, null, { signal: over.signal }).catch(() => {})
  await Promise.race([work, late]).finally(() => over.abort())
}

/** The duties that need no conductor. */
function dutiesOf(place: Workplace, witness: Witness) {
  const { store, clock, drivers, log, config, nova } = place
  const pollMs = limits.conductorPollMs
  return {
    expiry: new Duty({
      name: 'expiry',
      pollMs,
      run: async () => {
        const next = [
          await endLapsed({ store, clock, drivers, witness }),
          await remindOfEnds({ store, clock, witness, leadMs: config.leaseBeforeEndMinutes * MINUTE_MS }),
        ].filter(ms => ms !== null)
        return next.length === 0 ? null : Math.min(...next)
      },
      log,
    }),
    servers: new Duty({
      name: 'servers',
      pollMs,
      // The servers of a Nova are its own business, and ours of before are left as they are.
      run: async () => (config.compute === 'own' ? workOnServers({ ...place, witness }) : null),
      log,
    }),
    leases: eventsDuty({ ...place, witness }),
    healing: healingDuty({ ...place, witness }),
    ...(nova && { nova: novaDuty({ ...place, nova, witness }) }),
    hypervisors: hypervisorsDuty(place, witness),
    leftOvers: leftOversDuty({ ...place, witness }),
    usage: new Duty({
      name: 'usage',
      pollMs: limits.usageCountMs,
      run: () => countUsage({ store, clock, rules: rulesOf(config) }),
      log,
    }),
  }
}

/** In tests a process without a conductor runs these duties too, when a request moves the clock. */
export async function dutiesForTests(place: Workplace): Promise<readonly Duty[]> {
  if (!place.clock.isTest) return []
  place.bell.listen(() => void place.clock.look().catch(() => {}))
  const { clock, config } = place
  const duties = dutiesOf(place, witnessOf({ clock, isAudited: config.audit === 'on' }, hostname))
  return Object.values(duties).filter(duty => duty !== undefined)
}

function allocatorOf(
  { config, store, clock, log, metrics, memory, drivers }: Workplace,
  conductor: Conductor,
): Allocator {
  const supply = { fleet: memory.fleet, table: memory.mirror.table }
  const catchUp = () => memory.catchUp()
  const affinity = () => conductor.affinity
  const observe = (outcome: 'active' | 'error', ms: number) => metrics.allocated(outcome, ms)
  const rules = rulesOf(config)
  const { witness } = conductor
  return new Allocator({ store, clock, log, supply, drivers, catchUp, affinity, rules, witness, observe })
}

function powerSyncOf(place: Workplace, conductor: Conductor): PowerSync | null {
  const { config, metrics } = place
  if (config.powerSyncSeconds === 0) return null
  const power = new PowerSync({
    ...place,
    drivers: place.offered,
    witness: conductor.witness,
    group: config.conductorGroup,
    hostname: () => conductor.hostname,
    silentMs: conductor.silentMs,
    periodMs: config.powerSyncSeconds * 1_000,
    observe: (outcome, ms) => metrics.powerLook(outcome, ms),
  })
  metrics.watch('holdfast_power_sync_nodes', 'Nodes that this conductor asks for their power.', () => power.nodes)
  metrics.watch(
    'holdfast_power_sync_behind',
    'Nodes whose turn has come, but which wait because too many others are being asked.',
    () => power.behind,
  )
  return power
}

function hypervisorsDuty(place: Workplace, witness: Witness): Duty | undefined {
  const { nova, config, metrics } = place
  const hosts = nova && new NovaHosts({ ...place, nova, witness, pollMs: config.novaPollSeconds * 1_000 })
  metrics.watch(
    'holdfast_nova_hosts_silent_seconds',
    'For how long Nova has not said which of its hosts are up: what it said last counts until then.',
    () => hosts?.silentSeconds ?? 0,
  )
  return hosts?.duty
}

function allocationDuty({ log, memory }: Workplace, allocator: Allocator): Duty {
  const { fleet, mirror } = memory
  const duty = new Duty({ name: 'allocations', pollMs: limits.conductorPollMs, run: () => allocator.run(), log })
  const isFreed = (provider: ProviderId) => {
    const node = fleet.ofProvider(provider)
    return node !== undefined && isOpen(node) && hasRoom({ fleet, table: mirror.table }, node)
  }
  memory.watch(providers => {
    if (allocator.hasWaiting && providers.some(isFreed)) void duty.wake()
  })
  return duty
}

/** Takes over allocations: those of earlier processes with this name first, those of dead conductors on a timer. */
function takeOverOf({ config, store, log, metrics }: Workplace, conductor: Conductor, then: Duty) {
  const takeOver = async (hostname: string | null) => {
    const entry = conductor.witness({ action: 'take_over', outcome: 'done' })
    const taken = await store.write(() =>
      recorded(takeOverAllocations(conductor.affinity, conductor.silentMs, hostname), entry),
    )
    if (taken === 0) return
    metrics.tookOver('allocation', taken)
    log.warn({ allocations: taken }, 'took over allocations from dead conductors')
    void then.wake()
  }
  const first = () => takeOver(store.dialect === 'sqlite' ? null : conductor.hostname)
  const run = async () => {
    await takeOver(null)
    return null
  }
  const { allocationCheckMs: pollMs } = config
  return { first, duties: pollMs === 0 ? [] : [new Duty({ name: 'allocation take-over', pollMs, run, log })] }
}
