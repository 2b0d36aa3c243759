// The things that demo --live creates: their ids on the server, and the marks that identify them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Allocation, Holdfast, Json } from '../../client/index.ts'
import type { Crowd } from './crowd.ts'
import type { Thing } from './live.ts'
import type { Machine } from './machines.ts'
import { demoUuid, EXTRA, SERVER_METADATA } from './marks.ts'
import type { Person } from './people.ts'
import { unless } from './refusals.ts'

/** Things of --live have their own mark, because they are removed when it ends. */
export const LIVE_EXTRA = { ...EXTRA, live: true } as const
export const LIVE_METADATA = { ...SERVER_METADATA, live: 'true' } as const
export const liveLeaseName = (name: string) => `adhoc-${name}`
export const liveConsumer = (name: string) => demoUuid('live claim', name)

/** A thing, with its id on the server. */
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
/** An allocation that is undecided after this many looks waits for a node of someone else. */
const DECIDED_LOOKS_MAX = 10

export async function untilDecided({ crowd }: Acting, who: Person, uuid: string): Promise<Allocation> {
  const { allocations } = await crowd.as(who)
  for (let looks = 1; ; looks++) {
    const allocation = await allocations.show(uuid)
    if (allocation.state !== 'allocating' || looks >= DECIDED_LOOKS_MAX) return allocation
    await sleep(LOOK_MS)
  }
}

/** Reports why the allocation failed, and deletes it. */
export async function refused(acting: Acting, who: Person, name: string, { uuid, last_error }: Allocation) {
  const { allocations } = await acting.crowd.as(who)
  await unless(404, allocations.delete(uuid))
  // The reasons come after the first sentence.
  const why = last_error?.split('. ').slice(1).join('. ') || last_error
  acting.say({ who, text: `allocation ${name} gets none: ${why ?? 'no reason is known'}`, isRefused: true })
}

/** Does nothing if the mark is gone already. */
export async function unmarkLive({ nodes }: Holdfast, node: string): Promise<void> {
  const { extra } = await nodes.show(node, ['extra'])
  if ((extra as Json)['live'] === true) await nodes.update(node, [{ op: 'remove', path: '/extra/live' }])
}
