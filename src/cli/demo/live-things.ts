// What the demo's people have while it lives: what the server calls it, and how it is known again.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Allocation, Holdfast, Json } from '../../client/index.ts'
import type { Crowd } from './crowd.ts'
import type { Thing } from './live.ts'
import type { Machine } from './machines.ts'
import { demoUuid, EXTRA, SERVER_METADATA } from './marks.ts'
import type { Person } from './people.ts'
import { unless } from './refusals.ts'

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
  newUuid: () => string
  machines: ReadonlyMap<string, Machine>
  add: (thing: Held) => void
  drop: (thing: Held) => void
  say: (said: Said) => void
}

export const nodeName = ({ machines }: Acting, { node }: Held) => machines.get(node ?? '')?.name ?? node ?? 'nowhere'

export const LOOK_MS = 60
/** Who still waits after this is waiting for someone else. */
const DECIDED_LOOKS_MAX = 10

export async function untilDecided({ crowd }: Acting, who: Person, uuid: string): Promise<Allocation> {
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

/** A second time is as good as once. */
export async function unmarkLive({ nodes }: Holdfast, node: string): Promise<void> {
  const { extra } = await nodes.show(node, ['extra'])
  if ((extra as Json)['live'] === true) await nodes.update(node, [{ op: 'remove', path: '/extra/live' }])
}
