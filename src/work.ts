// What works behind the APIs: the conductor with its nodes, and the duties of each room.
import { hostname } from 'node:os'
import { workOnServers } from './compute/duty.ts'
import type { Context } from './context.ts'
import { Duty } from './duty.ts'
import { limits } from './limits.ts'
import type { Memory } from './memory.ts'
import { takeOverAllocations } from './metal/allocating.ts'
import { Allocator } from './metal/allocator.ts'
import { Conductor } from './metal/conductor.ts'
import { endLapsed } from './metal/expiry.ts'
import { hasRoom } from './metal/matching.ts'
import { isOpen } from './metal/fleet.ts'
import type { Topic } from './store/bell.ts'

export type Workplace = Pick<Context, 'config' | 'store' | 'log' | 'drivers' | 'bell' | 'clock'> & { memory: Memory }

export interface Work {
  hostname: string
  allocator: Allocator
  stop(): Promise<void>
}

export async function startWork(place: Workplace): Promise<Work> {
  const { config, store, log, drivers, bell, clock } = place
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
  })
  await conductor.start()
  const allocator = allocatorOf(place, conductor)
  const allocations = allocationDuty(place, allocator)
  const expiry = new Duty({
    name: 'expiry',
    pollMs: limits.conductorPollMs,
    run: () => endLapsed({ store, clock, drivers, bell }),
    log,
  })
  const servers = new Duty({ name: 'servers', pollMs: limits.conductorPollMs, run: () => workOnServers(place), log })
  const duties = [allocations, expiry, servers, ...(await takeOverDuties(place, conductor, allocations))]
  const nudged: Partial<Record<Topic, { wake(): unknown }>> = { nodes: conductor, allocations, expiry, servers }
  await bell.listen(topic => {
    const concerned = topic === 'any' ? Object.values(nudged) : [nudged[topic]]
    for (const worker of concerned) void worker?.wake()
  })
  for (const duty of duties) void duty.wake()
  const stop = async () => {
    await Promise.all(duties.map(duty => duty.stop()))
    await conductor.stop()
  }
  return { hostname: conductor.hostname, allocator, stop }
}

function allocatorOf({ store, clock, log, memory }: Workplace, conductor: Conductor): Allocator {
  const supply = { fleet: memory.fleet, table: memory.mirror.table }
  const catchUp = () => memory.catchUp()
  return new Allocator({ store, clock, log, supply, catchUp, affinity: () => conductor.affinity })
}

function allocationDuty({ log, memory }: Workplace, allocator: Allocator): Duty {
  const { fleet, mirror } = memory
  const duty = new Duty({ name: 'allocations', pollMs: limits.conductorPollMs, run: () => allocator.run(), log })
  const isFreed = (provider: number) => {
    const node = fleet.ofProvider(provider)
    return node !== undefined && isOpen(node) && hasRoom({ fleet, table: mirror.table }, node)
  }
  memory.watch(providers => {
    if (allocator.hasWaiting && providers.some(isFreed)) void duty.wake()
  })
  return duty
}

/** What earlier processes of this name left is taken up at once; what the dead leave, by and by. */
async function takeOverDuties({ config, store, log }: Workplace, conductor: Conductor, then: Duty): Promise<Duty[]> {
  const takeOver = async (hostname: string | null) => {
    const taken = await store.write(() => takeOverAllocations(conductor.affinity, conductor.silentMs, hostname))
    if (taken === 0) return
    log.warn({ allocations: taken }, 'took over allocations from dead conductors')
    void then.wake()
  }
  await takeOver(store.dialect === 'sqlite' ? null : conductor.hostname)
  if (config.allocationCheckMs === 0) return []
  const run = async () => {
    await takeOver(null)
    return null
  }
  return [new Duty({ name: 'allocation take-over', pollMs: config.allocationCheckMs, run, log })]
}
