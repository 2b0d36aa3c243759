// Creates the demo's fleet on a server, request by request, as an operator and three users would.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Node } from '../../client/index.ts'
import { atOnce } from '../../shared/at-once.ts'
import type { Crowd } from './crowd.ts'
import { customTraitsOf, type Fleet } from './fleet.ts'
import { makeClaims, makeHosts, makeServers, untilBuilt } from './fill-hosts.ts'
import { makeLeases } from './fill-leases.ts'
import { type Fate, type Machine, MAINTENANCE_REASONS } from './machines.ts'
import { demoUuid, EXTRA } from './marks.ts'
import type { DemoAllocation } from './promises.ts'
import { beginRecord, completeRecord, DemoFailure } from './state.ts'

/** Reports what is being created, and how much of it. */
export type Report = (what: string, done: number, total: number) => void

export interface Filling {
  crowd: Crowd
  fleet: Fleet
  /** Milliseconds since 1970. */
  now: () => number
  report: Report
}

export async function fill(filling: Filling): Promise<void> {
  const { crowd, fleet } = filling
  const { admin } = crowd
  const record = await beginRecord(admin, fleet)
  await atOnce(fleet.racks.slice(1), ({ uuid, description }) =>
    admin.chassis.create({ uuid, description, extra: EXTRA }),
  )
  await atOnce(customTraitsOf(fleet), name => admin.traits.ensure([name]))
  await makeNodes(filling)
  await makeHosts(filling)
  await makeClaims(filling)
  await makeLeases(filling)
  await makeFates(filling)
  await makeAllocations(filling)
  await makeServers(filling)
  await untilDeployed(filling)
  await untilBuilt(filling)
  await completeRecord(admin, record)
}

async function makeNodes({ crowd, fleet, report, now }: Filling): Promise<void> {
  const { admin } = crowd
  const { machines } = fleet
  const create = async (machine: Machine, at: number) => {
    const { uuid, name, resourceClass: resource_class, properties, rack, lessee } = machine
    await admin.nodes.create({
      uuid,
      name,
      driver: 'fake-hardware',
      resource_class,
      properties,
      chassis_uuid: rack.uuid,
      driver_info: driverInfoOf(machine, at),
      owner: crowd.projectOf(machine.owner),
      ...(lessee && { lessee: crowd.projectOf(lessee) }),
      extra: EXTRA,
    })
    await admin.nodes.setTraits(uuid, machine.traits)
    for (const [card, address] of machine.addresses.entries()) {
      await admin.ports.create({
        node_uuid: uuid,
        address,
        physical_network: card === 0 ? 'provision' : 'data',
        pxe_enabled: card === 0,
        extra: EXTRA,
      })
    }
    if (machine.fate !== 'enroll') await admin.nodes.provision(uuid, 'manage')
  }
  await atOnce(machines, create, { onDone: done => report('making nodes', done, machines.length) })
  const managed = machines.filter(({ fate }) => fate !== 'enroll')
  await untilStates({ crowd, report, now }, managed, 'managing nodes', () => ['manageable'])
  const provided = managed.filter(({ fate }) => fate !== 'manageable')
  await atOnce(provided, ({ uuid }) => admin.nodes.provision(uuid, 'provide'))
  await untilStates({ crowd, report, now }, provided, 'cleaning nodes', ({ fate }) => [
    fate === 'clean failed' ? fate : 'available',
  ])
}

/** Each machine has a delay, so that its states can be seen; some have a fault. */
function driverInfoOf({ fate }: Machine, at: number) {
  const faults: Partial<Record<Fate, string>> = { 'clean failed': 'clean', 'deploy failed': 'deploy' }
  return {
    ipmi_address: `10.20.${Math.floor(at / 250)}.${(at % 250) + 1}`,
    ipmi_username: 'operator',
    fake_delay: { clean: 0.3, deploy: 1.5, tearDown: 0.5 },
    ...(faults[fate] && { fake_fail: faults[fate] }),
  }
}

const LOOK_MS = 200
/** Enough for the largest fleet on a slow machine. */
const STATES_MS_MAX = 5 * 60_000

