// Creates over HTTP what the demo's people ask for, with one maker for each kind of thing.
import type { Json } from '../../client/index.ts'
import { ownersOf } from './fill-hosts.ts'
import { dateOf } from './fill-leases.ts'
import {
  type Acting,
  type Held,
  LIVE_EXTRA,
  LIVE_METADATA,
  liveConsumer,
  liveLeaseName,
  nodeName,
  refused,
  untilDecided,
} from './live-things.ts'
import type { Act } from './live.ts'
import { DEMO_TRAIT, flavorId, HOST_PROPERTIES } from './marks.ts'

type Made = Extract<Act<Held>, { lifeMs: number }>

const KINDS = {
  allocate: 'allocation',
  hold: 'hold',
  'start maintenance': 'maintenance',
  book: 'lease',
  launch: 'server',
  claim: 'claim',
} as const

/** The thing is added before the request, so that the bounds count it at once. */
export async function make(acting: Acting, act: Made): Promise<void> {
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
/** A thing that will be given back expires much later than planned, so that it doesn't expire first. */
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
    const { crowd, say, newUuid } = acting
    const { who, machines, lifeMs, isForgotten } = act
    const { reservations } = await crowd.as(who)
    const { uuid, node_uuid } = await reservations.create({
      instance_uuid: newUuid(),
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
      // Longer than needed: its user deletes the lease earlier.
      end_date: dateOf(start + HOUR_MS + lifeMs * 3),
      reservations: [RESERVATIONS[what]],
    })
    const [reservation] = lease.reservations as [{ id: string }]
    // Only a running lease of instances can have servers.
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
