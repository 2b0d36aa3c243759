// Hosts: the hypervisors that leases are booked on.
import { ApiError } from './errors.ts'
import { type Api, type Json, segment } from './wire.ts'

export interface Host extends Json {
  id: string
  hypervisor_hostname: string
  vcpus: number
  memory_mb: number
  local_gb: number
  reservable: boolean
}

interface HostBookings {
  /** The host's id. */
  resource_id: string
  reservations: { id: string; lease_id: string; start_date: string; end_date: string }[]
}

interface One {
  host: Host
}

export class Hosts {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  async list(): Promise<Host[]> {
    return (await this.#api.get<{ hosts: Host[] }>('/os-hosts')).hosts
  }

  /** Finds a host by its id, or by the name of its hypervisor. */
  async show(host: string): Promise<Host> {
    if (/^\d+$/.test(host)) return (await this.#api.get<One>(`/os-hosts/${segment(host)}`)).host
    const found = (await this.list()).find(({ hypervisor_hostname }) => hypervisor_hostname === host)
    if (!found) throw new ApiError(404, `There is no host ${host}.`)
    return found
  }

  async create(name: string, capabilities: Record<string, string> = {}): Promise<Host> {
    return (await this.#api.post<One>('/os-hosts', { ...capabilities, name })).host
  }
  /** Adds or changes capabilities. */
  async update(id: string, capabilities: Record<string, string>): Promise<Host> {
    return (await this.#api.put<One>(`/os-hosts/${segment(id)}`, capabilities)).host
  }
  delete = (id: string) => this.#api.delete(`/os-hosts/${segment(id)}`)

  /** Which leases are booked on which hosts. */
  async bookings(): Promise<HostBookings[]> {
    return (await this.#api.get<{ allocations: HostBookings[] }>('/os-hosts/allocations')).allocations
  }
}
