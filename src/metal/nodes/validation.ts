// Validates a node: the settings of each interface, and what a deployment needs.
import { providerTraits } from '../../ledger/traits.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { problem } from '../../problems/problem.ts'
import { jsonIn } from '../../shared/json.ts'
import type { Read } from '../../store/transaction.ts'
import { type InterfaceName, type Machine, VALIDATED } from '../drivers/port.ts'
import type { Drivers } from '../drivers/registry.ts'
import type { NodeRow } from './rows.ts'
import { called } from '../called.ts'

export function machineOf(node: NodeRow): Machine {
  return {
    uuid: node.uuid,
    name: node.name,
    resourceClass: node.resource_class,
    powerState: node.power_state,
    driverInfo: jsonIn(node.driver_info),
    driverInternalInfo: jsonIn(node.driver_internal_info),
    properties: jsonIn(node.properties),
    extra: jsonIn(node.extra),
    instanceInfo: jsonIn(node.instance_info),
    instanceUuid: node.instance_uuid,
    targetRaidConfig: jsonIn(node.target_raid_config),
    interfaces: jsonIn(node.interfaces) as Record<InterfaceName, string>,
  }
}

/** By interface: null when it would work, else why not. */
export function* validateNode(node: NodeRow, drivers: Drivers): Read<Map<InterfaceName, string | null>> {
  const driver = drivers.get(node.driver)
  const machine = machineOf(node)
  const verdicts = new Map<InterfaceName, string | null>()
  for (const name of VALIDATED) {
    verdicts.set(name, driver ? driver.validate(name, machine) : `There is no driver ${node.driver}.`)
  }
  if (verdicts.get('deploy') === null) verdicts.set('deploy', yield* deployProblem(node, machine))
  return verdicts
}

/** Refuses to deploy a node whose deploy or power interface is not valid. */
export function* requireDeployable(node: NodeRow, drivers: Drivers): Read<void> {
  const verdicts = yield* validateNode(node, drivers)
  for (const name of ['deploy', 'power'] as const) {
    const reason = verdicts.get(name)
    if (reason) {
      throw problem('invalid_parameter', {
        reason: `Failed to validate ${name} information for node ${called(node)}. Error: ${reason}`,
      })
    }
  }
}

function* deployProblem({ uuid }: NodeRow, { instanceInfo }: Machine): Read<string | null> {
  const image = instanceInfo['image_source']
  if (image !== undefined && !isImage(image)) {
    return `instance_info/image_source must be a URL or the UUID of an image, not ${JSON.stringify(image)}.`
  }
  const wanted = instanceInfo['traits']
  if (wanted === undefined || wanted === null) return null
  if (!Array.isArray(wanted)) return 'Error parsing traits from Node instance_info: expected a list of strings.'
  const names: unknown[] = wanted
  if (!names.every(name => typeof name === 'string')) {
    return 'Error parsing traits from Node instance_info: expected a list of strings.'
  }
  const { traits } = yield* providerTraits(uuid)
  const has = new Set(traits.map(trait => trait.name))
  const missing = [...new Set(names)].filter(name => !has.has(name)).sort()
  if (missing.length === 0) return null
  return (
    'Cannot specify instance traits that are not also set on the node. ' +
    `Node ${uuid} is missing traits ${missing.join(', ')}`
  )
}

const isImage = (image: unknown) =>
  typeof image === 'string' && (/^(https?|file|glance|oci):\/\/\S+$/.test(image) || canonicalUuid(image) !== null)
