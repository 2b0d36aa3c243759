// Prints what a server with the demo has, as counted on the server, and commands to try.
import type { Crowd } from './crowd.ts'
import { DEMO_TRAIT, isDemoLease, isDemoProvider, isMarked } from './marks.ts'
import { PEOPLE } from './people.ts'
import { IMPOSSIBLE, WAITING } from './promises.ts'
import type { Passwords } from './users.ts'
import { say } from '../output.ts'
import { screenOf, tableOf } from '../table.ts'
import { terminal } from '../terminal.ts'

type Row = readonly [what: string, count: number, details: string]

export async function printSummary(
  crowd: Crowd,
  passwords: Passwords | null,
  { url, isAdded }: { url: string | null; isAdded: boolean },
): Promise<void> {
  const rows = await countedOn(crowd)
  print(
    ['what', 'count', 'of which'],
    rows.map(([what, count, details]) => [what, String(count), details]),
  )
  printPeople(crowd, passwords)
  say(mannerOf(crowd, passwords, isAdded))
  say('')
  say('Try next:')
  if (url !== null) say(`  export HOLDFAST_URL=${url}`)
  for (const [command, why] of suggestions(crowd)) {
    say(`  # ${why}`)
    say(`  ${calledAs()} ${command}`)
  }
}

export function printPeople(crowd: Crowd, passwords: Passwords | null): void {
  print(
    ['who', 'project', 'role', 'project id', ...(passwords ? ['password'] : [])],
    PEOPLE.map(({ name, project, role }) => [
      name,
      project,
      role,
      crowd.projectOf(project),
      ...(passwords ? [passwords[name]!] : []),
    ]),
  )
}

const print = (columns: readonly string[], rows: readonly (readonly string[])[]) =>
  void terminal().stdout.write(`\n${tableOf(columns, rows, screenOf(terminal().stdout))}`)

async function countedOn({ admin }: Crowd): Promise<Row[]> {
  const [{ machines }, leasable, providers, allocations, holds, hosts, leases, servers] = await Promise.all([
    admin.status({ where: { trait: DEMO_TRAIT } }),
    admin.leasableNodes.list(),
    admin.providers.list(),
    admin.allocations.list({ fields: ['state', 'extra'] }),
    admin.reservations.list(),
    admin.hosts.list(),
    admin.leases.list(),
    admin.servers.list({ all_tenants: 1 }),
  ])
  const ours = {
    leases: leases.filter(isDemoLease),
    allocations: allocations.filter(isMarked),
    servers: servers.filter(({ metadata }) => metadata['demo'] !== undefined),
    nodes: new Set(machines.map(({ uuid }) => uuid)),
    hosts: providers.filter(isDemoProvider),
  }
  const names = new Set(ours.hosts.map(({ name }) => name))
  return [
    ['classes', new Set(machines.map(one => one.class)).size, tallied(machines, one => one.class!)],
    ['nodes', machines.length, tallied(machines, one => one.state)],
    ['allocations', ours.allocations.length, tallied(ours.allocations, one => ALLOCATION_WORDS[one.state])],
    ['holds', holds.filter(({ node_uuid }) => ours.nodes.has(node_uuid)).length, 'for instances that are on their way'],
    [
      'compute hosts',
      ours.hosts.filter(({ parent_provider_uuid }) => parent_provider_uuid === null).length,
      `${ours.hosts.length} providers, with NUMA cells, GPUs and shared storage`,
    ],
    ['servers', ours.servers.length, tallied(ours.servers, ({ status }) => status)],
    [
      'leasable',
      hosts.filter(one => names.has(one.hypervisor_hostname)).length +
        leasable.filter(({ node }) => ours.nodes.has(node)).length,
      `${hosts.length} hosts and ${leasable.length} nodes that leases may book`,
    ],
    ['leases', ours.leases.length, tallied(ours.leases, ({ status }) => LEASE_WORDS[status] ?? status)],
  ]
}

const ALLOCATION_WORDS = { active: 'active', allocating: 'waiting', error: 'in error' } as const
const LEASE_WORDS: Record<string, string> = { TERMINATED: 'over', ACTIVE: 'running', PENDING: 'to come' }

/** Counts by word, the most frequent first. */
function tallied<T>(things: readonly T[], wordFor: (thing: T) => string): string {
  const groups = Map.groupBy(things, wordFor)
  const sorted = [...groups].sort(([, a], [, b]) => b.length - a.length)
  return sorted.map(([word, { length }]) => `${length} ${word}`).join(', ')
}

function mannerOf({ areThemselves }: Crowd, passwords: Passwords | null, isAdded: boolean): string {
  if (passwords) return 'They are in the users file, with passwords that are shown only now.'
  if (areThemselves) {
    return 'Everyone is let in here: with OS_USERNAME=alice OS_PASSWORD=x OS_PROJECT_NAME=vision you are alice.'
  }
  return isAdded
    ? 'They are no users here: what is theirs was made in the names of their projects. --users FILE adds them.'
    : 'The users file shows whether they are users here.'
}

const suggestions = ({ projectOf }: Crowd): (readonly [string, string])[] => [
  ['status', 'who has what, until when, who waits, and what comes'],
  ['status --class gpu-a100 --trait CUSTOM_NVLINK --state free', 'machines by what they are: free A100s with NVLink'],
  [`allocation explain ${WAITING}`, 'it waits for an H100: what stands in the way'],
  [`allocation explain ${IMPOSSIBLE}`, 'it failed: who came closest, and what to leave out'],
  ['lease list', 'what is promised to whom, two weeks ahead'],
  ['calendar --class gpu-a100 --for 2w', 'the same as a picture: who has which machine when'],
  [
    "candidate list --query 'resources=VCPU:8,MEMORY_MB:32768,DISK_GB:100,PGPU:1&required=CUSTOM_NVLINK' --limit 3",
    'where a job with its GPU and shared disk would fit: a NUMA cell, the GPU below it, the storage beside it',
  ],
  ['candidate explain --resource VCPU=8 --resource VGPU=4 --required CUSTOM_NVLINK', 'fits nowhere, and says why'],
  [`usage --project ${projectOf('vision')}`, 'what the vision people have of everything'],
  ['audit --limit 10', 'who did what just now'],
  ['demo --live', 'watch alice, bob and carol at work; demo --remove takes it all away'],
]

/** The command as the user typed it, if the shell tells, so that the lines can be copied. */
function calledAs(): string {
  const typed = terminal().env['_'] ?? ''
  return /^(\.{0,2}\/)?[\w./-]*holdfast$/.test(typed) && !typed.startsWith('/') ? typed : 'holdfast'
}
