// Every route of every API that has policy, and how it is called.
import { randomUUID } from 'node:crypto'
import type { Action } from '../../src/api/policy.ts'
import { routes as baremetal } from '../../src/api/baremetal/routes.ts'
import { routes as compute } from '../../src/api/compute/routes.ts'
import { routes as identity } from '../../src/api/identity/routes.ts'
import { routes as operator } from '../../src/api/operator/routes.ts'
import { routes as placement } from '../../src/api/placement/routes.ts'
import { routes as reservation } from '../../src/api/reservation/routes.ts'
import { CIRROS } from '../support/compute.ts'

/** What a path or a body names, and so whose it may be. */
export type Kind =
  | 'node'
  | 'port'
  | 'portgroup'
  | 'volume/connector'
  | 'volume/target'
  | 'allocation'
  | 'reservation'
  | 'server'
  | 'flavor'
  | 'lease'
  | 'calendar'
  | 'webhook'

/** What is there for all who ask for servers. */
export const FIXTURE = { host: 'matrix-host', flavor: 'matrix-flavor', key: 'a-key' }

export interface Call {
  api: 'placement' | 'baremetal' | 'compute' | 'reservation' | 'identity' | 'operator'
  method: string
  /** Below the server, with the name of its parameters. */
  path: string
  action: Action | null
  /** What it is about; null for what belongs to no project. */
  kind: Kind | null
  body?: (id: string) => unknown
}

let macs = 0
const mac = () => `52:54:00:bb:${[++macs >> 8, macs & 255].map(byte => byte.toString(16).padStart(2, '0')).join(':')}`
const patch = (path: string, value: unknown) => () => [{ op: 'add', path, value }]
const nothing = () => undefined
const texts = () => ({ [FIXTURE.key]: 'x' })
const server = (more: object = {}) => ({
  server: { name: 'matrix', flavorRef: FIXTURE.flavor, imageRef: CIRROS, networks: 'none', ...more },
})

/** In a time that no test lives to see. */
export const lease = (more: object = {}) => ({
  name: 'matrix',
  start_date: '2090-01-01 00:00',
  end_date: '2090-01-02 00:00',
  reservations: [{ resource_type: 'virtual:instance', vcpus: 1, memory_mb: 1, disk_gb: 1, amount: 1 }],
  ...more,
})

