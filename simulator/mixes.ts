// The mixes of clients: each prepares what its clients need, while nothing fails yet, and says who acts then.
import { ADMIN, type Actor, memberOf } from './clients/actor.ts'
import { fickle, loner, tenant } from './clients/allocations.ts'
import { claimer, rival } from './clients/claims.ts'
import { holder } from './clients/holds.ts'
import { stockkeeper } from './clients/inventories.ts'
import { lessee, nodesOf, partsOf, poolKeeper, slotsOf } from './clients/leases.ts'
import { caretaker, deployer, machinist } from './clients/nodes.ts'
import { Line, waiter } from './clients/queue.ts'
import { intruder, onlooker } from './clients/strangers.ts'
import { almanac, brink, heirs, jam, lodgers, passing, pledges, strewn, swarm } from './close-calls.ts'
import { EXACT } from './exact/mixes.ts'
import type { Role } from './processes.ts'
import { answered, common, hosts, leasable, type Mix, nodes, providers, times } from './stage.ts'

/** A limit that a project has in a mix. */
export const LIMITED = { project: 'limited', nodes: 2 } as const

const claims: Mix = async stage => {
  // Many, so that the last change of some is long ago at the end: a later one would repair memory.
  const made = await providers(stage, 8, 6)
  return [
    ...times(4, () => claimer({ ...common(stage), providers: made })),
    stockkeeper({ ...common(stage), shared: made }),
  ]
}

/** Many at once on the same few providers and consumers: they meet in batches and wait for each other. */
const crowd: Mix = async stage => {
  const made = await providers(stage, 3, 30)
  const quick = { ...common(stage), pauseMs: 60, providers: made }
  const consumers = times(3, () => stage.chance.uuid())
  return [
    ...times(4, () => claimer({ ...quick, spread: 0.6 })),
    ...times(4, () => rival({ ...quick, consumers })),
    ...times(2, () => stockkeeper({ ...quick, shared: made })),
  ]
}

const inventories: Mix = async stage => {
  const made = await providers(stage, 2)
  const keeper = () => stockkeeper({ ...common(stage), shared: made })
  return [claimer({ ...common(stage), providers: made }), keeper(), keeper(), keeper()]
}

const machines: Mix = async stage => times(3, i => machinist({ ...common(stage), resourceClass: `class-${i}` }))

/** Nodes come and go quickly. */
const fleet: Mix = async stage =>
  times(6, i => machinist({ ...common(stage), pauseMs: 60, resourceClass: `class-${i % 2}`, removes: 0.5, makes: 0.6 }))

/** Works of several steps. */
const deploys: Mix = async stage =>
  (await nodes(stage, 5, 'plain')).map(node => deployer({ ...common(stage), pauseMs: 200, node }))

const metal: Mix = async stage => {
  await nodes(stage, 3, 'plain')
  const people = times(4, i =>
    tenant({ ...common(stage), who: `tenant${i}`, classes: ['plain'], lasts: [null, null, 4_000], deploys: i === 0 }),
  )
  return [...people, intruder(common(stage)), machinist({ ...common(stage), resourceClass: 'own' })]
}

const expiry: Mix = async stage => {
  await nodes(stage, 3, 'plain')
  return times(5, i =>
    tenant({ ...common(stage), who: `brief${i}`, classes: ['plain'], lasts: [2_000, 3_000, 5_000], deploys: false }),
  )
}

const alone: Mix = async stage => {
  const classes = ['one', 'two', 'three', 'four']
  for (const name of classes) await nodes(stage, 1, name)
  return classes.map(name => loner({ ...common(stage), who: `loner-${name}`, classes: [name] }))
}

const queue: Mix = async stage => {
  await nodes(stage, 1, 'rare')
  const line = new Line()
  return times(5, i => waiter({ ...common(stage), line, who: `waiter${i}`, resourceClass: 'rare' }))
}

/** They ask for a node, and mostly think better of it when they are about to get it. */
const fickleOnes: Mix = async stage => {
  await nodes(stage, 2, 'plain')
  return times(6, i => fickle({ ...common(stage), who: `fickle${i}`, resourceClass: 'plain' }))
}

const holds: Mix = async stage => {
  const made = await nodes(stage, 5, 'held')
  const person = tenant({ ...common(stage), who: 'tenant', classes: ['held'], lasts: [null, 3_000], deploys: false })
  return [...times(3, () => holder({ ...common(stage), nodes: made })), person]
}

