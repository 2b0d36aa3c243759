// What a project has of the nodes of a class, as its people know it.
import type { Knowing } from './episode.ts'

export interface Node {
  uuid: string
  isFast: boolean
  isOut: boolean
}

export interface Promised {
  kind: 'allocation' | 'hold'
  /** Its name; a hold's uuid. */
  id: string
  uuid: string
  /** Null while it waits. */
  node: string | null
  until: number | null
  wantsFast: boolean
  candidates: readonly string[]
}

export const urlOf = ({ kind, id }: Promised) =>
  `/baremetal/v1/${kind === 'hold' ? 'reservations' : 'allocations'}/${id}`

/** Each hold is on a page of its own. */
export async function lookAtPages(one: Knowing, holds: readonly Promised[]): Promise<void> {
  const seen = new Set<string>()
  for (let url: string | null = '/baremetal/v1/reservations?limit=1'; url !== null;) {
    const { reservations, next }: { reservations: { uuid: string }[]; next?: string } = await one.get(url)
    for (const { uuid } of reservations) seen.add(uuid)
    url = next === undefined ? null : next.replace(/^https?:\/\/[^/]+/, '')
    if (url !== null && !url.startsWith('/baremetal')) url = `/baremetal${url}`
    if (reservations.length > 1) return one.found(`a page of one has ${reservations.length} holds`)
  }
  for (const { id } of holds) if (!seen.has(id)) one.found(`hold ${id} is on no page`)
}

/** Rows, so that they can be compared whatever their order. */
export const inOrder = (rows: readonly (readonly unknown[])[]): string[] => rows.map(row => row.join(' ')).toSorted()

interface Limited {
  project: string
  resourceClass: string
  /** How many nodes it has, or waits for. */
  used: number
  /** Those that are set, by name. */
  limits: Readonly<Record<string, number>>
}

/** A quota shows what is set and what is used. */
export async function lookAtLimits(one: Knowing, { project, resourceClass, used, limits }: Limited): Promise<void> {
  const shown = await one.get(`/holdfast/v1/quotas/${project}`)
  const byName = new Map(
    (shown.limits as { name: string; max: number | null; used: number | null }[]).map(limit => [limit.name, limit]),
  )
  one.same('the use of nodes', byName.get('nodes')?.used, used)
  one.same('the use of servers and leases', [byName.get('vcpus')?.used, byName.get('leases')?.used], [0, 0])
  const ofClass = byName.get(`nodes:${resourceClass}`)
  if (ofClass) one.same('the use of nodes of the class', ofClass.used, used)
  // Others hold for all.
  const own = [...byName.values()].filter(({ name }) => /^(nodes|longest_)/.test(name))
  const set = own.flatMap(({ name, max }) => (max === null || max === -1 ? [] : [[name, max]]))
  one.same('the limits', inOrder(set), inOrder(Object.entries(limits)))
}

/** Each has its place in the line. */
export async function lookAtQueue(one: Knowing, promised: readonly Promised[]): Promise<void> {
  for (const [i, waiting] of promised.filter(({ node }) => node === null).entries()) {
    const { queue_position: position } = await one.get(urlOf(waiting))
    if (position !== undefined) one.same(`the place of ${waiting.id} in the line`, position, i + 1)
  }
}
