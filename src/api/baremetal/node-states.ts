// /v1/nodes/X/states, its verbs and its power; maintenance.
import { canonicalUuid } from '../../ledger/uuid.ts'
import { setMaintenance } from '../../metal/nodes/lifecycle.ts'
import { type Json, POWER_TARGETS, type PowerTarget } from '../../metal/drivers/port.ts'
import { findNode } from '../../metal/nodes/rows.ts'
import { startPower, startVerb } from '../../metal/nodes/transitions.ts'
import { type Verb, VERB_WORDS, verbOf } from '../../metal/nodes/states.ts'
import { cleanStepsIn, deployStepsIn } from '../../metal/nodes/steps.ts'
import { problem } from '../../problems/problem.ts'
import type { FieldName } from '../../shared/node-fields.ts'
import type { Operation } from '../operation.ts'
import { NEW_MAINTENANCE, NEW_POWER_STATE, NEW_PROVISION_STATE } from './node-bodies.ts'
import { nodeShapeOf, writer } from './node-fields.ts'
import { nodeIdent } from './nodes.ts'
import { withPatience } from './patience.ts'
import type { Answer, MetalRequest } from './request.ts'
import type { Word } from './versions.ts'
import { isObject } from '../../shared/is-object.ts'
import { propertiesOf } from '../operation.ts'
import { unexpected, wanted } from '../wanted.ts'
import { unknownMember } from './collection.ts'

const refuse = (reason: string) => problem('invalid_parameter', { reason })

const STATE_FIELDS = [
  'power_state',
  'target_power_state',
  'provision_state',
  'target_provision_state',
  'provision_updated_at',
  'last_error',
  'console_enabled',
  'raid_config',
  'target_raid_config',
  'boot_mode',
  'secure_boot',
] as const satisfies FieldName[]

showStates.operation = {
  summary: 'Show the states of a node',
  answers: { 200: nodeShapeOf('NodeStates', STATE_FIELDS) },
} satisfies Operation

export async function showStates(request: MetalRequest): Promise<Answer> {
  const node = await request.context.nodes.one(nodeIdent(request), request.access(), request.now)
  return { status: 200, body: writer(STATE_FIELDS, request)(node) }
}

/** The version that brought a verb, as the client spells it. */
const VERB_SINCE: Record<string, Word> = {
  manage: 'manage',
  provide: 'manage',
  inspect: 'inspection',
  abort: 'abort',
  clean: 'clean',
  adopt: 'adopt',
  rescue: 'rescue',
  unrescue: 'rescue',
  deploy: 'deployVerbs',
  undeploy: 'deployVerbs',
}

/** The verbs of tenants. All other verbs are for those who maintain the machine. */
const TENANT_VERBS: ReadonlySet<Verb> = new Set(['active', 'rebuild', 'deleted', 'rescue', 'unrescue'])

interface Argument {
  verbs: readonly Verb[]
  needs: Word | null
  /** The value as it is kept; throws if it isn't valid. */
  read: (value: unknown, name: string) => unknown
}

const shapeOf = (name: string) => propertiesOf(NEW_PROVISION_STATE.schema)[name]!

const having =
  (holds: (value: unknown) => boolean): Argument['read'] =>
  (value, name) => {
    if (!holds(value)) throw refuse(unexpected(shapeOf(name), name, value))
    return value
  }

const ARGUMENTS: Record<string, Argument> = {
  configdrive: {
    verbs: ['active', 'rebuild'],
    needs: null,
    read: having(value => typeof value === 'string' || isObject(value)),
  },
  deploy_steps: { verbs: ['active', 'rebuild'], needs: 'deploySteps', read: deployStepsIn },
  clean_steps: { verbs: ['clean'], needs: 'clean', read: cleanStepsIn },
  rescue_password: {
    verbs: ['rescue'],
    needs: 'rescue',
    read: having(value => typeof value === 'string' && value !== ''),
  },
  disable_ramdisk: { verbs: ['clean'], needs: 'disableRamdisk', read: having(value => typeof value === 'boolean') },
  reservation_uuid: { verbs: ['active'], needs: 'reservations', read: having(isUuid) },
  reservation_id: { verbs: ['active'], needs: 'reservations', read: having(isUuid) },
}

putProvisionState.operation = {
  summary: 'Have a node provisioned: deploy it, clean it, and so on',
  body: [NEW_PROVISION_STATE],
  answers: { 202: null },
} satisfies Operation

