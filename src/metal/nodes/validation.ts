// Validates a node: the settings of each interface, and what a deployment needs.
import { canonicalUuid } from '../../ledger/uuid.ts'
import { problem } from '../../problems/problem.ts'
import { jsonIn, MEMBERS, WORDS } from '../../shared/json.ts'
import type { Read } from '../../store/transaction.ts'
import { type Driver, type InterfaceName, type Machine, VALIDATED, type WantedStep } from '../drivers/port.ts'
import type { Drivers } from '../drivers/registry.ts'
import type { NodeRow } from './rows.ts'
import { mergedSteps, nameOf } from './steps.ts'
import { traitsOn } from './traits.ts'
import { stepsOfTemplates } from '../templates.ts'
import { limits } from '../../shared/limits.ts'
import { called } from '../called.ts'

export function machineOf(node: NodeRow): Machine {
  return {
    uuid: node.uuid,
    name: node.name,
    resourceClass: node.resource_class,
    powerState: node.power_state,
    driverInfo: jsonIn(node.driver_info, MEMBERS),
    driverInternalInfo: jsonIn(node.driver_internal_info, MEMBERS),
    properties: jsonIn(node.properties, MEMBERS),
    extra: jsonIn(node.extra, MEMBERS),
    instanceInfo: jsonIn(node.instance_info, MEMBERS),
    instanceUuid: node.instance_uuid,
    targetRaidConfig: jsonIn(node.target_raid_config, MEMBERS),
    interfaces: jsonIn(node.interfaces, WORDS) as Record<InterfaceName, string>,
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
  if (driver && verdicts.get('deploy') === null) {
    const wrong = yield* deployProblem(node, machine)
    verdicts.set('deploy', wrong ?? stepProblem(driver, machine, 'deploy', yield* deployStepsOf(machine, [])))
  }
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

/** The steps of a deployment: those that the request names, and those of templates for the instance's traits. */
export function* deployStepsOf({ instanceInfo }: Machine, given: readonly WantedStep[]): Read<WantedStep[]> {
  const traits: unknown = instanceInfo['traits']
  const names = Array.isArray(traits) ? traits.filter((name): name is string => typeof name === 'string') : []
  return mergedSteps(yield* stepsOfTemplates(names.slice(0, limits.nodeTraitsMax)), given)
}

/** What is wrong with the first step that the driver can't do; null if it can do all of them. */
export function stepProblem(
  driver: Driver,
  machine: Machine,
  during: 'deploy' | 'clean',
  steps: readonly WantedStep[],
): string | null {
  for (const step of steps) {
    const wrong = driver.validateStep
      ? driver.validateStep(during, step, machine)
      : `Driver ${driver.name} has no steps that can be asked for.`
    if (wrong) return `The ${during} step ${nameOf(step)} can not be done. ${wrong}`
  }
  return null
}

function* deployProblem({ uuid, provider_id }: NodeRow, { instanceInfo }: Machine): Read<string | null> {
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
  const has = new Set(yield* traitsOn({ provider_id }))
  const missing = [...new Set(names)].filter(name => !has.has(name)).sort()
  if (missing.length === 0) return null
  return (
    'Cannot specify instance traits that are not also set on the node. ' +
    `Node ${uuid} is missing traits ${missing.join(', ')}`
  )
}

const isImage = (image: unknown) =>
  typeof image === 'string' && (/^(https?|file|glance|oci):\/\/\S+$/.test(image) || canonicalUuid(image) !== null)
