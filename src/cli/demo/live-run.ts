// The main loop of demo --live: people pause, act, and look at the results, until the signal ends it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../clock/chance.ts'
import type { Crowd } from './crowd.ts'
import type { Fleet } from './fleet.ts'
import { perform } from './live-acts.ts'
import { type Acting, type Held, refused, type Said } from './live-things.ts'
import { nextAct } from './live.ts'
import { tidy } from './tidy.ts'

interface Living {
  crowd: Crowd
  fleet: Fleet
  random: Random
  now: () => number
  newUuid: () => string
  /** Events per minute. */
  pace: number
  signal: AbortSignal
  say: (said: Said) => void
}

interface Tally {
  events: number
  refusals: number
}

/** A faster pace would only overload the server, and make it look slow. */
export const PACE_MAX = 3_000
const ACTS_AT_ONCE_MAX = 8
const LOOK_MS = 1_000

export async function live(living: Living): Promise<Tally> {
  const { crowd, fleet, random, now, newUuid, pace, signal } = living
  const tally: Tally = { events: 0, refusals: 0 }
  const things = new Set<Held>()
  const machines = new Map(fleet.machines.map(machine => [machine.uuid, machine]))
  const acting: Acting = {
    crowd,
    now,
    newUuid,
    machines,
    add: thing => things.add(thing),
    drop: thing => things.delete(thing),
    say: said => {
      tally.events++
      if (said.isRefused) tally.refusals++
      living.say({ ...said, text: withNames(said.text, machines) })
    },
  }
  const free = fleet.machines.filter(({ fate }) => fate === 'free')
  const underWay = new Set<Promise<void>>()
  const failures: unknown[] = []
  const begin = (act: Promise<void>) => {
    const ended = act.catch(error => void failures.push(error)).finally(() => underWay.delete(ended))
    underWay.add(ended)
  }
  await tidy(crowd)
  const tickMs = 60_000 / pace
  let [lookedAt, acts, isLooking] = [now(), 0, false]
  while (!signal.aborted && failures.length === 0) {
    // Exponentially distributed, at most three ticks.
    await pause(Math.min(-Math.log(1 - random()), 3) * tickMs, signal)
    if (!isLooking && now() - lookedAt >= LOOK_MS) {
      isLooking = true
      begin(
        look(acting, [...things]).finally(() => {
          isLooking = false
          lookedAt = now()
        }),
      )
    }
    const act = nextAct({ now: now(), tickMs, things: [...things], free, acts }, random)
    if (!act || underWay.size >= ACTS_AT_ONCE_MAX || signal.aborted) continue
    acts++
    begin(perform(acting, act))
  }
  await Promise.all(underWay)
  await tidy(crowd)
  if (failures.length > 0) throw failures[0]
  return tally
}

/** Replaces uuids of nodes in the server's messages by names. */
const withNames = (text: string, machines: Acting['machines']) =>
  text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, uuid => machines.get(uuid)?.name ?? uuid)

/** Ends early if the signal aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal })
  } catch {
    // The loop sees the signal, and ends.
  }
}

/** Reports what happened by itself: a waiting allocation got a node or failed, a forgotten thing expired. */
async function look(acting: Acting, things: readonly Held[]): Promise<void> {
  const open = things.filter(({ isBusy, state, isForgotten }) => !isBusy && (state === 'waiting' || isForgotten))
  if (open.length === 0) return
  const { admin } = acting.crowd
  const fields = ['uuid', 'state', 'node_uuid', 'last_error']
  const [allocations, holds] = [await admin.allocations.list({ fields }), await admin.reservations.list()]
  const found = new Map(allocations.map(allocation => [allocation.uuid, allocation]))
  const held = new Set(holds.map(({ uuid }) => uuid))
  for (const thing of open) {
    const { who, name, kind, node } = thing
    const place = acting.machines.get(node ?? '')?.name ?? 'its node'
    const present = found.get(thing.id)
    if (kind === 'hold') {
      if (held.has(thing.id)) continue
      acting.drop(thing)
      acting.say({ who, text: `the hold on ${place} has lapsed`, isRefused: false })
    } else if (kind === 'allocation' && !present) {
      acting.drop(thing)
      acting.say({ who, text: `${name} has expired, and ${place} is free`, isRefused: false })
    } else if (present?.state === 'active' && thing.state === 'waiting') {
      Object.assign(thing, { state: 'ready', node: present.node_uuid })
      const got = acting.machines.get(present.node_uuid ?? '')?.name ?? 'a node'
      acting.say({ who, text: `allocation ${name} has waited, and has ${got} now`, isRefused: false })
    } else if (present?.state === 'error') {
      acting.drop(thing)
      await refused(acting, who, name, present)
    }
  }
}
