// Is the demo on this server, and whose is what else is there? The first rack is made first and goes last, and remembers.
import type { Chassis, Holdfast } from '../../client/index.ts'
import { customClassesOf, customTraitsOf, type Fleet, type FleetOptions } from './fleet.ts'
import { EXTRA, isMarked } from './marks.ts'

/** What the demo can't do, in one line. */
export class DemoFailure extends Error {
  readonly hint: string | null

  constructor(message: string, hint: string | null = null) {
    super(message)
    this.hint = hint
  }
}

/** Something else is in the way. */
export class InTheWay extends DemoFailure {}

export interface Present extends FleetOptions {
  /** The rack that remembers. */
  chassis: string
  isComplete: boolean
  /** Names that were known before the demo came, and stay. */
  kept: readonly string[]
}

const recordIn = ({ extra }: Chassis) => extra['record'] as Omit<Present, 'chassis'> | undefined

export async function presentDemo({ chassis }: Holdfast): Promise<Present | null> {
  const found = (await chassis.list()).find(one => isMarked(one) && recordIn(one))
  return found ? { ...recordIn(found)!, chassis: found.uuid } : null
}

/** The first rack, with what there was before. */
export async function beginRecord(server: Holdfast, fleet: Fleet): Promise<string> {
  const ours = new Set([...customTraitsOf(fleet), ...customClassesOf()])
  const known = [...(await server.traits.list()), ...(await server.resourceClasses.list())]
  const { nodes, seed } = fleet
  const record = { nodes, seed, isComplete: false, kept: known.filter(name => ours.has(name)) }
  const [{ uuid, description }] = fleet.racks as [Fleet['racks'][0], ...Fleet['racks']]
  await server.chassis.create({ uuid, description, extra: { ...EXTRA, record } })
  return uuid
}

export const completeRecord = ({ chassis }: Holdfast, uuid: string) =>
  chassis.update(uuid, [{ op: 'replace', path: '/extra/record/isComplete', value: true }])

/** Refuses where the demo would be in someone's way. */
export async function requireRoom(server: Holdfast, fleet: Fleet, isBeside: boolean): Promise<void> {
  const [nodes, providers, allocations] = await Promise.all([
    server.nodes.list({ fields: ['name'] }),
    server.providers.list(),
    server.allocations.list({ fields: ['name'] }),
  ])
  if (!isBeside && nodes.length + providers.length > 0) {
    const hosts = providers.length - nodes.length
    throw new InTheWay(
      `this server has ${nodes.length} nodes and ${hosts} other providers that are not the demo's`,
      '--beside adds the demo beside them; holdfast demo --remove takes only the demo away',
    )
  }
  const taken = new Set([...nodes, ...providers, ...allocations].map(({ name }) => name))
  const wanted = [...fleet.machines, ...fleet.hosts.providers, ...fleet.allocations]
  const clash = wanted.find(({ name }) => taken.has(name))
  if (clash) throw new InTheWay(`there is a ${clash.name} on this server already, and the demo needs that name`)
}
