// What clients look at in passing and is always the same here: no aggregates, groups, key pairs or quotas.
import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { named, Text } from '../shapes.ts'
import type { Answer, ComputeRequest } from './request.ts'

const Nothing = Type.Array(Type.Unknown(), { maxItems: 0 })

function emptyList(id: string, name: string, what: string) {
  const operation: Operation = {
    id,
    summary: `List the ${what}: there are none`,
    answers: { 200: Type.Object({ [name]: Nothing }) },
  }
  return Object.assign((): Answer => ({ status: 200, body: { [name]: [] } }), { operation })
}

export const listAggregates = emptyList('listAggregates', 'aggregates', 'host aggregates')
export const listServerGroups = emptyList('listServerGroups', 'server_groups', 'server groups')
export const listKeypairs = emptyList('listKeypairs', 'keypairs', 'key pairs')
export const listExtensions = emptyList('listExtensions', 'extensions', 'extensions')

const UNLIMITED = -1

const QUOTAS = [
  'instances',
  'cores',
  'ram',
  'key_pairs',
  'metadata_items',
  'server_groups',
  'server_group_members',
  'injected_files',
  'injected_file_content_bytes',
  'injected_file_path_bytes',
  'fixed_ips',
  'floating_ips',
  'security_groups',
  'security_group_rules',
]

const allOf = (names: readonly string[]) => Object.fromEntries(names.map(name => [name, Type.Literal(UNLIMITED)]))

export const showQuotas = (request: ComputeRequest): Answer => ({
  status: 200,
  body: {
    quota_set: { id: request.param('project'), ...Object.fromEntries(QUOTAS.map(name => [name, UNLIMITED])) },
  },
})
showQuotas.operation = {
  summary: 'Show the quotas of a project: none',
  answers: { 200: Type.Object({ quota_set: named('QuotaSet', { id: Text, ...allOf(QUOTAS) }) }) },
} satisfies Operation

const LIMITS = [
  'maxTotalInstances',
  'maxTotalCores',
  'maxTotalRAMSize',
  'maxTotalKeypairs',
  'maxServerMeta',
  'maxImageMeta',
  'maxPersonality',
  'maxPersonalitySize',
  'maxServerGroups',
  'maxServerGroupMembers',
]

export const showLimits = (): Answer => ({
  status: 200,
  body: { limits: { rate: [], absolute: Object.fromEntries(LIMITS.map(name => [name, UNLIMITED])) } },
})
showLimits.operation = {
  summary: 'Show the limits of a project: none',
  answers: { 200: Type.Object({ limits: named('Limits', { rate: Nothing, absolute: Type.Object(allOf(LIMITS)) }) }) },
} satisfies Operation