/** A body for each route that takes one; DELETE takes none, and GET as a rule. */
const BODIES: Record<string, (id: string) => unknown> = {
  'POST /baremetal/v1/nodes': () => ({ driver: 'fake-hardware' }),
  'PATCH /baremetal/v1/nodes/:ident': patch('/description', 'x'),
  'PUT /baremetal/v1/nodes/:ident/states/provision': () => ({ target: 'manage' }),
  'PUT /baremetal/v1/nodes/:ident/states/power': () => ({ target: 'power on' }),
  'PUT /baremetal/v1/nodes/:ident/states/raid': () => ({}),
  'PUT /baremetal/v1/nodes/:ident/states/console': () => ({ enabled: false }),
  'PUT /baremetal/v1/nodes/:ident/maintenance': () => ({}),
  'PUT /baremetal/v1/nodes/:ident/traits': () => ({ traits: ['CUSTOM_B'] }),
  'PUT /baremetal/v1/nodes/:ident/traits/:trait': nothing,
  'PUT /baremetal/v1/nodes/:ident/management/boot_device': () => ({ boot_device: 'pxe' }),
  'PUT /baremetal/v1/nodes/:ident/states/boot_mode': () => ({ target: 'uefi' }),
  'PUT /baremetal/v1/nodes/:ident/states/secure_boot': () => ({ target: true }),
  'PUT /baremetal/v1/nodes/:ident/management/inject_nmi': () => ({}),
  'PUT /baremetal/v1/nodes/:ident/management/indicators/:component/:name': () => ({ state: 'ON' }),
  'POST /baremetal/v1/nodes/:ident/vendor_passthru': () => ({}),
  'PUT /baremetal/v1/nodes/:ident/vendor_passthru': () => ({}),
  'PATCH /baremetal/v1/nodes/:ident/vendor_passthru': () => ({}),
  'POST /baremetal/v1/nodes/:ident/vendor_passthru/:method': () => ({}),
  'PUT /baremetal/v1/nodes/:ident/vendor_passthru/:method': () => ({}),
  'PATCH /baremetal/v1/nodes/:ident/vendor_passthru/:method': () => ({}),
  'POST /baremetal/v1/drivers/:name/vendor_passthru': () => ({}),
  'PUT /baremetal/v1/drivers/:name/vendor_passthru': () => ({}),
  'PATCH /baremetal/v1/drivers/:name/vendor_passthru': () => ({}),
  'POST /baremetal/v1/nodes/:ident/vifs': () => ({ id: 'a-vif' }),
  'POST /baremetal/v1/ports': id => ({ node_uuid: id, address: mac() }),
  'PATCH /baremetal/v1/ports/:uuid': patch('/extra/a', 1),
  'POST /baremetal/v1/portgroups': id => ({ node_uuid: id }),
  'PATCH /baremetal/v1/portgroups/:ident': patch('/extra/a', 1),
  'POST /baremetal/v1/volume/connectors': id => ({ node_uuid: id, type: 'iqn', connector_id: randomUUID() }),
  'PATCH /baremetal/v1/volume/connectors/:uuid': patch('/extra/a', 1),
  'POST /baremetal/v1/volume/targets': id => ({ node_uuid: id, volume_type: 'iscsi', volume_id: 'v', boot_index: 1 }),
  'PATCH /baremetal/v1/volume/targets/:uuid': patch('/extra/a', 1),
  'POST /baremetal/v1/deploy_templates': () => ({
    name: `CUSTOM_${randomUUID().replaceAll('-', '_').toUpperCase()}`,
    steps: [{ interface: 'bios', step: 'x', args: {}, priority: 1 }],
  }),
  'PATCH /baremetal/v1/deploy_templates/:ident': patch('/extra/a', 1),
  'POST /baremetal/v1/chassis': () => ({}),
  'PATCH /baremetal/v1/chassis/:uuid': patch('/description', 'x'),
  'POST /baremetal/v1/heartbeat/:ident': () => ({ callback_url: 'http://192.0.2.1:9999' }),
  'POST /baremetal/v1/events': () => ({ events: [] }),
  'POST /baremetal/v1/allocations': () => ({ resource_class: 'no-such-class' }),
  'PATCH /baremetal/v1/allocations/:ident': patch('/extra/a', 1),
  'POST /baremetal/v1/reservations': id => ({ instance_uuid: id, node_uuid: ['no-such-node'] }),
  'PUT /baremetal/v1/reservations/:uuid': () => ({}),
  'PATCH /baremetal/v1/reservations/:uuid': () => [],
  'POST /holdfast/v1/allocations/:ident/keep': () => ({ keeper: 'alice/0123456789abcdef', until: '1m' }),
  'POST /holdfast/v1/allocations/:ident/retry': nothing,
  'POST /holdfast/v1/explain/allocations': () => ({ resource_class: 'no-such-class' }),
  'POST /holdfast/v1/explain/allocations/:ident': patch('/extra/a', 1),
  'POST /holdfast/v1/explain/reservations': id => ({ instance_uuid: id, node_uuid: ['no-such-node'] }),
  'GET /holdfast/v1/explain/leases': () => lease(),
  'POST /holdfast/v1/explain/leases': () => lease(),
  'POST /holdfast/v1/hypervisor-state': () => ({ name: 'no-such-host', state: 'up' }),
  'PUT /holdfast/v1/leasable-nodes/:ident': nothing,
  'PUT /holdfast/v1/queue/projects/:project': () => ({ priority: 1 }),
  'PUT /holdfast/v1/quotas/:project': () => ({ limits: { nodes: 1_000 } }),
  'POST /holdfast/v1/events/tickets': nothing,
  'POST /holdfast/v1/calendars': () => ({ of: { project: 'project-of-mine' } }),
  // An address that is refused, so that nobody is called.
  'POST /holdfast/v1/webhooks': () => ({ url: 'https://169.254.169.254/' }),
  'PATCH /holdfast/v1/webhooks/:uuid': () => ({ name: 'renamed' }),
  'POST /holdfast/v1/webhooks/:uuid/secret': nothing,
  'POST /holdfast/v1/webhooks/:uuid/test': nothing,
  'POST /holdfast/v1/webhooks/:uuid/resume': nothing,
  'POST /holdfast/v1/clock': () => ({ advance: 0 }),
  'POST /compute/v2.1/servers': () => server(),
  'PUT /compute/v2.1/servers/:id': () => ({ server: { name: 'renamed' } }),
  'POST /compute/v2.1/servers/:id/action': () => ({ 'os-stop': null }),
  'POST /compute/v2.1/servers/:id/metadata': () => ({ metadata: texts() }),
  'PUT /compute/v2.1/servers/:id/metadata': () => ({ metadata: texts() }),
  'PUT /compute/v2.1/servers/:id/metadata/:key': () => ({ meta: texts() }),
  'POST /compute/v2.1/flavors': id => ({ flavor: { name: id, vcpus: 1, ram: 1, disk: 1 } }),
  'POST /compute/v2.1/flavors/:id/os-extra_specs': () => ({ extra_specs: texts() }),
  'PUT /compute/v2.1/flavors/:id/os-extra_specs/:key': texts,
  'POST /compute/v2.1/flavors/:id/action': () => ({ addTenantAccess: { tenant: 'a-tenant' } }),
  'PUT /compute/v2.1/servers/:id/tags': () => ({ tags: ['a'] }),
  'PUT /compute/v2.1/servers/:id/tags/:tag': nothing,
  'PUT /compute/v2.1/os-hosts/:host': () => ({ status: 'enable' }),
  'PUT /compute/v2.1/os-quota-sets/:project': () => ({ quota_set: { cores: 1_000 } }),
  'PUT /compute/v2.1/os-quota-class-sets/:class': () => ({ quota_class_set: { cores: 1_000 } }),
  'PUT /compute/v2.1/os-services/:action': () => ({ host: 'no-such-host', binary: 'nova-compute' }),
  'POST /reservation/v1/leases': () => lease(),
  'PUT /reservation/v1/leases/:id': () => ({ name: 'renamed' }),
  'POST /reservation/v1/os-hosts': id => ({ name: id }),
  'PUT /reservation/v1/os-hosts/:id': () => ({ colour: 'red' }),
  'PATCH /reservation/v1/os-hosts/properties/:name': () => ({ private: true }),
  'POST /identity/v3/auth/tokens': () => ({ auth: {} }),
  'POST /identity/v3/users/:user/application_credentials': id => ({ application_credential: { name: id } }),
  'POST /identity/v3/users': id => ({ user: { name: id, password: 'secret' } }),
  'PATCH /identity/v3/users/:user': () => ({ user: {} }),
  'POST /identity/v3/users/:user/password': () => ({ user: { original_password: 'wrong', password: 'secret' } }),
  'POST /identity/v3/projects': id => ({ project: { name: id } }),
  'PATCH /identity/v3/projects/:id': () => ({ project: { description: 'x' } }),
  'PUT /identity/v3/projects/:id/users/:user/roles/:role': nothing,
  'POST /placement/resource_classes': () => ({ name: 'CUSTOM_MATRIX' }),
  'PUT /placement/resource_classes/:name': nothing,
  'POST /placement/resource_providers': id => ({ name: id }),
  'PUT /placement/resource_providers/:uuid': id => ({ name: id }),
  'POST /placement/resource_providers/:uuid/inventories': () => ({ resource_class: 'VCPU', total: 1 }),
  'PUT /placement/resource_providers/:uuid/inventories': () => ({ resource_provider_generation: 0, inventories: {} }),
  'PUT /placement/resource_providers/:uuid/inventories/:resource_class': () => ({
    resource_provider_generation: 0,
    total: 1,
  }),
  'PUT /placement/resource_providers/:uuid/aggregates': () => ({ resource_provider_generation: 0, aggregates: [] }),
  'PUT /placement/resource_providers/:uuid/traits': () => ({ resource_provider_generation: 0, traits: [] }),
  'POST /placement/allocations': () => ({}),
  'PUT /placement/allocations/:consumer_uuid': () => ({}),
  'PUT /placement/traits/:name': nothing,
  'POST /placement/reshaper': () => ({}),
}

