// /queue: who waits for a node, at which place and until when; the priorities and shares of projects.
import { isSeen } from '../../metal/access.ts'
import type { AllocationRow } from '../../metal/allocations/rows.ts'
import type { FleetNode } from '../../metal/nodes/fleet.ts'
import { NOBODY } from '../../metal/nodes/provider.ts'
import type { InTheWay, PlaceInLine } from '../../metal/queue/line.ts'
import { rulesOf, UNKNOWN } from '../../metal/queue/order.ts'
import { type Holder, lineNow, type QueueNow, queueNow } from '../../metal/queue/rows.ts'
import { setPriority, sharesOf, standingsNow } from '../../metal/queue/standings.ts'
import type { Context } from '../../process/context.ts'
import { shownIn, TEXTS } from '../../shared/json.ts'
import { limits } from '../../shared/limits.ts'
import { shownTime, Time } from '../baremetal/links.ts'
import { type MetalRequest, seesHold } from '../baremetal/request.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { Count, named, oneOf, orNull, Text, TextOrNull, Uuid } from '../shapes.ts'
import { type Answer, inMetal, type OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const NodeName = Type.Object({ uuid: Uuid, name: TextOrNull })

const OCCUPANTS = ['allocation', 'hold', 'lease'] as const

const place = {
  place: Count,
  of: Count,
  start: orNull(Time),
  because: orNull(named('InTheWay', { node: NodeName, what: oneOf(...OCCUPANTS, 'ahead'), end: Time })),
}

const Waiting = named('Waiting', {
  uuid: Uuid,
  name: TextOrNull,
  // Null where nobody has to log in.
  project: TextOrNull,
  who: Text,
  resource_class: Text,
  traits: Type.Array(Text),
  since: Time,
  wait_until: orNull(Time),
  expires_at: orNull(Time),
  ...place,
  // How many nodes it could have, whoever has them now.
  nodes: Count,
})

/** Where one allocation stands in the line, and who has the nodes that it could have. */
export const StandsInLine = named('StandsInLine', {
  ...place,
  holders: Type.Array(
    named('Holder', {
      node: NodeName,
      what: oneOf(...OCCUPANTS),
      end: orNull(Time),
      allocation: orNull(Type.Object({ uuid: Uuid, name: TextOrNull })),
      project: TextOrNull,
      who: TextOrNull,
    }),
  ),
  // Those that the caller may not know more of, and those that are too many to be listed.
  others: Type.Array(named('OtherHolders', { what: oneOf(...OCCUPANTS), count: Count })),
})

const Shares = named('Shares', {
  project_id: Text,
  project: Text,
  priority: Type.Integer(),
  share: Type.Integer(),
  used_hours: Type.Number({ minimum: 0 }),
  due_percent: Type.Number({ minimum: 0 }),
  actual_percent: Type.Number({ minimum: 0 }),
})

type NodeNamed = Pick<FleetNode, 'uuid' | 'name'>

const nodeName = ({ uuid, name }: NodeNamed): NodeNamed => ({ uuid, name })

function shownPlace({ fleet }: Context, { place, of, start, because }: PlaceInLine) {
  return { place, of, start: shownTime(start), because: because && shownBecause(because, fleet.withUuid(because.node)) }
}

const shownBecause = ({ node, what, end }: InTheWay, found: FleetNode | undefined) => ({
  node: found ? nodeName(found) : { uuid: node, name: null },
  what,
  end: shownTime(end),
})

/** The queue and its places, as they are now; or as they would be with another one in it. */
async function present(
  { context, now }: MetalRequest,
  another: AllocationRow | null = null,
): Promise<{ queue: QueueNow; line: PlaceInLine[] }> {
  const { store, fleet, mirror, config } = context
  const found = await store.read(() => queueNow(fleet, now))
  const queue = another === null ? found : { ...found, waiting: [...found.waiting, another] }
  return { queue, line: lineNow(queue, rulesOf(config), { fleet, table: mirror.table }, now) }
}

/** Whether the caller may see an allocation of this project. */
const seesAllocation = (request: MetalRequest, owner: string | null): boolean =>
  isSeen(owner, request.access().view) && request.may('baremetal:allocation:get', { project: owner })

getQueue.operation = {
  summary: 'List who waits for a node, in the order in which they are served',
  answers: { 200: Type.Object({ queue: Type.Array(Waiting) }) },
} satisfies Operation

export async function getQueue(asked: OperatorRequest): Promise<Answer> {
  const request = inMetal(asked)
  const { queue, line } = await present(request)
  const rows = new Map(queue.waiting.map(row => [row.uuid, row]))
  const seen = line.filter(({ uuid }) => seesAllocation(request, rows.get(uuid)!.owner))
  return { status: 200, body: { queue: seen.map(one => shownWaiting(request.context, rows.get(one.uuid)!, one)) } }
}

function shownWaiting(context: Context, row: AllocationRow, place: PlaceInLine) {
  const { names } = context
  return {
    uuid: row.uuid,
    name: row.name,
    project: row.project_id === NOBODY.project ? null : names.project(row.project_id),
    who: names.user(row.user_id),
    resource_class: row.resource_class,
    traits: shownIn(row.traits, TEXTS),
    since: shownTime(row.retried_at ?? row.created_at),
    wait_until: shownTime(row.wait_until),
    expires_at: shownTime(row.expires_at),
    ...shownPlace(context, place),
    nodes: place.suits.length,
  }
}

/** Where an allocation stands in the line; null if it doesn't wait. `another` is one that isn't in it yet. */
export async function standsInLine(request: MetalRequest, uuid: string, another: AllocationRow | null = null) {
  const { queue, line } = await present(request, another)
  const found = line.find(one => one.uuid === uuid)
  if (!found) return null
  const { fleet } = request.context
  const holders = found.suits.flatMap(suit => {
    const node = fleet.withUuid(suit)
    const holder = node && queue.holders.get(node.id)
    return holder ? [{ ...holder, node: nodeName(node) }] : []
  })
  return { ...shownPlace(request.context, found), ...shownHolders(request, holders) }
}

/** Those who end first come first. Of other projects' only the count is told. */
function shownHolders(request: MetalRequest, holders: readonly (Holder & { node: NodeNamed })[]) {
  const { context } = request
  const seen = holders
    .filter(({ owner, what }) => (what === 'hold' ? seesHold : seesAllocation)(request, owner))
    .toSorted((a, b) => (a.end ?? Number.MAX_VALUE) - (b.end ?? Number.MAX_VALUE))
    .slice(0, limits.explainSampleMax)
  const others = Map.groupBy(
    holders.filter(holder => !seen.includes(holder)),
    ({ what }) => what,
  )
  return {
    holders: seen.map(({ node, what, end, owner, allocation }) => ({
      node,
      what,
      end: shownTime(end),
      allocation: allocation && { uuid: allocation.uuid, name: allocation.name },
      project: owner === null ? null : context.names.project(owner),
      who: allocation && context.names.user(allocation.user),
    })),
    others: [...others].map(([what, some]) => ({ what, count: some.length })),
  }
}

getShares.operation = {
  summary: 'List the priorities and shares of projects, and what they used lately',
  answers: { 200: Type.Object({ order: oneOf('fifo', 'fair'), projects: Type.Array(Shares) }) },
} satisfies Operation

export async function getShares({ context }: OperatorRequest): Promise<Answer> {
  return { status: 200, body: { order: context.config.queue, projects: await sharesIn(context) } }
}

async function sharesIn({ store, names }: Context) {
  const shares = sharesOf(await store.read(standingsNow))
  return shares.map(({ project, standing, due, actual }) => ({
    project_id: project,
    project: names.project(project),
    priority: standing.priority,
    share: standing.share,
    used_hours: tenths(standing.used / 3_600_000),
    due_percent: tenths(due * 100),
    actual_percent: tenths(actual * 100),
  }))
}

const tenths = (amount: number) => Math.round(amount * 10) / 10

getSharesOfOne.operation = {
  summary: 'Show the priority and share of a project, and what it used lately',
  answers: { 200: Shares },
} satisfies Operation

export async function getSharesOfOne(request: OperatorRequest): Promise<Answer> {
  const { context } = request
  const id = request.param('project')
  const found = (await sharesIn(context)).find(({ project_id }) => project_id === id)
  const { priority, share } = UNKNOWN
  const none = { priority, share, used_hours: 0, due_percent: 0, actual_percent: 0 }
  return { status: 200, body: found ?? { project_id: id, project: context.names.project(id), ...none } }
}

const change = check(
  Type.Object(
    {
      priority: Type.Optional(Type.Integer({ minimum: -limits.priorityMax, maximum: limits.priorityMax })),
      share: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.shareMax })),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
)

putPriority.operation = {
  summary: 'Set the priority or the share of a project',
  description:
    'A level of priority is a head start of a day over those who wait. Shares count in the fair order only (`--queue fair`).',
  body: [change],
  answers: { 200: Shares },
} satisfies Operation

export async function putPriority(request: OperatorRequest): Promise<Answer> {
  const wanted = request.body(change)
  await request.context.store.write(() => setPriority(request.param('project'), wanted))
  return getSharesOfOne(request)
}
