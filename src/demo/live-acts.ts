// Does what the demo's people decided, over HTTP, and says what came of it.
import { setTimeout as sleep } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import { type Allocation, ApiError, type Holdfast, type Json } from '../client/index.ts'
import type { Crowd } from './crowd.ts'
import { ownersOf } from './fill-hosts.ts'
import { dateOf } from './fill-leases.ts'
import { unless } from './refusals.ts'
import type { Act, Thing } from './live.ts'
import type { Machine } from './machines.ts'
import { demoUuid, DEMO_TRAIT, EXTRA, flavorId, HOST_PROPERTIES, SERVER_METADATA } from './marks.ts'
import type { Person } from './people.ts'

/** What is made while the demo lives goes again; it has a mark of its own. */
export const LIVE_EXTRA = { ...EXTRA, live: true } as const
export const LIVE_METADATA = { ...SERVER_METADATA, live: 'true' } as const
export const liveLeaseName = (name: string) => `adhoc-${name}`
export const liveConsumer = (name: string) => demoUuid('live claim', name)

/** Something of the world, and what the server calls it. */
export interface Held extends Thing {
  id: string
  /** The uuid of its node, once it has one. */
  node: string | null
}

export interface Said {
  who: Person
  text: string
  isRefused: boolean
}

export interface Acting {
  crowd: Crowd
  now: () => number
  machines: ReadonlyMap<string, Machine>
  add: (thing: Held) => void
  drop: (thing: Held) => void
  say: (said: Said) => void
}

type Made = Extract<Act<Held>, { lifeMs: number }>

/** A refusal is something to say, and changes nothing. */
export async function perform(acting: Acting, act: Act<Held>): Promise<void> {
  const who = 'thing' in act ? act.thing.who : act.who
  try {
    if (act.kind === 'give back') await giveBack(acting, act.thing)
    else if (act.kind === 'deploy') await deploy(acting, act.thing)
    else if (act.kind === 'ask in vain') await askInVain(acting, act)
    else await make(acting, act)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    const name = 'thing' in act ? act.thing.name : act.name
    acting.say({ who, text: `${act.kind} ${name}: ${error.message}`, isRefused: true })
  }
}

const KINDS = {
  allocate: 'allocation',
  hold: 'hold',
  'start maintenance': 'maintenance',
  book: 'lease',
  launch: 'server',
  claim: 'claim',
} as const

/** It counts from the moment that it is asked for, so that there are never too many. */
async function make(acting: Acting, act: Made): Promise<void> {
  const { who, name, isForgotten, lifeMs } = act
  const thing: Held = {
    kind: KINDS[act.kind],
    who,
    name,
    isForgotten,
    doneAt: acting.now() + lifeMs,
    state: 'ready',
    isBusy: true,
    on: act.kind === 'launch' ? act.on : null,
    id: '',
    node: null,
  }
  acting.add(thing)
  try {
    const isThere = await MAKERS[act.kind](acting, act as never, thing)
    if (!isThere) acting.drop(thing)
  } catch (error) {
    acting.drop(thing)
    throw error
  } finally {
    thing.isBusy = false
  }
}

type Maker<K extends Made['kind']> = (acting: Acting, act: Extract<Made, { kind: K }>, thing: Held) => Promise<boolean>

const seconds = (ms: number) => `${Math.max(Math.ceil(ms / 1_000), 1)}s`
const lasting = (ms: number) => (ms < 90_000 ? `${Math.ceil(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`)
/** Whoever means to give something back keeps it a little longer than planned. */
const expiresIn = ({ isForgotten, lifeMs }: Made) => seconds(isForgotten ? lifeMs : lifeMs * 3 + 60_000)

