// At quiet points each copy in memory equals the database: at the end is too late, because a later reading repairs it.
import { allLeasables, type RevisedLeasable } from '../../src/leases/calendar/resources.ts'
import { isShown } from '../../src/ledger/candidates/shown.ts'
import { loadAll } from '../../src/ledger/load.ts'
import type { RevisedSnapshot } from '../../src/ledger/snapshot.ts'
import { type FleetNode, fleetNode } from '../../src/metal/nodes/fleet.ts'
import type { Memory } from '../../src/process/memory.ts'
import type { Finding } from '../port.ts'
import { type Inside, read } from './inside.ts'

/** What the database has. */
interface Truth {
  providers: RevisedSnapshot[]
  nodes: FleetNode[]
  leasables: RevisedLeasable[]
}

async function truthIn(inside: Inside): Promise<Truth> {
  const providers: RevisedSnapshot[] = []
  await read(
    inside,
    loadAll(page => void providers.push(...page)),
  )
  const nodes = (await inside.rows<FleetNode>('select * from nodes order by id')).map(fleetNode)
  const leasables = await read(inside, allLeasables())
  return { providers, nodes, leasables }
}

export async function memoryEqualsDatabase(inside: Inside): Promise<Finding[]> {
  const truth = await truthIn(inside)
  return inside
    .memories()
    .flatMap(({ name, memory }) =>
      differencesOf(memory, truth).map(text => ({ check: 'memory', text: `${name}: ${text}` })),
    )
}

function differencesOf({ mirror, fleet, calendar }: Memory, { providers, nodes, leasables }: Truth): string[] {
  const { table } = mirror
  const wrong = providers.filter(snapshot => !isShown(table, snapshot))
  return [
    ...wrong.map(
      one => `provider ${one.uuid} differs: the database has ${providerText(one)}, memory ${rowText(table, one)}`,
    ),
    ...(table.size === providers.length
      ? []
      : [`memory has ${table.size} providers, the database ${providers.length}`]),
    ...differing(
      'node',
      nodes,
      [...fleet.nodes()].toSorted((a, b) => a.id - b.id),
      nodeText,
    ),
    ...differing('leasable', leasables, calendar.leasables, leasableText),
  ]
}

function differing<One extends { id: number }>(
  what: string,
  truth: readonly One[],
  memory: readonly One[],
  text: (one: One) => string,
): string[] {
  const known = new Map(memory.map(one => [one.id, text(one)]))
  const there = new Map(truth.map(one => [one.id, text(one)]))
  const ids = [...new Set([...known.keys(), ...there.keys()])]
  return ids
    .filter(id => known.get(id) !== there.get(id))
    .map(id => `${what} ${id}: the database has ${there.get(id) ?? 'nothing'}, memory ${known.get(id) ?? 'nothing'}`)
}

const nodeText = (node: FleetNode): string => JSON.stringify(Object.entries(fleetNode(node)).map(([, value]) => value))

const leasableText = ({ version, isReservable, capacity, booked, node }: RevisedLeasable): string =>
  JSON.stringify([version, isReservable, capacity, booked.map(bookingText).sort(), node])

const bookingText = (one: RevisedLeasable['booked'][number]): string =>
  JSON.stringify({ ...one, allocation: one.allocation ?? null })

const providerText = ({ revision, generation, inventories }: RevisedSnapshot): string =>
  `revision ${revision}, generation ${generation}, ${inventories.map(one => `${one.resourceClass} ${one.used}/${one.total}`).join(', ')}`

function rowText(table: Memory['mirror']['table'], { id, inventories }: RevisedSnapshot): string {
  const row = table.rowOfId(id)
  if (row < 0) return 'nothing'
  const uses = inventories.map(one => `${one.resourceClass} ${table.column(one.resourceClass)?.usedAt(row)}`)
  return `generation ${table.generation[row]}, ${uses.join(', ')}`
}
