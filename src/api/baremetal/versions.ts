// Bare metal's microversions, 1.1 to 1.83: the version header becomes words, and handlers know only words.
// Versions that are missing here (1.10, 1.14 …) brought nothing that this API hides from older clients.
import { problem } from '../../problems/problem.ts'
import * as frame from '../frame/versions.ts'

const MIN_MINOR = 1
const MAX_MINOR = 83

/** The minor version that brought each thing. */
const SINCE = {
  availableState: 2, // `available` instead of null
  driverInternalInfo: 3, // the field
  manage: 4, // verbs manage and provide
  names: 5, // nodes have names, and can be found by them
  inspection: 6, // verb inspect, fields inspection_*
  cleanStep: 7, // the field
  fields: 8, // ?fields=
  provisionStateFilter: 9, // ?provision_state=
  enroll: 11, // new nodes are enrolled, not available
  raidConfig: 12, // fields raid_config and target_raid_config
  abort: 13, // verb abort
  clean: 15, // verb clean
  driverFilter: 16, // ?driver=
  adopt: 17, // verb adopt
  portInternalInfo: 18, // internal_info of ports
  portNetwork: 19, // pxe_enabled and local_link_connection of ports
  networkInterface: 20, // the field
  resourceClass: 21, // field and filter
  agent: 22, // /v1/lookup and /v1/heartbeat
  portgroups: 23, // the resource
  nodePortgroups: 24, // below a node, and its link
  softPower: 27, // soft power off, soft rebooting, timeout
  vifs: 28, // /vifs
  injectNmi: 29, // /management/inject_nmi
  driverDetails: 30, // ?detail= and the interfaces of a driver
  interfaces: 31, // the other *_interface fields
  volume: 32, // /v1/volume
  storageInterface: 33, // the field
  physicalNetwork: 34, // of ports
  rebuildConfigdrive: 35, // configdrive with rebuild
  agentVersion: 36, // agent_version of a heartbeat
  traits: 37, // /traits, the field, and our filters on it
  rescue: 38, // verbs rescue and unrescue, rescue_interface
  bios: 40, // /bios and bios_interface
  fault: 42, // field and filter
  detailParameter: 43, // ?detail=
  deployStep: 44, // the field
  resetInterfaces: 45, // ?reset_interfaces= with another driver
  conductorGroup: 46, // field and filter
  automatedClean: 47, // the field
  protected: 48, // fields protected and protected_reason
  conductors: 49, // /v1/conductors, field and filter
  owner: 50, // field and filter
  description: 51, // field and filter
  allocations: 52, // /v1/allocations, the field allocation_uuid
  smartnic: 53, // is_smartnic of ports
  events: 54, // /v1/events
  deployTemplates: 55, // /v1/deploy_templates
  jsonConfigdrive: 56, // a configdrive may be an object
  allocationPatch: 57, // PATCH of an allocation
  allocationBackfill: 58, // an allocation for a node that is deployed
  allocationOwner: 60, // field and filter
  retired: 61, // fields and filter
  agentToken: 62, // agent_token of a heartbeat
  indicators: 63, // /management/indicators
  lessee: 65, // field and filter, ?project=
  networkData: 66, // the field
  agentVerifyCa: 68, // agent_verify_ca of a heartbeat
  deploySteps: 69, // deploy_steps with active and rebuild
  disableRamdisk: 70, // disable_ramdisk with clean
  agentStatus: 72, // agent_status of a heartbeat
  deployVerbs: 73, // verbs deploy and undeploy
  biosDetails: 74, // ?detail= and ?fields= of BIOS settings, and what is known of each
  bootMode: 75, // fields boot_mode and secure_boot
  bootModeChange: 76, // /states/boot_mode and /states/secure_boot
  driverFields: 77, // ?fields= of drivers
  history: 78, // /history
  inventory: 81, // /inventory
  shards: 82, // /v1/shards, field and filters
  childNodes: 83, // field parent_node and filters, /children
  portNames: 83, // ours: name of a port, which upstream has from 1.88 on
  traitsInAnswer: 83, // ours: PUT of all traits answers with them
  reservations: 83, // ours: /v1/reservations, reservation_uuid with deploy, field and filter
  associationInRows: 83, // ours: allocation_uuid and reservation_uuid in short rows
  allocationTimes: 83, // ours: expires_at and wait_until of an allocation
  allocationKeeper: 83, // ours: keeper, planned_end and ending of an allocation
  allocationNote: 83, // ours: note of an allocation
  allocationNames: 83, // ours: user and project of an allocation, and the names of both and of its node
} as const

export type Word = keyof typeof SINCE
export { requireWord } from '../frame/versions.ts'
export type Version = frame.Version<Word>

export const VERSION_HEADER = 'x-openstack-ironic-api-version'
/** The supported range: in every answer, and in the refusal of an unknown version. */
export const RANGE = {
  'x-openstack-ironic-api-minimum-version': `1.${MIN_MINOR}`,
  'x-openstack-ironic-api-maximum-version': `1.${MAX_MINOR}`,
}
const VERSIONS = frame.versionsOf(SINCE, MAX_MINOR, text => ({ ...RANGE, [VERSION_HEADER]: text }))

export const OLDEST: Version = VERSIONS[MIN_MINOR]!
export const NEWEST: Version = VERSIONS[MAX_MINOR]!
export const since = (word: Word) => `1.${SINCE[word]}`

/** The version that a request asks for; without the header the oldest. */
export function negotiate(header: string | string[] | undefined): Version {
  const given = String(header ?? '').trim()
  if (given === '') return OLDEST
  if (given.toLowerCase() === 'latest') return NEWEST
  const [, major, minor] = /^(\d{1,9})\.(\d{1,9})$/.exec(given) ?? []
  if (major === undefined) throw problem('version_malformed', { given: given.slice(0, 100) })
  const version = major === '1' && Number(minor) >= MIN_MINOR ? VERSIONS[Number(minor)] : undefined
  if (!version) throw problem('version_unsupported', { given, oldest: OLDEST.text, newest: NEWEST.text })
  return version
}