const MAKERS: { [K in Made['kind']]: Maker<K> } = {
  allocate: async (acting, act, thing) => {
    const { crowd, say } = acting
    const { who, name, resourceClass, traits, waitMs, lifeMs } = act
    const { allocations } = await crowd.as(who)
    const { uuid } = await allocations.create({
      name,
      resource_class: resourceClass,
      traits: [...traits, DEMO_TRAIT],
      owner: crowd.projectOf(who.project),
      extra: LIVE_EXTRA,
      expires_at: expiresIn(act),
      ...(waitMs !== null && { wait_until: seconds(waitMs) }),
    })
    thing.id = uuid
    const decided = await untilDecided(acting, who, uuid)
    if (decided.state === 'active') {
      thing.node = decided.node_uuid
      const wish = [resourceClass, ...traits].join(' ')
      say({
        who,
        text: `allocation ${name} → ${nodeName(acting, thing)} (${wish}), for ${lasting(lifeMs)}`,
        isRefused: false,
      })
      return true
    }
    if (decided.state === 'allocating') {
      thing.state = 'waiting'
      say({
        who,
        text: `allocation ${name} waits for a ${resourceClass}, ${lasting(waitMs ?? 0)} at most`,
        isRefused: false,
      })
      return true
    }
    await refused(acting, who, name, decided)
    return false
  },
  hold: async (acting, act, thing) => {
    const { crowd, say } = acting
    const { who, machines, lifeMs, isForgotten } = act
    const { reservations } = await crowd.as(who)
    const { uuid, node_uuid } = await reservations.create({
      instance_uuid: randomUUID(),
      node_uuid: machines.map(({ uuid }) => uuid),
      owner: crowd.projectOf(who.project),
      expires_at: isForgotten ? seconds(lifeMs) : seconds(lifeMs + 60_000),
    })
    Object.assign(thing, { id: uuid, node: node_uuid })
    say({ who, text: `holds ${nodeName(acting, thing)}, for ${lasting(lifeMs)}`, isRefused: false })
    return true
  },
  'start maintenance': async ({ crowd, say }, { who, machine, reason }, thing) => {
    const { nodes } = await crowd.as(who)
    await nodes.update(machine.uuid, [{ op: 'add', path: '/extra/live', value: true }])
    await nodes.startMaintenance(machine.uuid, reason)
    Object.assign(thing, { id: machine.uuid, node: machine.uuid })
    say({ who, text: `maintenance of ${machine.name}: ${reason}`, isRefused: false })
    return true
  },
  book: async ({ crowd, say, now }, { who, name, what, inHours, lifeMs }, thing) => {
    const { leases } = await crowd.as(who)
    const start = now() + inHours * HOUR_MS
    const lease = await leases.create({
      name: liveLeaseName(name),
      start_date: inHours === 0 ? 'now' : dateOf(start),
      // Longer than it is wanted: it is ended before.
      end_date: dateOf(start + HOUR_MS + lifeMs * 3),
      reservations: [RESERVATIONS[what]],
    })
    const [reservation] = lease.reservations as [{ id: string }]
    // Servers run on instances, once the lease runs.
    const isRunning = inHours === 0 && what === 'instances'
    Object.assign(thing, { id: lease.id, node: reservation.id, state: isRunning ? 'ready' : 'deployed' })
    const when = inHours === 0 ? 'from now on' : `in ${inHours} h`
    say({ who, text: `lease ${lease.name}: ${BOOKED[what]}, ${when}`, isRefused: false })
    return true
  },
  launch: async ({ crowd, say }, { who, name, flavor, on }, thing) => {
    const { servers } = await crowd.as(who)
    const flavorRef = on?.node ?? flavorId(flavor)
    const { id } = await servers.create({ name, flavorRef, metadata: LIVE_METADATA })
    thing.id = id
    const { status, fault } = await servers.show(id)
    if (status === 'ERROR') {
      say({ who, text: `server ${name}: ${fault?.message ?? status}`, isRefused: true })
      await servers.delete(id)
      return false
    }
    const where = on ? `on lease ${liveLeaseName(on.name)}` : `(${flavor})`
    say({ who, text: `server ${name} ${where} is ${status}`, isRefused: false })
    return true
  },
  claim: async ({ crowd, say }, { who, name, resources, lifeMs }, thing) => {
    const wish = Object.entries(resources).map(([resource, amount]) => `${resource}:${amount}`)
    const query = { resources: wish.join(','), root_required: DEMO_TRAIT, limit: 10 }
    const { allocation_requests: found } = await crowd.admin.candidates.list(query)
    if (found.length === 0) {
      say({ who, text: `claim ${name}: nothing fits ${wish.join(' ')}`, isRefused: true })
      return false
    }
    thing.id = liveConsumer(name)
    await crowd.admin.claims.set(thing.id, found[0]!.allocations, ownersOf(crowd, who, 'BATCH_JOB'))
    say({ who, text: `claim ${name} has ${wish.join(' ')}, for ${lasting(lifeMs)}`, isRefused: false })
    return true
  },
}

const HOUR_MS = 3_600_000
const BOOKED = { instances: '2 instances', host: 'a host', node: 'a gpu-a100' } as const
const RESERVATIONS: Record<keyof typeof BOOKED, Json> = {
  instances: {
    resource_type: 'virtual:instance',
    amount: 2,
    vcpus: 2,
    memory_mb: 4_096,
    disk_gb: 20,
    resource_properties: HOST_PROPERTIES,
  },
  host: {
    resource_type: 'physical:host',
    min: 1,
    max: 1,
    hypervisor_properties: '',
    resource_properties: HOST_PROPERTIES,
  },
  node: { resource_type: 'physical:node', resource_class: 'gpu-a100', traits: [DEMO_TRAIT], min: 1, max: 1 },
}

