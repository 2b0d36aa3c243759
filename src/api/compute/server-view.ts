// Writes a server as clients see it.
import { createHash } from 'node:crypto'
import type { TSchema } from 'typebox'
import { vmState } from '../../compute/moves.ts'
import type { Server } from '../../compute/servers.ts'
import { byName, Count, from, Links, named, oneOf, orNull, Text, TextOrNull } from '../shapes.ts'
import { shownIn, TEXTS, WORDS, StoredJson } from '../../shared/json.ts'
import { bookmark, linksTo, ShownRecordTime, shownRecordTime, ShownTime, shownTime } from './links.ts'
import type { ComputeRequest } from './request.ts'
import { ZONE } from './services.ts'
import { since, type Word } from './versions.ts'
import { Type } from '../../shared/type.ts'

export const summary = (request: ComputeRequest, { uuid, name }: Server) => ({
  id: uuid,
  name,
  links: linksTo(request, `servers/${uuid}`),
})

const TASKS: Record<NonNullable<Server['task']>, string> = {
  spawning: 'spawning',
  migrating: 'migrating',
  deleting: 'deleting',
  'tearing down': 'deleting',
}

const RUNNING = 1
const SHUT_DOWN = 4
const NO_STATE = 0

export function detail(request: ComputeRequest, server: Server): object {
  const { status, task } = server
  const { has } = request
  const power =
    status === 'ACTIVE' || status === 'VERIFY_RESIZE' ? RUNNING : status === 'SHUTOFF' ? SHUT_DOWN : NO_STATE
  return {
    ...summary(request, server),
    status: task === 'migrating' ? 'MIGRATING' : status,
    tenant_id: server.project_id,
    user_id: server.user_id,
    metadata: new StoredJson(server.metadata, WORDS),
    hostId: hostId(server),
    image:
      server.image_id === null ? '' : { id: server.image_id, links: bookmark(request, `images/${server.image_id}`) },
    flavor: {
      id: server.flavor_id,
      links: bookmark(request, `flavors/${encodeURIComponent(server.flavor_id)}`),
    },
    created: shownTime(server.created_at),
    updated: shownTime(server.updated_at),
    addresses: server.network === null ? {} : { [server.network]: [] },
    accessIPv4: '',
    accessIPv6: '',
    key_name: server.key_name,
    config_drive: '',
    ...(status === 'ACTIVE' && { progress: 0 }),
    security_groups: [{ name: 'default' }],
    'OS-DCF:diskConfig': 'MANUAL',
    'OS-EXT-AZ:availability_zone': server.host === null ? '' : ZONE,
    'OS-EXT-STS:task_state': task === null ? null : TASKS[task],
    'OS-EXT-STS:vm_state': vmState(status),
    'OS-EXT-STS:power_state': power,
    'OS-SRV-USG:launched_at': shownRecordTime(server.launched_at),
    'OS-SRV-USG:terminated_at': null,
    'os-extended-volumes:volumes_attached': [],
    ...(status === 'ERROR' && {
      fault: { code: 500, created: shownTime(server.fault_at!), message: server.fault },
    }),
    ...(has.locked && { locked: false }),
    ...(has.descriptions && { description: server.description }),
    ...(has.tags && { tags: shownIn(server.tags, TEXTS) }),
    ...(request.may('os_compute_api:os-extended-server-attributes') && ofItsHost(request, server)),
  }
}

/** What not every caller may know. */
const ofItsHost = ({ has }: ComputeRequest, server: Server) => ({
  'OS-EXT-SRV-ATTR:host': server.host,
  'OS-EXT-SRV-ATTR:hypervisor_hostname': server.host,
  'OS-EXT-SRV-ATTR:instance_name': `instance-${server.id.toString(16).padStart(8, '0')}`,
  ...(has.moreAttributes && {
    'OS-EXT-SRV-ATTR:reservation_id': server.reservation_id,
    'OS-EXT-SRV-ATTR:launch_index': server.launch_index,
    'OS-EXT-SRV-ATTR:hostname': hostname(server),
    // Nothing boots, so there is neither a kernel nor a disk, and user data isn't kept.
    'OS-EXT-SRV-ATTR:kernel_id': '',
    'OS-EXT-SRV-ATTR:ramdisk_id': '',
    'OS-EXT-SRV-ATTR:root_device_name': null,
    'OS-EXT-SRV-ATTR:user_data': null,
  }),
  ...(has.hostStatus && { host_status: hostStatus(server) }),
})

