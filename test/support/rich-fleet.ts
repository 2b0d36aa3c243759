// A database with something of everything: for tests that damage it. Its server is stopped: it would mend some of it.
import { createHash, randomUUID } from 'node:crypto'
import { openStore } from '../../src/store/open.ts'
import { Baremetal, NEWEST } from './baremetal.ts'
import { as } from './callers.ts'
import { Compute } from './compute.ts'
import { expectStatus } from './placement.ts'
import { instances, Reservation, wholeHosts } from './reservation.ts'
import { startServer } from './server.ts'

const ME = as('admin', 'p1')
const KEEPER = 'alice@laptop/0123456789abcdef'

/** Fills a migrated database. */
export async function fillRichly(database: string): Promise<void> {
  const server = await startServer(database, { testClock: true, webhookAllow: '127.0.0.1' })
  const [leases, metal, compute] = [
    new Reservation(server.origin),
    new Baremetal(server.origin),
    new Compute(server.origin),
  ]
  try {
    await addNodes(metal, leases)
    await addServers(compute)
    await addLeases(leases)
    await addRest(leases)
    await leases.fsck()
  } finally {
    for (const client of [leases, metal, compute]) client.close()
    await server.stop()
  }
  await addRows(database)
}

async function addNodes(metal: Baremetal, api: Reservation): Promise<void> {
  const post = async (path: string, body: object) =>
    expectStatus(await metal.post(path, body, { ...NEWEST, ...ME }), 201).body
  const chassis = await post('/v1/chassis', { description: 'rack one', extra: { row: 1 } })
  const given = { resource_class: 'metal', chassis_uuid: chassis.uuid, extra: { rack: 'r1' }, driver_info: { a: 1 } }
  const names = ['held', 'had', 'kept', 'leased', 'promised', 'free', 'spare']
  const node: Record<string, string> = {}
  for (const name of names) node[name] = await metal.node({ ...given, name }, 'available')
  for (const name of ['leased', 'promised'])
    expectStatus(await api.operate('PUT', `/leasable-nodes/${node[name]}`), 200)
  await post('/v1/nodes', { driver: 'fake-hardware', ...given, name: 'child', parent_node: node['free'] })
  expectStatus(await metal.put(`/v1/nodes/${node['had']}/traits`, { traits: ['CUSTOM_FAST'] }), 204)
  await post('/v1/reservations', { instance_uuid: randomUUID(), node_uuid: [node['held']] })
  const ask = async (name: string, more: object = {}) =>
    post('/v1/allocations', { name, resource_class: 'metal', candidate_nodes: [node[name]], ...more })
  for (const [name, more] of [
    ['had', { traits: ['CUSTOM_FAST'], extra: { for: 'me' } }],
    ['kept', { keeper: KEEPER, expires_at: '10h' }],
    ['spare', { expires_at: '10h' }],
  ] as const) {
    await ask(name, more)
    await metal.settled(name)
  }
  await post('/v1/allocations', {
    name: 'waits',
    resource_class: 'metal',
    candidate_nodes: [node['had']],
    wait_until: '20h',
  })
  await post('/v1/allocations', { name: 'refused', resource_class: 'none' })
  await metal.settled('refused')
  expectStatus(await metal.del('/v1/allocations/spare', NEWEST), 204)
  await metal.until(node['spare']!, 'available')
  const of = { node_uuid: node['free'] }
  const group = await post('/v1/portgroups', { ...of, name: 'bond', address: '52:54:00:00:00:01' })
  await post('/v1/ports', { ...of, portgroup_uuid: group.uuid, address: '52:54:00:00:00:02', extra: { vlan: 1 } })
  await metal.put(`/v1/nodes/${node['free']}/states/power`, { target: 'power off' })
  await metal.until(node['free']!, 'available')
  await post('/v1/volume/connectors', { ...of, type: 'iqn', connector_id: 'iqn.2026-01.org.example:1' })
  const properties = { target_portal: '10.0.0.1:3260' }
  await post('/v1/volume/targets', { ...of, volume_type: 'iscsi', volume_id: 'v', boot_index: '0', properties })
  const steps = [{ interface: 'bios', step: 'factory_reset', args: {}, priority: 10 }]
  await post('/v1/deploy_templates', { name: 'CUSTOM_TEMPLATE', steps })
}

async function addServers(api: Compute): Promise<void> {
  const [one, two] = [await api.hypervisor({}, 'hyp-1'), await api.hypervisor({}, 'hyp-2')]
  for (const name of [one, two]) expectStatus(await api.setState(name, 'up'), 200)
  const flavor = await api.flavor({ vcpus: 2 }, { 'hw:watchdog_action': 'reset' })
  const hidden = await api.flavor({ 'os-flavor-access:is_public': false })
  expectStatus(await api.post(`/flavors/${hidden}/action`, { addTenantAccess: { tenant: 'p1' } }), 200)
  await api.server(flavor, { availability_zone: `nova:${one}`, metadata: { role: 'web' } }, ME)
  const { id } = await api.server(flavor, { availability_zone: `nova:${two}` }, ME)
  expectStatus(await api.action(id, 'migrate'), 202)
  await api.untilStatus(id, 'VERIFY_RESIZE')
}

