// Checks what drives the machines: the drivers of the conductors, and each machine's BMC.
import { ApiError, type Conductor, type Holdfast, type Node } from '../../client/index.ts'
import { atOnce } from '../../shared/at-once.ts'
import { type Finding, ok, unknown, warning, wrong } from './examine.ts'

/** Counting stops here. */
const NODES_MAX = 10_000
/** BMCs that are asked: a slow one takes 15 s, and sixteen are asked at a time. */
const ASKED_MAX = 200
const WIDTH = 16
/** Names in one line. */
const NAMES_MAX = 5

export const someNames = (names: readonly string[]): string =>
  names.length <= NAMES_MAX
    ? names.join(', ')
    : `${names.slice(0, NAMES_MAX).join(', ')} and ${names.length - NAMES_MAX} more`

const called = ({ name, uuid }: Node) => name ?? uuid

/** Whether some live conductor has the driver and the group of each node. */
export async function lookAtDrivers(server: Holdfast): Promise<Finding> {
  const [conductors, nodes] = await Promise.all([
    server.conductors.list(),
    server.nodes.list({ fields: ['uuid', 'name', 'driver', 'conductor_group'], limit: NODES_MAX }),
  ])
  return judgeDrivers(conductors, nodes)
}

export function judgeDrivers(conductors: readonly Conductor[], nodes: readonly Node[]): Finding {
  const alive = conductors.filter(conductor => conductor.alive)
  const idle = alive.filter(({ drivers }) => drivers.length === 0).map(({ hostname }) => hostname)
  if (idle.length > 0) {
    return wrong(`without any driver: ${someNames(idle)}`, 'name drivers with --enabled-drivers, and start them again')
  }
  const has = ({ driver, conductor_group: group }: Node) =>
    alive.some(one => one.conductor_group === group && one.drivers.includes(driver as string))
  const orphans = Map.groupBy(
    nodes.filter(node => !has(node)),
    ({ driver, conductor_group: group }) =>
      group === '' ? String(driver) : `${String(driver)} in group ${String(group)}`,
  )
  if (orphans.size > 0) {
    const said = Array.from(orphans, ([what, of]) => `${what}: ${someNames(of.map(called))}`)
    return wrong(
      `no live conductor has the driver of these nodes, so nobody works on them: ${said.join('; ')}`,
      'start a conductor with that driver (--enabled-drivers) and group, or give the nodes another driver',
    )
  }
  return ok(someNames([...new Set(alive.flatMap(({ drivers }) => drivers))].sort()) || 'none')
}

/** Asks the BMC of each machine: reachable, credentials, power readable. */
export async function askMachines(server: Holdfast): Promise<Finding> {
  const fields = ['uuid', 'name', 'maintenance', 'driver']
  const nodes = await server.nodes.list({ fields, where: { maintenance: false }, limit: ASKED_MAX })
  const reasons: { name: string; reason: string }[] = []
  let forbidden = 0
  const ask = async (node: Node) => {
    try {
      const { power, management, deploy } = await server.nodes.validate(node.uuid)
      // To deploy, others also need what whoever gets the machine will say.
      const verdicts = node['driver'] === 'manual' ? [power, management, deploy] : [power, management]
      const reason = verdicts.find(verdict => verdict?.result === false)?.reason
      if (reason !== undefined) reasons.push({ name: called(node), reason })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // Gone meanwhile, or another project's.
      if (error.status === 404) return
      if (error.status === 403) forbidden++
      else reasons.push({ name: called(node), reason: error.message })
    }
  }
  await atOnce(nodes, ask, { width: WIDTH })
  if (nodes.length > 0 && forbidden === nodes.length) return unknown('not for this user')
  return judgeMachines(reasons, nodes.length - forbidden, nodes.length === ASKED_MAX)
}

/** Machines with the same reason stand together. */
export function judgeMachines(
  failed: readonly { name: string; reason: string }[],
  asked: number,
  isCut: boolean,
): Finding {
  const count = isCut ? `the first ${asked}` : String(asked)
  if (failed.length === 0) return ok(`${count} asked, all can be driven`)
  const grouped = Map.groupBy(failed, ({ reason }) => reason)
  const said = Array.from(grouped, ([reason, of]) => `${someNames(of.map(({ name }) => name))}: ${reason}`)
  return warning(
    `${failed.length} of ${count} can't be driven. ${said.join('; ')}`,
    'mend what it says (the BMC, its address and password, or the hook); then: holdfast node validate NAME',
  )
}

/** Whether two nodes are one machine: it would be promised twice, and each would switch off the other's. */
export async function lookForTwins(server: Holdfast): Promise<Finding> {
  return judgeTwins(await server.nodes.list({ fields: ['uuid', 'name', 'driver', 'driver_info'], limit: NODES_MAX }))
}

export function judgeTwins(nodes: readonly Node[]): Finding {
  const placed = nodes.flatMap(node => {
    const place = placeOf((node['driver_info'] ?? {}) as Record<string, unknown>)
    return place === null ? [] : [{ name: called(node), ...place }]
  })
  const twins = [...Map.groupBy(placed, ({ bmc }) => bmc)].flatMap(([bmc, at]) => {
    // Who names no system means the only one, so nobody else can be there.
    const groups = at.some(({ system }) => system === null) ? [at] : Map.groupBy(at, ({ system }) => system).values()
    return [...groups].filter(of => of.length > 1).map(of => `${someNames(of.map(({ name }) => name))} at ${bmc}`)
  })
  if (twins.length === 0)
    return ok(placed.length === 0 ? 'no node has a BMC' : 'each node has a BMC or system of its own')
  return wrong(`these nodes are one machine: ${twins.join('; ')}`, 'delete all but one, or correct their driver_info')
}

function placeOf(info: Record<string, unknown>): { bmc: string; system: string | null } | null {
  const text = (key: string) => (typeof info[key] === 'string' && info[key] !== '' ? info[key] : null)
  const [redfish, ipmi] = [text('redfish_address'), text('ipmi_address')]
  if (redfish !== null) {
    const bmc = redfish
      .replace(/^(?!https?:)/i, 'https://')
      .replace(/\/+$/, '')
      .toLowerCase()
    return { bmc, system: text('redfish_system_id')?.split('/').at(-1) ?? null }
  }
  if (ipmi === null) return null
  const target = [info['ipmi_port'] ?? 623, info['ipmi_target_channel'], info['ipmi_target_address']]
  return { bmc: ipmi.toLowerCase(), system: JSON.stringify(target) }
}