/** What a path is about, by how it begins. */
const KINDS: [string, Kind][] = [
  ['/baremetal/v1/nodes/', 'node'],
  ['/baremetal/v1/ports', 'port'],
  ['/baremetal/v1/portgroups', 'portgroup'],
  ['/baremetal/v1/volume/connectors', 'volume/connector'],
  ['/baremetal/v1/volume/targets', 'volume/target'],
  ['/baremetal/v1/allocations', 'allocation'],
  ['/baremetal/v1/reservations', 'reservation'],
  ['/compute/v2.1/servers/:id', 'server'],
  ['/compute/v2.1/flavors/:id', 'flavor'],
  ['/reservation/v1/leases/:id', 'lease'],
  ['/holdfast/v1/nodes/', 'node'],
  ['/holdfast/v1/allocations/', 'allocation'],
  ['/holdfast/v1/explain/allocations/', 'allocation'],
  ['/holdfast/v1/explain/deletions/nodes/', 'node'],
  ['/holdfast/v1/explain/deletions/allocations/', 'allocation'],
  ['/holdfast/v1/explain/deletions/leases/', 'lease'],
  ['/holdfast/v1/calendars/', 'calendar'],
  ['/holdfast/v1/webhooks/', 'webhook'],
]
/** What is about a node that the body, or the query, names. */
const ABOUT_A_NODE = new Set([
  'POST /baremetal/v1/ports',
  'POST /baremetal/v1/portgroups',
  'POST /baremetal/v1/volume/connectors',
  'POST /baremetal/v1/volume/targets',
])
/** The route's action is asked about the allocation, which is found through the node. */
const THROUGH_A_NODE = '/baremetal/v1/nodes/:ident/allocation'

