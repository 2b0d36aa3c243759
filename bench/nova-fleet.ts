// A fleet of fake nova-computes with their servers, and what they and nova-scheduler ask of Placement: the same
// requests and versions as a real Nova 26 sends.
import type { Connection } from './candidates-client.ts'

const HOSTS = 100
const SERVERS_PER_HOST = 10
/** In each minute of the fleet. */
const BOOTS = 30
const CHANGED_HOSTS = 1
/** nova-compute reads its provider's tree again after five minutes. */
const REFRESH_MINUTES = 5

const SIZE = { VCPU: 1, MEMORY_MB: 512, DISK_GB: 1 }
const TOTALS = { VCPU: 64, MEMORY_MB: 262_144, DISK_GB: 4_000 }
const CANDIDATES =
  '/allocation_candidates?limit=1000&resources=DISK_GB%3A1%2CMEMORY_MB%3A512%2CVCPU%3A1' +
  '&root_required=%21COMPUTE_STATUS_DISABLED'
const TRAITS = ['COMPUTE_NODE', 'COMPUTE_TRUSTED_CERTS', 'COMPUTE_VOLUME_EXTEND', 'HW_CPU_X86_VMX']

export const KINDS = {
  candidates: 'boot: candidates, limit 1000',
  claim: 'boot: PUT allocations',
  server: "a server's allocations",
  host: "a host's allocations",
  tree: "a host's tree",
  inventories: "a host's inventories",
  aggregates: "a host's aggregates",
  traits: "a host's traits",
  change: 'PUT inventories that changed',
  release: 'a server is deleted',
} as const
export type Kind = keyof typeof KINDS

/** Sends a request of a kind, checks the status and returns the body. */
export type Ask = (kind: Kind, request: string, status: number) => Promise<string>
export type Job = (ask: Ask) => Promise<void>

function text(method: string, path: string, version: string | null, body?: object): string {
  const json = body === undefined ? '' : JSON.stringify(body)
  return (
    `${method} /placement${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-auth-token: admin\r\n` +
    (version === null ? '' : `openstack-api-version: placement ${version}\r\n`) +
    (body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(json)}\r\n`) +
    `\r\n${json}`
  )
}

const inventoriesOf = (changes: number) =>
  Object.fromEntries(
    Object.entries(TOTALS).map(([name, total]) => [
      name,
      {
        total: name === 'DISK_GB' ? total + changes : total,
        reserved: 0,
        min_unit: 1,
        max_unit: total,
        step_size: 1,
        allocation_ratio: 1,
      },
    ]),
  )

const claimOf = (host: string) => ({
  allocations: { [host]: { resources: SIZE } },
  mappings: { '': [host] },
  project_id: 'bench-project',
  user_id: 'bench-user',
  consumer_generation: null,
})
// Mappings are of candidates; below 1.34 there are none.
const putClaim = (server: string, host: string) => text('PUT', `/allocations/${server}`, '1.36', claimOf(host))

export class NovaFleet {
  readonly #hosts: string[] = []
  #servers: { uuid: string; host: string }[] = []
  #minutes = 0
  #changes = 0

  /** As nova-computes make themselves known, with servers spread evenly. */
  async make(connection: Connection): Promise<void> {
    const expect = async (request: string, ...statuses: number[]) => {
      const { status, text: said } = await connection.send(request, true)
      if (!statuses.includes(status)) throw new Error(`answered ${status}: ${said.slice(0, 300)}`)
    }
    for (let i = 0; i < HOSTS; i++) {
      const uuid = crypto.randomUUID()
      this.#hosts.push(uuid)
      const at = `/resource_providers/${uuid}`
      await expect(text('POST', '/resource_providers', '1.20', { name: `compute-${i}`, uuid }), 200)
      const terms = { resource_provider_generation: 0, inventories: inventoriesOf(0) }
      await expect(text('PUT', `${at}/inventories`, '1.26', terms), 200)
      await expect(text('PUT', `${at}/traits`, '1.6', { resource_provider_generation: 1, traits: TRAITS }), 200)
    }
    for (let i = 0; i < HOSTS * SERVERS_PER_HOST; i++) {
      const server = { uuid: crypto.randomUUID(), host: this.#hosts[i % HOSTS]! }
      await expect(putClaim(server.uuid, server.host), 204)
      this.#servers.push(server)
    }
  }

  /** What the whole fleet asks for in a minute; who carries it out chooses the order. */
  minute(): Job[] {
    const part = this.#minutes++ % REFRESH_MINUTES
    const byHost = Map.groupBy(this.#servers, ({ host }) => host)
    const periods = this.#hosts.map(
      (host, i): Job =>
        ask =>
          this.#period(ask, host, { servers: byHost.get(host) ?? [], isStale: i % REFRESH_MINUTES === part }),
    )
    const boots = Array.from({ length: BOOTS }, (): Job => ask => this.#boot(ask))
    const leaving = this.#servers.splice(0, BOOTS)
    const deletes = leaving.map(
      ({ uuid }): Job =>
        async ask =>
          void (await ask('release', text('DELETE', `/allocations/${uuid}`, null), 204)),
    )
    const changes = Array.from({ length: CHANGED_HOSTS }, (): Job => ask => this.#change(ask))
    return [...periods, ...boots, ...deletes, ...changes]
  }

  async #period(
    ask: Ask,
    host: string,
    { servers, isStale }: { servers: readonly { uuid: string }[]; isStale: boolean },
  ): Promise<void> {
    const at = `/resource_providers/${host}`
    if (isStale) {
      await ask('tree', text('GET', `/resource_providers?in_tree=${host}`, '1.14'), 200)
      await ask('inventories', text('GET', `${at}/inventories`, null), 200)
      await ask('aggregates', text('GET', `${at}/aggregates`, '1.19'), 200)
      await ask('traits', text('GET', `${at}/traits`, '1.6'), 200)
    }
    await ask('host', text('GET', `${at}/allocations`, null), 200)
    for (const { uuid } of servers) await ask('server', text('GET', `/allocations/${uuid}`, '1.28'), 200)
  }

  async #boot(ask: Ask): Promise<void> {
    const found = await ask('candidates', text('GET', CANDIDATES, '1.36'), 200)
    const { allocation_requests: requests } = JSON.parse(found) as { allocation_requests: { allocations: object }[] }
    const [host] = Object.keys(requests[Math.floor(Math.random() * requests.length)]!.allocations)
    const server = { uuid: crypto.randomUUID(), host: host! }
    const look = text('GET', `/allocations/${server.uuid}`, '1.28')
    // nova-scheduler looks whether the server has something already, and nova-compute what it got.
    await ask('server', look, 200)
    await ask('claim', putClaim(server.uuid, server.host), 204)
    await ask('server', look, 200)
    this.#servers.push(server)
  }

  /** Its own generation may be old, since servers come and go: nova-compute reads again and repeats. */
  async #change(ask: Ask): Promise<void> {
    const host = this.#hosts[this.#changes % HOSTS]!
    const at = `/resource_providers/${host}`
    this.#changes++
    const seen = await ask('inventories', text('GET', `${at}/inventories`, null), 200)
    const { resource_provider_generation: generation } = JSON.parse(seen) as { resource_provider_generation: number }
    const terms = { resource_provider_generation: generation, inventories: inventoriesOf(this.#changes) }
    await ask('change', text('PUT', `${at}/inventories`, '1.26', terms), 200)
  }
}