const nodeName = ({ machines }: Acting, { node }: Held) => machines.get(node ?? '')?.name ?? node ?? 'nowhere'

const LOOK_MS = 60
/** Who still waits after this is waiting for someone else. */
const DECIDED_LOOKS_MAX = 10

async function untilDecided({ crowd }: Acting, who: Person, uuid: string): Promise<Allocation> {
  const { allocations } = await crowd.as(who)
  for (let looks = 1; ; looks++) {
    const allocation = await allocations.show(uuid)
    if (allocation.state !== 'allocating' || looks >= DECIDED_LOOKS_MAX) return allocation
    await sleep(LOOK_MS)
  }
}

/** Reads why, and asks for it no longer. */
export async function refused(acting: Acting, who: Person, name: string, { uuid, last_error }: Allocation) {
  const { allocations } = await acting.crowd.as(who)
  await unless(404, allocations.delete(uuid))
  // The counts stand behind the first sentence.
  const why = last_error?.split('. ').slice(1).join('. ') || last_error
  acting.say({ who, text: `allocation ${name} gets none: ${why ?? 'no reason is known'}`, isRefused: true })
}

async function askInVain(acting: Acting, act: Extract<Act, { kind: 'ask in vain' }>): Promise<void> {
  const { who, name, resourceClass, traits } = act
  const { allocations } = await acting.crowd.as(who)
  const { uuid } = await allocations.create({
    name,
    resource_class: resourceClass,
    traits: [...traits, DEMO_TRAIT],
    owner: acting.crowd.projectOf(who.project),
    extra: LIVE_EXTRA,
  })
  await refused(acting, who, name, await untilDecided(acting, who, uuid))
}

/** A deployment that takes longer than this has failed. */
const DEPLOY_LOOKS_MAX = 200

async function deploy(acting: Acting, thing: Held): Promise<void> {
  const { crowd, say } = acting
  const { who, name } = thing
  const { nodes } = await crowd.as(who)
  const node = thing.node!
  const isHold = thing.kind === 'hold'
  thing.isBusy = true
  try {
    if (isHold) {
      thing.kind = 'machine'
      await nodes.update(node, [{ op: 'add', path: '/extra/live', value: true }])
    }
    await nodes.provision(node, 'active', isHold ? { reservation_uuid: thing.id } : {})
    say({
      who,
      text: `deploys ${nodeName(acting, thing)}${isHold ? ', which was held' : ` of ${name}`}`,
      isRefused: false,
    })
    for (let looks = 0; looks < DEPLOY_LOOKS_MAX; looks++) {
      const { provision_state } = await nodes.show(node, ['provision_state'])
      if (provision_state === 'active' || provision_state === 'deploy failed') break
      await sleep(LOOK_MS)
    }
    thing.state = 'deployed'
  } catch (error) {
    // A hold that is gone can't come back.
    if (isHold) acting.drop(thing)
    throw error
  } finally {
    thing.isBusy = false
  }
}

/** A second time is as good as once. */
export async function unmarkLive({ nodes }: Holdfast, node: string): Promise<void> {
  const { extra } = await nodes.show(node, ['extra'])
  if ((extra as Json)['live'] === true) await nodes.update(node, [{ op: 'remove', path: '/extra/live' }])
}

async function giveBack(acting: Acting, thing: Held): Promise<void> {
  const { crowd, say, drop } = acting
  const { who, kind, name, id, node, state } = thing
  thing.isBusy = true
  const server = await crowd.as(who)
  const place = nodeName(acting, thing)
  const unmark = () => unmarkLive(server, node!)
  const undeploy = () => server.nodes.provision(node!, 'deleted')
  const ways: Record<Thing['kind'], [() => Promise<unknown>, string]> = {
    allocation:
      state === 'deployed'
        ? [undeploy, `undeploys ${place}; ${name} is over`]
        : [() => server.allocations.delete(id), `gives ${place} back; ${name} is over`],
    hold: [() => server.reservations.delete(id), `lets ${place} go`],
    machine: [() => unmark().then(undeploy), `undeploys ${place}`],
    maintenance: [() => server.nodes.endMaintenance(node!).then(unmark), `${place} is well again`],
    lease: [() => server.leases.delete(id), `lease ${liveLeaseName(name)} is cancelled`],
    server: [() => server.servers.delete(id), `server ${name} is deleted`],
    claim: [() => crowd.admin.claims.delete(id), `claim ${name} is given back`],
  }
  const [act, text] = ways[kind]
  try {
    await act()
    say({ who, text, isRefused: false })
    drop(thing)
  } catch (error) {
    // What ended by itself needs no giving back.
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    drop(thing)
  } finally {
    thing.isBusy = false
  }
}
