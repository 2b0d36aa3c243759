// Where an allocation stands in the queue, in words.
import type { Allocation, Holdfast, PlaceExplained, PlaceInQueue } from '../client/index.ts'
import { localTime } from './wall-clock.ts'

const nameOf = ({ uuid, name }: { uuid: string; name: string | null }) => name ?? uuid

/** `place 2 of 5, likely start today 14:07 CET when n3 is free`. `now` is the server's. Null if there is nothing to say. */
export function placeWords({ place, of, start, because }: PlaceInQueue, now: string): string | null {
  const where = `place ${place} of ${of}`
  if (start === null) return of === 1 ? null : `${where}, start unknown`
  // An end that is overdue comes nearer at each look, and means any moment.
  if (Date.parse(start) <= Date.parse(now)) return `${where}, its turn is next`
  return `${where}, likely start ${localTime(start)}${because ? ` when ${nameOf(because.node)} is free` : ''}`
}

const HOLDS = { allocation: 'allocated', hold: 'held', lease: 'leased' }

/** One line for each that has a node which it could have. */
export const holderWords = ({ holders, others }: PlaceExplained): string[] => [
  ...holders.map(({ node, what, end, allocation, project, who }) => {
    const whose = [who ?? project, ...(who && project ? [`(${project})`] : [])].filter(Boolean).join(' ')
    const parts = [`${HOLDS[what]}${whose && ` by ${whose}`}`, allocation?.name]
    return `${nameOf(node)}: ${parts.filter(Boolean).join(', ')}, ${end === null ? 'no end' : `until ${localTime(end)}`}`
  }),
  ...others.map(({ what, count }) => `${count} more ${HOLDS[what]}`),
]

/** The allocation, and while it waits where it stands. */
export async function withPlace({ allocations }: Holdfast, allocation: Allocation): Promise<Allocation> {
  if (allocation.state !== 'allocating') return allocation
  const { queue } = await allocations.explain(allocation.uuid)
  if (!queue) return allocation
  return {
    ...allocation,
    place: `${queue.place} of ${queue.of}`,
    likely_start: queue.start,
    in_the_way: holderWords(queue),
  }
}
