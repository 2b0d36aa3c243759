// Servers of the test Nova: made, shown, listed and deleted.
import { randomUUID } from 'node:crypto'
import { type Answer, type Body, type NovaRequest, noPolicy, pageOf, Refusal } from './nova-answers.ts'
import type { Caller } from './nova-holdfast.ts'
import { flavorOf } from './nova-flavors.ts'
import { remove } from './nova-removal.ts'
import { copyOf, type Server, serverOf, statusOf, timeOf } from './nova-rows.ts'
import { NoValidHost, release, schedule } from './nova-scheduler.ts'
import type { TestNova } from './nova.ts'

const BUILD_ATTEMPTS = 3

export async function createServer(nova: TestNova, request: NovaRequest): Promise<Answer> {
  const { caller, version } = request
  const given: Body = request.body?.server
  if (typeof given?.name !== 'string' || given.flavorRef === undefined) {
    throw new Refusal(400, `Invalid input for field/attribute server. Value: ${JSON.stringify(given)}.`)
  }
  if (version >= 37 && given.networks === undefined) {
    throw new Refusal(400, `Invalid input for field/attribute server. 'networks' is a required property`)
  }
  const image = await imageOf(nova, given.imageRef, caller)
  const flavor = flavorForServer(nova, String(given.flavorRef), caller)
  const [, wantedHost] = String(given.availability_zone ?? '').split(':')
  if (wantedHost !== undefined && !caller.isAdmin) throw noPolicy('os_compute_api:servers:create:forced_host')
  requireQuota(nova, caller)
  const now = new Date()
  const server: Server = {
    id: randomUUID(),
    name: given.name,
    project: caller.project,
    user: caller.user,
    image,
    flavor: copyOf(flavor),
    state: 'building',
    task: 'scheduling',
    host: null,
    wantedHost: wantedHost ?? null,
    isLocked: false,
    fault: null,
    created: now,
    updated: now,
  }
  nova.servers.set(server.id, server)
  nova.run(() => build(nova, server))
  return {
    status: 202,
    body: { server: { id: server.id, adminPass: 'secret-word', links: [], 'OS-DCF:diskConfig': 'MANUAL' } },
  }
}

function flavorForServer(nova: TestNova, id: string, caller: Caller) {
  try {
    return flavorOf(nova, id, caller)
  } catch (error) {
    throw new Refusal(400, (error as Error).message)
  }
}

async function imageOf(nova: TestNova, id: unknown, { token }: Caller): Promise<string> {
  const { status } = await nova.holdfast.request('GET', `/image/v2/images/${String(id)}`, undefined, {
    'x-auth-token': token,
  })
  if (status !== 200) throw new Refusal(400, `Image ${String(id)} could not be found.`)
  return String(id)
}

function requireQuota({ servers, instancesMax }: TestNova, { project }: Caller): void {
  const used = [...servers.values()].filter(each => each.project === project).length
  if (used < instancesMax) return
  throw new Refusal(
    403,
    `Quota exceeded for instances: Requested 1, but already used ${used} of ${instancesMax} instances`,
  )
}

async function build(nova: TestNova, server: Server): Promise<void> {
  const failed: string[] = []
  try {
    while (failed.length < BUILD_ATTEMPTS) {
      const host = await schedule(nova, server, server.flavor, { without: failed, only: server.wantedHost })
      if (!nova.servers.has(server.id)) return await release(nova.holdfast, server.id, true)
      Object.assign(server, { host: host.name, task: 'spawning' })
      // The claim on the host reads what the host's providers have: one that is gone fails the build.
      const { promise, resolve } = Promise.withResolvers<boolean>()
      void host.send(async () => resolve(await host.report()))
      if (await promise) {
        if (nova.servers.has(server.id))
          nova.set(server, { state: 'active', task: server.task === 'deleting' ? 'deleting' : null })
        return
      }
      failed.push(host.name)
      await release(nova.holdfast, server.id, true)
      server.host = null
    }
    throw new NoValidHost(
      `Exceeded maximum number of retries. Exhausted all hosts available for retrying build failures for instance ${server.id}.`,
    )
  } catch (error) {
    nova.set(server, {
      state: 'error',
      task: null,
      host: null,
      fault: { code: 500, message: (error as Error).message },
    })
  }
}

