// The body schemas of nodes, for the document. metal/nodes/attributes.ts and node-states.ts read the bodies.
import type { TSchema } from 'typebox'
import { CREATABLE } from '../../metal/nodes/attributes.ts'
import { POWER_TARGETS } from '../../metal/drivers/port.ts'
import { VERB_WORDS } from '../../metal/nodes/states.ts'
import { type FieldName, NODE_FIELDS, type NodeField, type Rule, SETTABLE, TEXT_MAX } from '../../shared/node-fields.ts'
import { PRIORITY_MAX, STEP_INTERFACES } from '../../metal/nodes/steps.ts'
import { limits } from '../../shared/limits.ts'
import type { Form } from '../operation.ts'
import { Document, FlagWord, from, oneOf, orNull, Text, Uuid } from '../shapes.ts'
import { since } from './versions.ts'
import { Type } from '../../shared/type.ts'

const closed = { additionalProperties: false }
const text = (maxLength: number) => Type.String({ maxLength })
const Sentence = text(4096)
const Whole = orNull(Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: '^\\d+$' })]))

const RULES: Record<Rule, TSchema> = {
  uuid: Uuid,
  name: Type.String({ pattern: '^[A-Za-z0-9._~-]{1,255}$' }),
  group: Type.String({ pattern: '^[A-Za-z0-9_.-]{0,255}$' }),
  sizes: Type.Object(
    { cpus: Type.Optional(Whole), local_gb: Type.Optional(Whole), memory_mb: Type.Optional(Whole) },
    { additionalProperties: true },
  ),
}

function shapeOf({ type, rule, max }: NodeField): TSchema {
  if (rule) return RULES[rule]
  if (type === 'flag' || type === 'flag?') return FlagWord
  return type === 'json' ? Document : text(max ?? TEXT_MAX)
}

const attribute = (name: FieldName) => {
  const { since: needs, ...field } = NODE_FIELDS[name]
  const shape = orNull(shapeOf(field))
  return [name, Type.Optional(needs ? from(since(needs), shape) : shape)] as const
}

export const NEW_NODE: Form = {
  schema: Type.Object(
    {
      driver: text(TEXT_MAX),
      ...Object.fromEntries(SETTABLE.filter(name => name !== 'driver' && CREATABLE.has(name)).map(attribute)),
    },
    { title: 'NewNode', ...closed },
  ),
}

const step = {
  interface: oneOf(...STEP_INTERFACES),
  step: Type.String({ minLength: 1, maxLength: 255 }),
  args: Type.Optional(Document),
}
const CleanSteps = Type.Array(Type.Object(step, { title: 'NewCleanStep', ...closed }), { maxItems: limits.stepsMax })
/** A step that is wanted in a deployment. */
export const NewDeployStep = Type.Object(
  {
    ...step,
    priority: Type.Union([Type.Integer({ minimum: 0, maximum: PRIORITY_MAX }), Type.String({ pattern: '^\\d{1,6}$' })]),
  },
  { title: 'NewDeployStep', ...closed },
)
const DeploySteps = Type.Array(NewDeployStep, { maxItems: limits.stepsMax })
const optional = (schema: TSchema) => Type.Optional(orNull(schema))

export const NEW_PROVISION_STATE: Form = {
  schema: Type.Object(
    {
      target: oneOf(...VERB_WORDS),
      configdrive: optional(Type.Union([Text, Document])),
      deploy_steps: optional(from(since('deploySteps'), DeploySteps)),
      clean_steps: optional(from(since('clean'), CleanSteps)),
      rescue_password: optional(from(since('rescue'), Type.String({ minLength: 1 }))),
      disable_ramdisk: optional(from(since('disableRamdisk'), Type.Boolean())),
      reservation_uuid: optional(from(since('reservations'), Uuid)),
      reservation_id: optional(from(since('reservations'), Uuid)),
    },
    { title: 'NewProvisionState', ...closed },
  ),
}

export const NEW_POWER_STATE: Form = {
  schema: Type.Object(
    {
      target: oneOf(...POWER_TARGETS),
      timeout: optional(from(since('softPower'), Type.Integer({ minimum: 1, maximum: 86_400 }))),
    },
    { title: 'NewPowerState', ...closed },
  ),
}

export const NEW_MAINTENANCE: Form = {
  schema: Type.Object({ reason: optional(Sentence) }, { title: 'NewMaintenance', ...closed }),
}
