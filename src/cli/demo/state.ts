// The demo's record, kept on its first rack, which is created first and removed last; and the check for room.
import type { Chassis, Holdfast } from '../../client/index.ts'
import { customClassesOf, customTraitsOf, type Fleet, type FleetOptions } from './fleet.ts'
import { EXTRA, isMarked } from './marks.ts'

/** A failure of the demo, in one line. */
export class DemoFailure extends Error {
  readonly hint: string | null

  constructor(message: string, hint: string | null = null) {
    super(message)
    this.hint = hint
  }
}

/** Other things on the server are in the way. */
export class InTheWay extends DemoFailure {}

export interface Present extends FleetOptions {
  /** The uuid of the rack with the record. */
  chassis: string
  isComplete: boolean
  /** Traits and classes that existed before the demo, and stay. */
  kept: readonly string[]
}

const recordIn = ({ extra }: Chassis) => extra['record'] as Omit<Present, 'chassis'> | undefined

export async function presentDemo({ chassis }: Holdfast): Promise<Present | null> {
  const found = (await chassis.list()).find(one => isMarked(one) && recordIn(one))
  return found ? { ...recordIn(found)!, chassis: found.uuid } : null
}

/** Creates the first rack, with the record. */
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

/** Throws if the server has other things, unless `isBeside`, or if names clash. */
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