async function addLeases(api: Reservation): Promise<void> {
  const hosts = await api.pool(3, { extras: { CUSTOM_GPU: 4 } })
  const flavor = { name: 'gpu', vcpus: 1, ram: 512, disk: 1 }
  const { id } = expectStatus(await api.compute.post('/flavors', { flavor }, { version: null }), 200).body.flavor
  const extra_specs = { 'resources:CUSTOM_GPU': '1' }
  expectStatus(await api.compute.post(`/flavors/${id}/os-extra_specs`, { extra_specs }, { version: null }), 200)
  const metal = { resource_type: 'physical:node', resource_class: 'metal', min: 1, max: 1 }
  const byFlavor = { resource_type: 'flavor:instance', flavor_id: id, amount: 2, affinity: null }
  const some = instances({ vcpus: 2, amount: 2, resource_properties: hosts.only })
  const ended = await api.lease([some], { from: 1, to: 10, name: 'ended' }, ME)
  const running = await api.lease([some, metal], { from: 1, to: 600, name: 'running' }, ME)
  await api.lease(
    [byFlavor, wholeHosts({ resource_properties: hosts.only })],
    { from: 700, to: 800, name: 'later' },
    ME,
  )
  await api.lease([metal], { from: 700, to: 800, name: 'promised' }, ME)
  await api.advance(2)
  await api.until(running.id, 'ACTIVE')
  expectStatus(await api.del(`/leases/${ended.id}`, ME), 204)
}

async function addRest(api: Reservation): Promise<void> {
  const operate = async (method: string, path: string, body: object) =>
    expectStatus(await api.operate(method, path, body, ME), 200, 201)
  await operate('POST', '/webhooks', { url: 'http://127.0.0.1:1024/', types: ['lease'] })
  await operate('POST', '/webhooks', { url: 'http://127.0.0.1:1024/', types: ['lease', 'allocation'] })
  await operate('POST', '/calendars', { of: { project: 'p1' } })
  await operate('PUT', '/quotas/p1', { limits: { nodes: 100, 'nodes:metal': 90, longest_lease_hours: 1_000 } })
  await operate('PUT', '/queue/projects/p1', { priority: 1 })
  await api.lease([instances()], { from: 900, to: 960, name: 'told' }, ME)
}

/** What only other ways to log in, other machines or time would make. */
async function addRows(database: string): Promise<void> {
  const store = openStore(database)
  const now = Date.now()
  const hash = createHash('sha256').update('x').digest('hex')
  await store.script(async run => {
    const nodeId = "(select id from nodes where name = 'free')"
    await run(`insert into calendars (id, token_hash, kind, whose, auth, user_id, project_id, roles, created_at)
      select '${randomUUID()}', '${hash}', 'node', uuid, 'noauth2', 'u', 'p1', '["member"]', ${now} from nodes where name = 'had'`)
    await run(`insert into application_credentials (id, user_id, name, user_name, project_name, description, secret, roles,
      unrestricted, is_open, expires_at, created_at)
      select 'a1', 'u', 'script', 'alice', 'p1', '', secret, '["member"]', 0, 0, null, ${now} from
      (select 'scrypt$x' as secret) as s`)
    await run(`insert into revoked_tokens (token_id, expires_at) values ('t1', ${now + 3_600_000})`)
    await run(`insert into seen_names (kind, id, name, seen_at) values ('user', 'u', 'alice', ${now})`)
    await run(`insert into seen_members (project_id, user_id, seen_at) values ('p1', 'u', ${now})`)
    await run(
      `insert into node_documents (node_id, kind, document, updated_at) values (${nodeId}, 'bios', '[]', ${now})`,
    )
    await run(
      `insert into calls (node_id, question, args, expires_at) values (${nodeId}, 'sensors', '{}', ${now + 60_000})`,
    )
    await run(`insert into node_uses (project_id, from_at, until_at) values ('p1', ${now - 2_000}, ${now - 1_000})`)
    await run(`insert into project_usages (project_id, ended, used, served_at, counted_at)
      values ('p2', 5, 10, ${now - 1_000}, ${now - 1_000})`)
    await run(`insert into token_keys (id, secret, created_at) values (1, '${'A'.repeat(43)}=', ${now})`)
    await run(`insert into nova_work (reservation_id, lease_id, created_at, updated_at)
      select r.id, r.lease_id, ${now}, ${now} from lease_reservations r join flavors f on f.id = r.id where r.position = 0
      and r.resource_type = 'virtual:instance' order by r.id limit 1`)
    const delivery = (part: number, more: string) => `insert into deliveries
      (webhook_id, project_id, message, type, subject, body, status, due_at, attempts, failures, created_at, answered_at, answer_status)
      select id, coalesce(project_id, ''), 'msg_' || uuid || '_3_${part}', 'lease.created', 'lease/x', '{"id":"x"}', ${more}
      from webhooks where id = (select min(id) from webhooks)`
    await run(delivery(0, `'delivered', null, 1, 0, ${now}, ${now}, 200`))
    await run(delivery(1, `'pending', ${now}, 0, 0, ${now}, null, null`))
  })
  await store.close()
}