/** The name in the form that a host can have. */
const hostname = ({ name, uuid }: Server): string =>
  name
    .toLowerCase()
    .replaceAll(/[ _]/g, '-')
    .replaceAll(/[^a-z0-9.-]/g, '')
    .replaceAll(/^[.-]+|[.-]+$/g, '') || `server-${uuid}`

function hostStatus({ host, host_state, host_status }: Server): string {
  if (host === null) return ''
  if (host_state === 'down') return 'DOWN'
  return host_status === 'disabled' ? 'MAINTENANCE' : 'UP'
}

/** Not for every caller, and only from a version on. */
const later = <S extends TSchema>(word: Word, shape: S) => Type.Optional(from(since(word), shape))

const Summary = { id: Text, name: Text, links: Links }
export const ServerSummary = named('ServerSummary', Summary)
export const ServerShape = named('Server', {
  ...Summary,
  status: Text,
  tenant_id: Text,
  user_id: Text,
  metadata: byName(Text),
  hostId: Text,
  image: Type.Union([Type.Literal(''), Type.Object({ id: Text, links: Links })]),
  flavor: Type.Object({ id: Text, links: Links }),
  created: ShownTime,
  updated: ShownTime,
  addresses: byName(Type.Array(Type.Unknown(), { maxItems: 0 })),
  accessIPv4: Text,
  accessIPv6: Text,
  key_name: TextOrNull,
  config_drive: Text,
  progress: Type.Optional(Count),
  security_groups: Type.Array(Type.Object({ name: Text })),
  'OS-DCF:diskConfig': Text,
  'OS-EXT-AZ:availability_zone': Text,
  'OS-EXT-STS:task_state': TextOrNull,
  'OS-EXT-STS:vm_state': Text,
  'OS-EXT-STS:power_state': Count,
  'OS-SRV-USG:launched_at': orNull(ShownRecordTime),
  'OS-SRV-USG:terminated_at': Type.Null(),
  'os-extended-volumes:volumes_attached': Type.Array(Type.Unknown(), { maxItems: 0 }),
  locked: from(since('locked'), Type.Literal(false)),
  description: from(since('descriptions'), TextOrNull),
  tags: from(since('tags'), Type.Array(Text)),
  fault: Type.Optional(Type.Object({ code: Count, created: ShownTime, message: Text })),
  // Not every caller may know where it runs.
  'OS-EXT-SRV-ATTR:host': Type.Optional(TextOrNull),
  'OS-EXT-SRV-ATTR:hypervisor_hostname': Type.Optional(TextOrNull),
  'OS-EXT-SRV-ATTR:instance_name': Type.Optional(Text),
  'OS-EXT-SRV-ATTR:reservation_id': later('moreAttributes', Text),
  'OS-EXT-SRV-ATTR:launch_index': later('moreAttributes', Count),
  'OS-EXT-SRV-ATTR:hostname': later('moreAttributes', Text),
  'OS-EXT-SRV-ATTR:kernel_id': later('moreAttributes', Text),
  'OS-EXT-SRV-ATTR:ramdisk_id': later('moreAttributes', Text),
  'OS-EXT-SRV-ATTR:root_device_name': later('moreAttributes', Type.Null()),
  'OS-EXT-SRV-ATTR:user_data': later('moreAttributes', Type.Null()),
  host_status: later('hostStatus', oneOf('UP', 'DOWN', 'MAINTENANCE', '')),
})

/** A hash of the host: a project sees whether two of its servers share a host, but not which one. */
function hostId({ host, project_id }: Server): string {
  return host === null ? '' : createHash('sha224').update(project_id).update(host).digest('hex')
}