export function showServer(nova: TestNova, request: NovaRequest): Answer {
  return { status: 200, body: { server: shown(nova, serverOf(nova, request.parts[0]!, request.caller), request) } }
}

export function listServers(nova: TestNova, request: NovaRequest): Answer {
  const { caller, query, parts } = request
  const isAll = ['1', 'true', 'True'].includes(query.get('all_tenants') ?? '') || query.get('all_tenants') === ''
  if (isAll && !caller.isAdmin) throw noPolicy('os_compute_api:servers:detail:get_all_tenants')
  const project = isAll ? (query.get('project_id') ?? query.get('tenant_id')) : caller.project
  const isWanted = (name: string, value: string | null) => !query.has(name) || query.get(name) === value
  const wanted = [...nova.servers.values()].filter(
    server =>
      (project === null || server.project === project) &&
      (!query.has('flavor') || nova.flavors.has(query.get('flavor')!)) &&
      isWanted('flavor', server.flavor.id) &&
      (!caller.isAdmin || isWanted('host', server.host)) &&
      isWanted('uuid', server.id) &&
      isWanted('status', statusOf(server)) &&
      isWanted('name', server.name),
  )
  const newest = wanted.toReversed()
  const { rows, links } = pageOf(newest, request, { idOf: ({ id }) => id, pageMax: nova.pageMax, url: nova.origin })
  const servers = rows.map(row =>
    parts[0] === 'detail' ? shown(nova, row, request) : { id: row.id, name: row.name, links: [] },
  )
  return { status: 200, body: { servers, ...(links.length > 0 && { servers_links: links }) } }
}

export async function deleteServer(nova: TestNova, request: NovaRequest): Promise<Answer> {
  await remove(nova, serverOf(nova, request.parts[0]!, request.caller), request.caller)
  return { status: 204 }
}

function shown(nova: TestNova, server: Server, { version, caller }: NovaRequest): object {
  const { flavor } = server
  return {
    id: server.id,
    name: server.name,
    status: statusOf(server),
    tenant_id: server.project,
    user_id: server.user,
    metadata: {},
    hostId:
      server.host === null
        ? ''
        : Buffer.from(server.project + server.host)
            .toString('hex')
            .slice(0, 56),
    image: { id: server.image, links: [] },
    flavor:
      version >= 47
        ? {
            vcpus: flavor.vcpus,
            ram: flavor.ram,
            disk: flavor.disk,
            ephemeral: 0,
            swap: 0,
            original_name: flavor.name,
            extra_specs: flavor.specs,
          }
        : { id: flavor.id, links: [] },
    created: timeOf(server.created),
    updated: timeOf(server.updated),
    addresses: {},
    accessIPv4: '',
    accessIPv6: '',
    links: [],
    'OS-DCF:diskConfig': 'MANUAL',
    ...(server.state === 'error' && server.fault && { fault: { ...server.fault, created: timeOf(server.updated) } }),
    'OS-EXT-AZ:availability_zone': server.host === null ? '' : 'nova',
    'OS-EXT-STS:task_state': server.task,
    'OS-EXT-STS:vm_state': server.state,
    'OS-EXT-STS:power_state': server.state === 'active' ? 1 : 0,
    config_drive: '',
    key_name: null,
    ...(caller.isAdmin && {
      'OS-EXT-SRV-ATTR:host': server.host,
      'OS-EXT-SRV-ATTR:hypervisor_hostname': server.host,
      'OS-EXT-SRV-ATTR:instance_name': `instance-${server.id.slice(0, 8)}`,
    }),
    ...(version >= 9 && { locked: server.isLocked }),
  }
}
