// The queries of the candidates bench, and the most that each may cost.
import { AGGREGATE, wideClass } from './candidates-worlds.ts'

export const LARGEST = 100_000
// The cost of any answer before a search begins: hooks, version, metrics.
export const DOOR = '/placement/'

export interface Case {
  name: string
  query: string
  /** At most this many times the bare server's time. */
  timesAtMost?: number
  /** At most this much longer than the bare server, on one connection. */
  extraMsAtMost?: number
}

export const SMALL_QUESTION = 'resources=VCPU:4,MEMORY_MB:4096,DISK_GB:100'
export const SMALL = `${SMALL_QUESTION}&required=COMPUTE_NODE&member_of=${AGGREGATE}`

export function flatCases(count: number): Case[] {
  const door = { name: 'GET /placement/: no search', query: DOOR }
  const many = [1, 10, 1000].map(limit => ({
    name: `${count.toLocaleString('en-US')} flat, many match, limit ${limit}`,
    query: `${SMALL}&limit=${limit}`,
    ...(limit === 10 && count !== 10_000 && { timesAtMost: 2 }),
  }))
  if (count < LARGEST) return count === 1_000 ? [door, ...many] : many
  const few = [
    { name: 'few match by trait', query: `${SMALL.replace('COMPUTE_NODE', 'CUSTOM_GOLD')}&limit=10` },
    { name: 'few match by room', query: 'resources=VCPU:120,MEMORY_MB:500000,DISK_GB:3900&limit=10' },
    { name: 'none matches by room', query: 'resources=VCPU:128,MEMORY_MB:524288,DISK_GB:4000&limit=10' },
  ]
  return [
    ...many,
    ...few.map(one => ({ ...one, name: `${LARGEST.toLocaleString('en-US')} flat, ${one.name}`, extraMsAtMost: 2 })),
  ]
}

export function treeCases(): Case[] {
  const numa =
    'resources=DISK_GB:100&resources_CPU=VCPU:4,MEMORY_MB:4096&required_CPU=CUSTOM_FAST' +
    '&resources_ACC=FPGA:1&required_ACC=CUSTOM_FPGA_A&group_policy=none&same_subtree=_CPU,_ACC'
  const nested = [1, 10, 1000].map(limit => ({
    name: `7,000 nested, limit ${limit}`,
    query: `${numa}&limit=${limit}`,
    ...(limit === 10 && { timesAtMost: 10 }),
  }))
  const wide = [
    [8, 6],
    [8, 8],
    [16, 16],
  ].flatMap(([children = 0, groups = 0]) =>
    ['none', 'isolate'].map(policy => {
      const asked = Array.from({ length: groups }, (_, i) => `resources${i + 1}=${wideClass(children)}:1`)
      const query = `${asked.join('&')}&group_policy=${policy}&limit=10`
      return {
        name: `wide ${children}×${groups}, ${policy}, limit 10`,
        query,
        ...(groups === 16 && { timesAtMost: 30 }),
      }
    }),
  )
  return [...nested, ...wide]
}