export async function putProvisionState(request: MetalRequest): Promise<Answer> {
  const { context } = request
  const ident = nodeIdent(request)
  const { target, ...given } = request.object(NEW_PROVISION_STATE)
  if (target === undefined) throw refuse(`Missing mandatory parameter target: ${wanted(shapeOf('target'))}.`)
  if (typeof target !== 'string') throw refuse(unexpected(shapeOf('target'), 'target', target))
  const needs = Object.hasOwn(VERB_SINCE, target) ? VERB_SINCE[target] : null
  if (needs) request.require(needs, `The verb ${target}`)
  const verb = verbOf(target)
  const args = verbArguments(request, verb, target, given)
  const access = request.access(verb !== null && TENANT_VERBS.has(verb) ? ['baremetal:node:deploy'] : undefined)
  if (!verb) {
    const { uuid, provision_state: state } = await context.store.read(() => findNode(ident, access))
    throw problem('verb_refused', { verb: target.slice(0, 100), node: uuid, state, known: VERB_WORDS })
  }
  const { reservation_uuid, reservation_id, ...rest } = args
  const reservation = canonicalUuid(((reservation_uuid ?? reservation_id) as string | undefined) ?? '')
  const { permit: permitHold } = request.access(['baremetal:reservation:get'])
  const asked = { verb, word: target, args: rest, reservation, permitHold }
  const order = { ...asked, who: request.principal, request: request.id }
  await context.store.write(() => startVerb(ident, access, order, context.drivers, request.now))
  return { status: 202, location: `/nodes/${request.param('ident')}/states` }
}

function verbArguments(request: MetalRequest, verb: Verb | null, target: string, given: Json): Json {
  const args: Json = {}
  for (const [name, value] of Object.entries(given)) {
    const known = Object.hasOwn(ARGUMENTS, name) ? ARGUMENTS[name]! : null
    if (!known) throw refuse(unknownMember(name, ['target', ...Object.keys(ARGUMENTS)]))
    if (value === null) continue
    if (known.needs) request.require(known.needs, name)
    if (!verb || !known.verbs.includes(verb))
      throw refuse(
        `${name} is not valid with the verb ${target.slice(0, 100)}, only with ${known.verbs.join(' and ')}.`,
      )
    args[name] = known.read(value, name)
  }
  if (args['configdrive'] !== undefined) {
    if (verb === 'rebuild') request.require('rebuildConfigdrive', 'configdrive with rebuild')
    if (isObject(args['configdrive'])) request.require('jsonConfigdrive', 'configdrive as an object')
  }
  if (verb === 'clean' && args['clean_steps'] === undefined)
    throw refuse('"clean_steps" is required when setting target provision state to clean.')
  if (verb === 'rescue' && args['rescue_password'] === undefined)
    throw refuse('A non-empty "rescue_password" is required when setting target provision state to rescue.')
  return args
}

function isUuid(value: unknown): boolean {
  return typeof value === 'string' && canonicalUuid(value) !== null
}

const TIMEOUT_MAX_S = 86_400

putPowerState.operation = {
  summary: 'Switch a node on or off',
  body: [NEW_POWER_STATE],
  answers: { 202: null },
} satisfies Operation

export async function putPowerState(request: MetalRequest): Promise<Answer> {
  const { context } = request
  const { target, timeout, ...others } = request.object(NEW_POWER_STATE)
  const unknown = Object.keys(others)[0]
  if (unknown !== undefined) throw refuse(unknownMember(unknown, ['target', 'timeout']))
  if (typeof target !== 'string' || !(POWER_TARGETS as readonly string[]).includes(target)) {
    throw refuse(
      `Invalid power state ${JSON.stringify(target ?? null).slice(0, 100)} as target: use one of ${POWER_TARGETS.join(', ')}.`,
    )
  }
  if (target.startsWith('soft')) request.require('softPower', target)
  if (timeout !== undefined && timeout !== null) {
    request.require('softPower', 'timeout')
    if (!Number.isInteger(timeout) || (timeout as number) < 1 || (timeout as number) > TIMEOUT_MAX_S) {
      throw refuse(`timeout must be a whole number of seconds from 1 to ${TIMEOUT_MAX_S}.`)
    }
  }
  const args: Json = timeout === undefined || timeout === null ? {} : { timeout }
  const order = { target: target as PowerTarget, args, request: request.id }
  const [ident, access] = [nodeIdent(request), request.access()]
  await withPatience(() => context.store.write(() => startPower(ident, access, order, request.now)))
  return { status: 202, location: `/nodes/${request.param('ident')}/states` }
}

const REASON_MAX = 4096

putMaintenance.operation = {
  summary: 'Set a node to maintenance',
  body: [NEW_MAINTENANCE],
  bodyIsOptional: true,
  answers: { 202: null },
} satisfies Operation

export async function putMaintenance(request: MetalRequest): Promise<Answer> {
  const { reason, ...others } = request.hasBody ? request.object(NEW_MAINTENANCE) : {}
  const unknown = Object.keys(others)[0]
  if (unknown !== undefined) throw refuse(unknownMember(unknown, ['reason']))
  if (reason !== undefined && reason !== null && (typeof reason !== 'string' || reason.length > REASON_MAX)) {
    throw refuse(`reason must be a string of at most ${REASON_MAX} characters.`)
  }
  await request.context.store.write(() =>
    setMaintenance(nodeIdent(request), request.access(), reason ?? null, request.now),
  )
  return { status: 202 }
}

deleteMaintenance.operation = { summary: 'End the maintenance of a node', answers: { 202: null } } satisfies Operation

export async function deleteMaintenance(request: MetalRequest): Promise<Answer> {
  await request.context.store.write(() => setMaintenance(nodeIdent(request), request.access(), false, request.now))
  return { status: 202 }
}
