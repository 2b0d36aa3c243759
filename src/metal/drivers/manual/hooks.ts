// Hooks: what the operator has done to a machine when it changes hands. They stand in the configuration alone, because
// whoever may set a node's driver_info must not run programs on the conductor. A node only names its set.
import type { Static } from 'typebox'
import { limits } from '../../../shared/limits.ts'
import type { Machine } from '../port.ts'
import { Type } from '../../../shared/type.ts'

const seconds = Type.Optional(Type.Integer({ minimum: 1, maximum: limits.hookSecondsMax }))
const Program = Type.Object(
  { command: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: limits.hookWordsMax }), seconds },
  { additionalProperties: false },
)
const Call = Type.Object(
  {
    url: Type.String({ pattern: '^https?://[^@\\s]+$' }),
    secret: Type.String({ pattern: '^whsec_[A-Za-z0-9+/]{32,}={0,2}$' }),
    seconds,
  },
  { additionalProperties: false },
)
const Hook = Type.Union([Program, Call])
const HookSet = Type.Object(
  {
    hand_over: Type.Optional(Hook),
    return: Type.Optional(Hook),
    clean: Type.Optional(Hook),
    power: Type.Optional(Hook),
  },
  { additionalProperties: false },
)
export const HookSets = Type.Record(Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }), HookSet, {
  additionalProperties: false,
  maxProperties: limits.hookSetsMax,
})

export type Program = Static<typeof Program>
export type Call = Static<typeof Call>
export type Hook = Static<typeof Hook>
export type HookSet = Static<typeof HookSet>
export type HookSets = Static<typeof HookSets>
export type HookName = keyof HookSet

/** The set of nodes that name none. */
const DEFAULT = 'default'

export const deadlineMs = ({ seconds = limits.hookSecondsDefault }: Hook): number => seconds * 1_000

/** The node's set, or what is wrong with its name. Without a set called `default`, others have no hooks. */
export function hooksFor({ driverInfo }: Pick<Machine, 'driverInfo'>, sets: HookSets): HookSet | string {
  const named = driverInfo['hooks']
  if (named === undefined || named === null) return Object.hasOwn(sets, DEFAULT) ? sets[DEFAULT]! : {}
  if (typeof named !== 'string') return 'driver_info/hooks: expected the name of a set of hooks'
  if (Object.hasOwn(sets, named)) return sets[named]!
  return `driver_info/hooks: the configuration has no set of hooks called '${named}'`
}
