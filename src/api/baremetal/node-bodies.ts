// What clients send about a node, as the document shows it; it is read in metal/nodes/attributes.ts and node-states.ts.
import { type TSchema, Type } from 'typebox'
import { CREATABLE } from '../../metal/nodes/attributes.ts'
import { INTERFACES, POWER_TARGETS } from '../../metal/drivers/port.ts'
import { VERB_WORDS } from '../../metal/nodes/states.ts'
import type { Form } from '../operation.ts'
import { Document, from, oneOf, orNull, Text, Uuid } from '../shapes.ts'
import { FIELDS } from './node-fields.ts'
import { since } from './versions.ts'

const closed = { additionalProperties: false }
const text = (maxLength: number) => Type.String({ maxLength })
const Word = text(255)
const Sentence = text(4096)
/** Command lines send words. */
const Flag = Type.Union([
  Type.Boolean(),
  Type.String({
    pattern:
      '^\\s*([Tt]([Rr][Uu][Ee])?|[Ff]([Aa][Ll][Ss][Ee])?|[Yy]([Ee][Ss])?|[Nn][Oo]?|[Oo]([Nn]|[Ff][Ff])|[01])\\s*$',
  }),
])
const Whole = orNull(Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: '^\\d+$' })]))

const ATTRIBUTES: Record<string, TSchema> = {
  uuid: Uuid,
  automated_clean: Flag,
  chassis_uuid: Uuid,
  conductor_group: Type.String({ pattern: '^[A-Za-z0-9_.-]{0,255}$' }),
  description: Sentence,
  driver_info: Document,
  extra: Document,
  instance_info: Document,
  instance_uuid: Uuid,
  lessee: Word,
  maintenance: Flag,
  name: Type.String({ pattern: '^[A-Za-z0-9._~-]{1,255}$' }),
  network_data: Document,
  owner: Word,
  properties: Type.Object(
    { cpus: Type.Optional(Whole), local_gb: Type.Optional(Whole), memory_mb: Type.Optional(Whole) },
    { additionalProperties: true },
  ),
  resource_class: text(80),
  retired: Flag,
  retired_reason: Sentence,
  shard: Word,
  ...Object.fromEntries(INTERFACES.map(name => [`${name}_interface`, Word])),
}

const attribute = (name: string) => {
  const needs = FIELDS[name]?.needs
  const shape = orNull(ATTRIBUTES[name]!)
  return [name, Type.Optional(needs ? from(since(needs), shape) : shape)] as const
}

export const NEW_NODE: Form = {
  schema: Type.Object(
    {
      driver: Word,
      ...Object.fromEntries([...CREATABLE].filter(name => name !== 'driver').map(attribute)),
    },
    { title: 'NewNode', ...closed },
  ),
}

const Steps = Type.Array(
  Type.Object(
    { interface: Text, step: Text, args: Type.Optional(Document) },
    { title: 'Step', additionalProperties: true },
  ),
  { maxItems: 256 },
)
const optional = (schema: TSchema) => Type.Optional(orNull(schema))

export const NEW_PROVISION_STATE: Form = {
  schema: Type.Object(
    {
      target: oneOf(...VERB_WORDS),
      configdrive: optional(Type.Union([Text, Document])),
      deploy_steps: optional(from(since('deploySteps'), Steps)),
      clean_steps: optional(from(since('clean'), Steps)),
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