const leases: Mix = async stage => {
  const made = await leasable(stage, 3, 'leased')
  const people = times(4, i => lessee({ ...common(stage), who: `lessee${i}`, wishes: nodesOf('leased') }))
  return [...people, caretaker({ ...common(stage), nodes: made })]
}

/** Allocations with an end, on nodes that leases book at the same time. */
const bookings: Mix = async stage => {
  await leasable(stage, 3, 'leased')
  const people = times(3, i => lessee({ ...common(stage), who: `lessee${i}`, wishes: nodesOf('leased') }))
  const others = times(3, i =>
    tenant({ ...common(stage), who: `booker${i}`, classes: ['leased'], lasts: [1_500, 3_000, 5_000], deploys: false }),
  )
  return [...people, ...others]
}

const leasedHosts: Mix = async stage => {
  const made = await hosts(stage, 2)
  const others = await providers(stage, 1)
  const wishes = (i: number) => (i === 0 ? partsOf : slotsOf)
  const people = times(3, i =>
    lessee({ ...common(stage), who: `lessee${i}`, wishes: wishes(i), takesSlots: true, hosts: made }),
  )
  const pool = others.map(uuid => `host-${uuid}`)
  return [...people, claimer({ ...common(stage), providers: others }), poolKeeper({ ...common(stage), hosts: pool })]
}

const tenants: Mix = async stage => {
  const projects = ['red', 'blue']
  for (const owner of projects) await nodes(stage, 2, `class-${owner}`, { owner })
  const people = projects.map(project =>
    tenant({
      ...common(stage),
      who: project,
      as: memberOf(project),
      classes: [`class-${project}`],
      lasts: [null, 3_000],
      deploys: false,
    }),
  )
  return [...people, ...projects.map(project => onlooker({ ...common(stage), project }))]
}

const quota: Mix = async stage => {
  const { client } = stage
  await nodes(stage, 4, 'plain')
  const limits = { limits: { nodes: LIMITED.nodes } }
  await answered(stage, 'a quota', () => client.put(`/holdfast/v1/quotas/${LIMITED.project}`, limits))
  const as = { ...ADMIN, 'x-auth-token': `admin:${LIMITED.project}` }
  return times(4, i =>
    tenant({ ...common(stage), who: `limited${i}`, as, classes: ['plain'], lasts: [null], deploys: false }),
  )
}

const webhooks: Mix = async stage => {
  const hook = { url: 'https://8.8.8.8/hook', types: ['allocation', 'node'], project: null }
  await answered(stage, 'a webhook', () => stage.client.post('/holdfast/v1/webhooks', hook))
  return metal(stage)
}

const everything: Mix = async stage => {
  const parts: Actor[] = []
  for (const mix of [claims, metal, bookings, holds, queue]) parts.push(...(await mix(stage)))
  return parts
}

export const MIXES: Record<string, Mix> = {
  everything,
  claims,
  inventories,
  crowd,
  nodes: machines,
  fleet,
  deploys,
  fickle: fickleOnes,
  metal,
  expiry,
  alone,
  queue,
  holds,
  leases,
  bookings,
  hosts: leasedHosts,
  tenants,
  quota,
  webhooks,
  swarm,
  jam,
  brink,
  pledges,
  heirs,
  lodgers,
  strewn,
  almanac,
  /** The same clients as of nodes, but only the database goes away. */
  outage: machines,
}

/** Aimed at certain bugs: none of a seed's own choice, so that other seeds stay as they are. */
export const AIMED: Record<string, Mix> = { passing, ...EXACT }

export function mixNamed(name: string): Mix {
  const found = MIXES[name] ?? AIMED[name]
  if (!found) throw new Error(`there is no mix '${name}'; there are ${Object.keys({ ...MIXES, ...AIMED }).join(', ')}`)
  return found
}

/** Which processes a mix needs on PostgreSQL, where the seed doesn't choose. */
export const ROLES: Readonly<Record<string, readonly Role[]>> = {
  swarm: ['serve', 'api', 'api'],
  jam: ['serve', 'api', 'api', 'api'],
  strewn: ['serve', 'api'],
  passing: ['serve', 'api', 'api'],
}