/** Waits until each machine is in one of the states that `statesOf` names for it. */
async function untilStates(
  { crowd, report, now }: Pick<Filling, 'crowd' | 'report' | 'now'>,
  machines: readonly Machine[],
  what: string,
  statesOf: (machine: Machine) => readonly string[],
): Promise<void> {
  const deadline = now() + STATES_MS_MAX
  for (;;) {
    const nodes = await crowd.admin.nodes.list({ fields: ['uuid', 'provision_state'] })
    const states = new Map(nodes.map(({ uuid, provision_state }: Node) => [uuid, provision_state]))
    const missing = machines.filter(machine => !statesOf(machine).includes(states.get(machine.uuid) ?? ''))
    report(what, machines.length - missing.length, machines.length)
    if (missing.length === 0) return
    if (now() > deadline) {
      const [{ name, uuid }] = missing as [Machine]
      throw new DemoFailure(`${missing.length} nodes are stuck: ${name} is ${states.get(uuid) ?? 'gone'}`)
    }
    // A larger fleet costs more to list, so it is listed less often.
    await sleep(LOOK_MS + machines.length / 5)
  }
}

/** Brings nodes to the fates that need no allocation, and creates the holds. */
async function makeFates({ crowd, fleet, report }: Filling): Promise<void> {
  const { admin } = crowd
  const { nodes } = admin
  const acts: Partial<Record<Fate, (machine: Machine, at: number) => Promise<unknown>>> = {
    maintenance: ({ uuid }, at) => nodes.startMaintenance(uuid, MAINTENANCE_REASONS[at % MAINTENANCE_REASONS.length]),
    'deploy failed': ({ uuid }) => nodes.provision(uuid, 'active'),
    instance: async ({ uuid, name }) => {
      await nodes.update(uuid, [{ op: 'add', path: '/instance_uuid', value: demoUuid('instance', name) }])
      await nodes.provision(uuid, 'active')
    },
  }
  const concerned = fleet.machines.filter(({ fate }) => acts[fate])
  await atOnce(concerned, (machine, at) => acts[machine.fate]!(machine, at), {
    onDone: done => report('making instances and faults', done, concerned.length),
  })
  await atOnce(
    fleet.holds,
    async ({ who, machine, instance }) => {
      const { reservations } = await crowd.as(who)
      const owner = crowd.projectOf(who.project)
      await reservations.create({ instance_uuid: instance, node_uuid: [machine.uuid], owner, expires_at: '6h' })
    },
    { onDone: done => report('making holds', done, fleet.holds.length) },
  )
}

async function makeAllocations(filling: Filling): Promise<void> {
  const { crowd, fleet, report } = filling
  const { allocations } = fleet
  const create = async ({ name, who, resourceClass, traits, machine, ...times }: DemoAllocation) => {
    const server = await crowd.as(who)
    await server.allocations.create({
      name,
      resource_class: resourceClass,
      traits,
      owner: crowd.projectOf(who.project),
      extra: EXTRA,
      ...(machine && { candidate_nodes: [machine.uuid] }),
      ...(times.expiresInHours !== null && { expires_at: `${times.expiresInHours}h` }),
      ...(times.waitsHours !== null && { wait_until: `${times.waitsHours}h` }),
    })
  }
  // Those that wait or fail come last, when all nodes are taken.
  const [given, others] = [allocations.filter(({ machine }) => machine), allocations.filter(({ machine }) => !machine)]
  await atOnce(given, create, { onDone: done => report('making allocations', done, allocations.length) })
  await untilAllocated(filling, given)
  await atOnce(others, create)
  await untilAllocated(filling, others)
  const deployed = allocations.filter(({ isDeployed }) => isDeployed)
  await atOnce(deployed, async ({ who, machine }) => (await crowd.as(who)).nodes.provision(machine!.uuid, 'active'))
}

async function untilDeployed(filling: Filling): Promise<void> {
  const active: Partial<Record<Fate, string>> = {
    deployed: 'active',
    instance: 'active',
    'deploy failed': 'deploy failed',
  }
  const waiting = filling.fleet.machines.filter(({ fate }) => active[fate])
  await untilStates(filling, waiting, 'deploying nodes', ({ fate }) => [active[fate]!])
}

async function untilAllocated({ crowd, now }: Filling, allocations: readonly DemoAllocation[]): Promise<void> {
  const deadline = now() + STATES_MS_MAX
  const expected = new Map(
    allocations.map(({ name, machine, waitsHours }) => [
      name,
      machine ? 'active' : waitsHours !== null ? 'allocating' : 'error',
    ]),
  )
  for (;;) {
    const found = await crowd.admin.allocations.list({ fields: ['name', 'state', 'last_error'] })
    const missing = found.filter(({ name, state }) => expected.has(name!) && expected.get(name!) !== state)
    if (missing.length === 0) return
    const [{ name, state, last_error }] = missing as [(typeof missing)[0]]
    if (state !== 'allocating' || now() > deadline) {
      throw new DemoFailure(`allocation ${name} is ${state}${last_error ? `: ${last_error}` : ''}`)
    }
    await sleep(LOOK_MS)
  }
}