function kindOf(method: string, path: string): Kind | null {
  if (ABOUT_A_NODE.has(`${method} ${path}`)) return 'node'
  return KINDS.find(([beginning]) => path.startsWith(beginning))?.[1] ?? null
}

type Table = Record<string, Partial<Record<string, { action: Action | null; onFound?: boolean }>>>

const callsOf = (api: Call['api'], prefix: string, table: Table): Call[] =>
  Object.entries(table).flatMap(([below, methods]) =>
    Object.entries(methods).map(([method, route]): Call => {
      const path = `${prefix}${below}`
      const body = BODIES[`${method} ${path}`]
      // These look up what the path names among the caller's own, whatever the action.
      const isOwn =
        api === 'compute' || api === 'reservation' || /\/(deletions\/leases|v1\/calendars|v1\/webhooks)\//.test(path)
      const isFound = isOwn || (route!.onFound === true && `${method} ${path}` !== 'POST /baremetal/v1/nodes')
      const kind = isFound && path !== THROUGH_A_NODE ? kindOf(method, path) : null
      return { api, method, path, action: route!.action, kind, ...(body && { body }) }
    }),
  )

export const CALLS: readonly Call[] = [
  ...callsOf('placement', '/placement', placement as Table),
  ...callsOf('baremetal', '/baremetal/v1', baremetal as Table),
  ...callsOf('compute', '/compute/v2.1', compute as Table),
  ...callsOf('reservation', '/reservation/v1', reservation as Table),
  ...callsOf('operator', '/holdfast/v1', operator as Table),
].filter(({ path }) => path !== THROUGH_A_NODE)

/** Identity has routes only where Holdfast hands out tokens. */
export const IDENTITY_CALLS: readonly Call[] = callsOf('identity', '/identity/v3', identity)

