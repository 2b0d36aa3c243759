// What clients look at in passing and is always the same here: no aggregates, groups, key pairs or quotas.
import type { Answer, ComputeRequest } from './request.ts'

const emptyList = (name: string) => (): Answer => ({ status: 200, body: { [name]: [] } })

export const listAggregates = emptyList('aggregates')
export const listServerGroups = emptyList('server_groups')
export const listKeypairs = emptyList('keypairs')
export const listExtensions = emptyList('extensions')

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

export const showQuotas = (request: ComputeRequest): Answer => ({
  status: 200,
  body: {
    quota_set: { id: request.param('project'), ...Object.fromEntries(QUOTAS.map(name => [name, UNLIMITED])) },
  },
})

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
