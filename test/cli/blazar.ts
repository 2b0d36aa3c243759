// A small Blazar for tests: leases and hosts in the shapes of its v1 API, kept in memory.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

type Members = Record<string, unknown>
// oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects, and fails when it isn't there
export type Shown = any

/** In minutes from now, as Blazar shows dates. */
export const shownIn = (minutes: number) =>
  `${new Date(Date.now() + minutes * 60_000).toISOString().slice(0, 16)}:00.000000`

export class Blazar {
  readonly leases: Shown[] = []
  readonly hosts: Shown[] = []
  /** Which leases are on which hosts. */
  readonly booked = new Map<string, string[]>()
  /** What it was asked to change. */
  readonly asked: string[] = []
  url = ''
  readonly #server = createServer((request, response) => {
    const answer = async () => {
      const [status, body] = await this.#answer(request)
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(body === null ? '' : JSON.stringify(body))
    }
    void answer()
  })

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
    return this
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  host(name: string, capabilities: Members = {}): Shown {
    const columns = { vcpus: 8, memory_mb: 16_384, local_gb: 200, cpu_info: '', hypervisor_type: 'QEMU' }
    const more = { hypervisor_version: 1, availability_zone: null, status: null, reservable: true, trust_id: 't' }
    const host = {
      id: String(this.hosts.length + 1),
      hypervisor_hostname: name,
      service_name: name,
      ...columns,
      ...more,
    }
    this.hosts.push({ ...host, created_at: '2026-01-01 00:00:00', updated_at: null, ...capabilities })
    return this.hosts.at(-1)
  }

  lease(name: string, [from, to]: [number, number], terms: Members, more: Members = {}): Shown {
    const [id, reservation] = [randomUUID(), randomUUID()]
    const made = { lease_id: id, resource_id: randomUUID(), created_at: '2026-01-01 00:00:00', updated_at: null }
    const event = (event_type: string, minutes: number) => ({
      id: randomUUID(),
      event_type,
      time: shownIn(minutes),
      status: 'UNDONE',
      ...made,
    })
    this.leases.push({
      id,
      name,
      start_date: shownIn(from),
      end_date: shownIn(to),
      status: 'PENDING',
      degraded: false,
      user_id: 'ann',
      project_id: 'theirs',
      trust_id: 't',
      reservations: [
        { id: reservation, status: 'pending', missing_resources: false, resources_changed: false, ...made, ...terms },
      ],
      events: [event('start_lease', from), event('end_lease', to), event('before_end_lease', to - 15)],
      ...more,
    })
    return this.leases.at(-1)
  }

  async #answer(request: IncomingMessage): Promise<[number, unknown]> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const [method, path] = [request.method!, request.url!.replace('/v1', '')]
    if (method !== 'GET') this.asked.push(`${method} ${path}`)
    const body = (): Shown => JSON.parse(Buffer.concat(chunks).toString())
    if (method === 'GET' && path === '/leases') return [200, { leases: this.leases }]
    if (method === 'GET' && path === '/os-hosts') return [200, { hosts: this.hosts }]
    if (method === 'GET' && path === '/os-hosts/allocations') {
      const rows = [...this.booked].map(([resource_id, ids]) => ({
        resource_id,
        reservations: ids.map(lease_id => ({ id: randomUUID(), lease_id })),
      }))
      return [200, { allocations: rows }]
    }
    if (method === 'POST' && path === '/os-hosts') {
      const { name, ...more } = body()
      return [201, { host: this.host(name, more) }]
    }
    if (method === 'POST' && path === '/leases') {
      const { name, start_date, end_date, reservations } = body()
      const dates = { start_date: `${start_date}:00.000000`, end_date: `${end_date}:00.000000` }
      return [201, { lease: this.lease(name, [60, 120], reservations[0], dates) }]
    }
    const at = this.leases.findIndex(({ id }) => path === `/leases/${id}`)
    if (method === 'DELETE' && at >= 0) {
      this.leases.splice(at, 1)
      return [204, null]
    }
    return [404, { error_code: 404, error_message: 'not found', error_name: 404 }]
  }
}
