// Mixes that are made for close calls: many at the same few rows, what is prolonged as it ends, and what is booked right
// after another.
import { tenant } from './clients/allocations.ts'
import { enroller, planner, scribbler } from './clients/calendar.ts'
import { claimer, rival } from './clients/claims.ts'
import { type Estate, heir, keepsSlot, leavesMachine } from './clients/heirs.ts'
import { resizer, stockkeeper } from './clients/inventories.ts'
import { clinger, lastMinuteLessee } from './clients/last-minute.ts'
import { lessee, nodesOf } from './clients/leases.ts'
import { lodger } from './clients/lodgers.ts'
import { passerBy } from './clients/passers-by.ts'
import { common, hosts, leasable, type Mix, nodes, providers, times } from './stage.ts'

/** So long all are at the same provider. */
const STAY_MS = 600

/** Two crowds that go from provider to provider: what they leave behind stays as it is for a while. */
export const swarm: Mix = async stage => {
  const made = await providers(stage, 10, 60)
  const began = stage.client.service.now()
  const place = (crowd: number) => (now: number) => {
    const at = Math.floor((now - began) / STAY_MS) + crowd * 5
    return [made[at % made.length]!]
  }
  return times(8, i => claimer({ ...common(stage), pauseMs: 80, providers: place(i % 2), spread: 0 }))
}

/** So long a small crowd is at the same provider. */
const VISIT_MS = 250

/** Small crowds, each of which changes a provider a few times and goes on: nothing repairs what memory has of it then. */
export const strewn: Mix = async stage => {
  const made = await providers(stage, 30, 60)
  const began = stage.client.service.now()
  const place = (crowd: number) => (now: number) =>
    made[(Math.floor((now - began) / VISIT_MS) + crowd * 10) % made.length]!
  const quick = { ...common(stage), pauseMs: 120 }
  return times(3, crowd => [
    ...times(2, () => claimer({ ...quick, providers: now => [place(crowd)(now)], spread: 0 })),
    resizer({ ...quick, place: place(crowd), least: 40 }),
  ]).flat()
}

/** Providers that several processes change at the same time, once, and then nobody: nothing repairs what memory has of them. */
export const passing: Mix = async stage => times(6, () => passerBy(common(stage)))

/** Many on the same two providers and the same consumers, by all processes. */
export const jam: Mix = async stage => {
  const made = await providers(stage, 2, 60)
  const quick = { ...common(stage), pauseMs: 30, providers: made }
  const consumers = times(2, () => stage.chance.uuid())
  return [
    ...times(5, () => claimer({ ...quick, spread: 1 })),
    ...times(6, () => rival({ ...quick, consumers })),
    ...times(3, () => stockkeeper({ ...quick, shared: made })),
  ]
}

/** What they have they prolong at the last moment. */
export const brink: Mix = async stage => {
  await nodes(stage, 3, 'brief')
  await hosts(stage, 1)
  return [
    ...times(3, i => clinger({ ...common(stage), who: `clinger${i}`, resourceClass: 'brief' })),
    ...times(3, i => lastMinuteLessee({ ...common(stage), who: `lessee${i}` })),
  ]
}

/** Nodes are asked for at once, and nobody waits for one, while leases book them. */
export const pledges: Mix = async stage => {
  await leasable(stage, 5, 'leased')
  const people = times(3, i => lessee({ ...common(stage), pauseMs: 300, who: `lessee${i}`, wishes: nodesOf('leased') }))
  const others = times(4, i =>
    tenant({
      ...common(stage),
      pauseMs: 200,
      who: `booker${i}`,
      classes: ['leased'],
      lasts: [2_000, 4_000, 8_000],
      deploys: false,
      waits: 0,
    }),
  )
  return [...people, ...others]
}

/** Leases of the same host, and of the same nodes, one right after the other. */
export const heirs: Mix = async stage => {
  const [host] = await hosts(stage, 1)
  await leasable(stage, 2, 'inherited')
  const { until } = common(stage)
  const slots = { resource_type: 'virtual:instance', vcpus: 3, memory_mb: 64, disk_gb: 1, amount: 2 }
  const pair = { resource_type: 'physical:node', resource_class: 'inherited', min: 2, max: 2 }
  const estate = (): Estate => ({ bookedUntil: 0 })
  const [ofHost, ofNodes] = [estate(), estate()]
  const stays = keepsSlot(host!, stage.chance.stream('slots'))
  return [
    ...times(2, i => heir({ estate: ofHost, who: `heir${i}`, wish: () => slots, stays, until })),
    ...times(2, i => heir({ estate: ofNodes, who: `squire${i}`, wish: () => pair, stays: leavesMachine, until })),
  ]
}

/** Nodes break while leases have them. */
export const lodgers: Mix = async stage => {
  await leasable(stage, 6, 'lodging')
  return times(2, i => lodger({ ...common(stage), who: `lodger${i}`, resourceClass: 'lodging' }))
}

/** The calendar changes while it is read. */
export const almanac: Mix = async stage => {
  const made = await leasable(stage, 2, 'planned')
  const quick = { ...common(stage), pauseMs: 150 }
  return [
    ...times(4, i => planner({ ...quick, who: `planner${i}`, resourceClass: 'planned' })),
    ...times(2, () => scribbler({ ...quick, nodes: made })),
    ...times(4, () => enroller(quick)),
  ]
}