const onNode = (method: string, below: string, action: Action, body: (id: string) => unknown): Call => ({
  api: 'baremetal',
  method,
  path: `/baremetal/v1/nodes/:ident${below}`,
  action,
  kind: 'node',
  body,
})

const onServer = (action: Action, body: object): Call => ({
  api: 'compute',
  method: 'POST',
  path: '/compute/v2.1/servers/:id/action',
  action,
  kind: 'server',
  body: () => body,
})

/** What the body, or the query, says decides on the action. */
export const MORE_CALLS: readonly Call[] = [
  {
    api: 'operator',
    method: 'POST',
    path: '/holdfast/v1/calendars',
    action: 'holdfast:calendars:create',
    kind: 'node',
    body: id => ({ of: { node: id } }),
  },
  ...(
    [
      ['/instance_info/a', 'baremetal:node:update_instance_info', 'x'],
      ['/extra/a', 'baremetal:node:update_extra', 'x'],
      ['/instance_uuid', 'baremetal:node:update:instance_uuid', null],
      ['/owner', 'baremetal:node:update:owner', 'a-new-owner'],
      ['/lessee', 'baremetal:node:update:lessee', 'a-new-lessee'],
      ['/chassis_uuid', 'baremetal:node:update:chassis_uuid', null],
      ['/conductor_group', 'baremetal:node:update:conductor_group', ''],
      ['/shard', 'baremetal:node:update:shard', 'x'],
      ['/driver', 'baremetal:node:update:driver_interfaces', 'fake-hardware'],
      ['/power_interface', 'baremetal:node:update:driver_interfaces', null],
      ['/driver_info/a', 'baremetal:node:update:driver_info', 'x'],
      ['/properties/a', 'baremetal:node:update', 'x'],
      ['/resource_class', 'baremetal:node:update', 'x'],
    ] as const
  ).map(([path, action, value]) => onNode('PATCH', '', action, patch(path, value))),
  ...(
    [
      ['active', 'baremetal:node:deploy'],
      ['rebuild', 'baremetal:node:deploy'],
      ['deleted', 'baremetal:node:deploy'],
      ['unrescue', 'baremetal:node:deploy'],
      ['provide', 'baremetal:node:set_provision_state'],
      ['inspect', 'baremetal:node:set_provision_state'],
      ['adopt', 'baremetal:node:set_provision_state'],
      ['abort', 'baremetal:node:set_provision_state'],
      ['no-such-verb', 'baremetal:node:set_provision_state'],
    ] as const
  ).map(([target, action]) => onNode('PUT', '/states/provision', action, () => ({ target }))),
  ...[
    { 'os-start': null },
    { reboot: { type: 'SOFT' } },
    { resize: { flavorRef: FIXTURE.flavor } },
    { confirmResize: null },
    { revertResize: null },
    { forceDelete: null },
  ].map(body => onServer('os_compute_api:servers:action', body)),
  onServer('os_compute_api:os-migrate-server:migrate', { migrate: null }),
  onServer('os_compute_api:os-migrate-server:migrate_live', { 'os-migrateLive': { host: null } }),
  onServer('os_compute_api:os-evacuate', { evacuate: {} }),
  {
    api: 'compute',
    method: 'POST',
    path: '/compute/v2.1/servers',
    action: 'os_compute_api:servers:create:forced_host',
    kind: null,
    body: () => server({ availability_zone: `nova:${FIXTURE.host}` }),
  },
  ...(['add', 'remove'] as const).map((verb): Call => ({
    api: 'compute',
    method: 'POST',
    path: '/compute/v2.1/flavors/:id/action',
    action: `os_compute_api:os-flavor-access:${verb}_tenant_access`,
    kind: 'flavor',
    body: () => ({ [`${verb}TenantAccess`]: { tenant: 'a-tenant' } }),
  })),
  ...['/compute/v2.1/servers?all_tenants=1', '/compute/v2.1/servers/detail?all_tenants=yes&project_id=nobody'].map(
    (path): Call => ({ api: 'compute', method: 'GET', path, action: 'os_compute_api:servers:list_all', kind: null }),
  ),
]
