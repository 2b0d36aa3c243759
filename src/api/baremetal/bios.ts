// /v1/nodes/X/bios
import type { TSchema } from 'typebox'
import { biosOf, biosSetting, type KeptSetting } from '../../metal/nodes/bios.ts'
import { problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { byName, Flag, FlagOrNull, from, named, orNull, Text, TextOrNull } from '../shapes.ts'
import { inPart, unknownField } from './collection.ts'
import { Links, linksTo, shownTime, Time } from './links.ts'
import { nodeIdent } from './nodes.ts'
import { type Answer, flagParameter, type MetalRequest, parametersOf } from './request.ts'
import { since } from './versions.ts'
import { Type } from '../../shared/type.ts'

const refuse = (reason: string) => problem('invalid_parameter', { reason })

const NumberOrNull = orNull(Type.Number())
/** What a driver may know of a setting, besides its value. */
const DETAILS = {
  attribute_type: TextOrNull,
  allowable_values: orNull(Type.Array(Text)),
  lower_bound: NumberOrNull,
  upper_bound: NumberOrNull,
  min_length: NumberOrNull,
  max_length: NumberOrNull,
  read_only: FlagOrNull,
  reset_required: FlagOrNull,
  unique: FlagOrNull,
} as const satisfies Record<Exclude<keyof KeptSetting, 'name' | 'value' | 'created_at' | 'updated_at'>, TSchema>
const DETAIL_NAMES = Object.keys(DETAILS) as (keyof typeof DETAILS)[]

const Setting = named('BiosSetting', {
  name: Text,
  value: TextOrNull,
  created_at: Time,
  updated_at: orNull(Time),
  links: Links,
  ...Object.fromEntries(Object.entries(DETAILS).map(([name, shape]) => [name, from(since('biosDetails'), shape)])),
})
const BASIC = ['created_at', 'updated_at', 'name', 'value', 'links']

const shown = (setting: KeptSetting, { base }: MetalRequest, node: string): Record<string, unknown> => ({
  name: setting.name,
  value: setting.value,
  created_at: shownTime(setting.created_at),
  updated_at: shownTime(setting.updated_at),
  links: linksTo(base, `nodes/${node}/bios/${encodeURIComponent(setting.name)}`),
  ...Object.fromEntries(DETAIL_NAMES.map(name => [name, setting[name] ?? null])),
})

const picked = (all: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(names.map(name => [name, all[name]]))

const PARAMETERS = parametersOf({ detail: from(since('biosDetails'), Flag), fields: from(since('biosDetails'), Text) })

listBios.operation = {
  summary: 'List the settings of a node’s firmware, as they were last read',
  query: [PARAMETERS],
  answers: { 200: Type.Object({ bios: Type.Array(inPart(Setting)) }) },
} satisfies Operation

export async function listBios(request: MetalRequest): Promise<Answer> {
  const given = request.parameters(PARAMETERS)
  const names = namesIn(given, request)
  const ident = nodeIdent(request)
  const settings = await request.context.store.read(() => biosOf(ident, request.access()))
  return { status: 200, body: { bios: settings.map(setting => picked(shown(setting, request, ident), names)) } }
}

/** The fields to show. */
function namesIn(given: ReadonlyMap<string, string>, request: MetalRequest): readonly string[] {
  const [detail, fields] = [given.get('detail'), given.get('fields')]
  if (detail !== undefined || fields !== undefined) request.require('biosDetails', 'detail and fields of BIOS settings')
  const isDetail = detail !== undefined && flagParameter('detail', detail)
  if (isDetail && fields !== undefined) throw refuse("Can't fetch a subset of fields with 'detail' set")
  if (isDetail) return [...BASIC, ...DETAIL_NAMES]
  if (fields === undefined) return BASIC
  const names = fields.split(',').map(name => name.trim())
  const unknown = names.find(name => !Object.hasOwn(Setting.properties, name))
  if (unknown !== undefined) throw refuse(unknownField(unknown, Object.keys(Setting.properties)))
  return [...new Set([...names, 'links'])]
}

showBiosSetting.operation = {
  summary: 'Show a setting of a node’s firmware, as it was last read',
  answers: { 200: byName(inPart(Setting)) },
} satisfies Operation

export async function showBiosSetting(request: MetalRequest): Promise<Answer> {
  const ident = nodeIdent(request)
  const setting = await request.context.store.read(() => biosSetting(ident, request.param('setting'), request.access()))
  const names = request.has.biosDetails ? [...BASIC, ...DETAIL_NAMES] : BASIC
  return { status: 200, body: { [setting.name]: picked(shown(setting, request, ident), names) } }
}
