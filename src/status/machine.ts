// A machine's row on the board: who has it, what comes, and its word. Pure: made from what was read, at a time.
import { keeperName } from '../metal/allocations/keeping.ts'
import { NOBODY } from '../metal/nodes/provider.ts'
import { likelyEnd } from '../metal/queue/rows.ts'
import type { BookingPart, MachineSource } from './rows.ts'
import { stateOf, type Word, workIn } from './state.ts'

export const PROMISE_KINDS = ['allocation', 'server', 'instance', 'claim', 'hold', 'lease'] as const
export type PromiseKind = (typeof PROMISE_KINDS)[number]

/** What has or holds a machine, or will. */
export interface MachinePromise {
  kind: PromiseKind
  id: string
  name: string | null
  user: string
  project: string
  /** The project that sees it; null for none but those who see all. */
  owner: string | null
  start: number
  end: number | null
  /** Who keeps it, as people know them. */
  keeper: string | null
  /** What people wrote about it. */
  note: string | null
}

export interface MachineRow {
  source: MachineSource
  word: Word
  verb: string | null
  /** What has or holds it now. */
  promise: MachinePromise | null
  /** Bookings that are not over and whose lease doesn't have it yet, by their start. */
  ahead: readonly MachinePromise[]
  /** Between these times the row stays as it is, unless somebody does something. */
  validFrom: number
  validUntil: number
}

/** Ids that stand for nobody. */
const NOONE: ReadonlySet<string> = new Set([NOBODY.user, NOBODY.project, 'anyone', ''])
export const isNoone = (id: string): boolean => NOONE.has(id)

const ofLease = ({ id, name, user_id, project_id, start_at, end_at }: BookingPart): MachinePromise => ({
  kind: 'lease',
  id,
  name,
  user: user_id,
  project: project_id,
  owner: project_id,
  start: start_at,
  end: end_at,
  keeper: null,
  note: null,
})

/** Who has it for good: not by a hold. */
function claimOn({ node, allocation, claims, server, hold, bookings }: MachineSource): MachinePromise | null {
  const { instance_uuid } = node
  if (allocation) {
    const lease = bookings.find(booking => booking.allocation === allocation.uuid)
    const keeper = allocation.keeper === null ? null : keeperName(allocation.keeper)
    const { uuid, name, user_id, project_id, owner, created_at, note } = allocation
    if (lease) return { ...ofLease(lease), keeper, note }
    const claimed = claims.find(claim => claim.uuid === uuid)
    return {
      kind: 'allocation',
      id: uuid,
      name,
      user: user_id,
      project: project_id,
      owner,
      // The request may have waited.
      start: claimed?.created_at ?? created_at,
      // One that is kept is renewed again and again: what counts is when its keeper means to be done.
      end: likelyEnd(allocation),
      keeper,
      note,
    }
  }
  const claim =
    claims.find(({ uuid }) => uuid === instance_uuid) ??
    claims.find(({ uuid, expires_at }) => uuid !== hold?.uuid && expires_at === null)
  if (!claim) return null
  const { uuid, project_id, user_id, created_at } = claim
  const whose = { user: user_id, project: project_id, owner: project_id, start: created_at, end: null }
  const bare = { ...whose, keeper: null, note: null }
  if (server?.uuid === uuid) {
    const { name, project_id: project, user_id: user } = server
    return { ...bare, kind: 'server', id: uuid, name, user, project, owner: project }
  }
  return { ...bare, kind: uuid === instance_uuid ? 'instance' : 'claim', id: uuid, name: null }
}

function holdOn({ hold, claims }: MachineSource, now: number): MachinePromise | null {
  if (!hold || hold.expires_at <= now) return null
  const { uuid, owner, project_id, expires_at, created_at } = hold
  const claim = claims.find(one => one.uuid === uuid)
  const project = owner ?? project_id ?? claim?.project_id ?? NOBODY.project
  const user = claim?.user_id ?? NOBODY.user
  const span = { start: created_at, end: expires_at }
  return { kind: 'hold', id: uuid, name: null, user, project, owner, ...span, keeper: null, note: null }
}

export function rowOf(source: MachineSource, now: number): MachineRow {
  const { node, bookings } = source
  const claim = claimOn(source)
  const hold = holdOn(source, now)
  const ahead = bookings
    .filter(({ end_at, allocation }) => end_at > now && (allocation === null || allocation !== source.allocation?.uuid))
    .map(ofLease)
  const word = stateOf({
    ...node,
    isClaimed: claim !== null || node.instance_uuid !== null,
    isHeld: hold !== null,
    isBooked: ahead.length > 0,
  })
  const ends = [...(source.hold ? [source.hold.expires_at] : []), ...bookings.map(({ end_at }) => end_at)]
  return {
    source,
    word,
    verb: workIn(node.provision_state),
    promise: claim ?? hold,
    ahead,
    validFrom: Math.max(-Infinity, ...ends.filter(end => end <= now)),
    validUntil: Math.min(Infinity, ...ends.filter(end => end > now)),
  }
}

/** The ids of all that the row shows: when one of them changes, the row does. */
export const idsIn = ({ source: { node, ports, allocation, hold, claims, bookings } }: MachineRow): string[] =>
  [
    node.uuid,
    node.chassis_uuid,
    node.instance_uuid,
    allocation?.uuid,
    hold?.uuid,
    ...ports.map(({ uuid }) => uuid),
    ...claims.map(({ uuid }) => uuid),
    ...bookings.map(({ id }) => id),
  ].filter(id => id !== null && id !== undefined)

/** The ids of the people and projects that the row names. */
export const peopleIn = ({ source: { node }, promise, ahead }: MachineRow): (string | null)[] => [
  node.owner,
  node.lessee,
  ...[...ahead, ...(promise ? [promise] : [])].flatMap(({ user, project }) => [user, project]),
]
