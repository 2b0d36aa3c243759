// Bare metal nodes that leases may book.
import { type Api, type Json, segment } from './wire.ts'

export interface LeasableNode extends Json {
  /** The uuid of the node. */
  node: string
  resource_class: string | null
  bookings: { lease_id: string; reservation_id: string; start_date: string; end_date: string }[]
}

export class LeasableNodes {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  async list(): Promise<LeasableNode[]> {
    return (await this.#api.get<{ leasable_nodes: LeasableNode[] }>('/leasable-nodes')).leasable_nodes
  }
  show = (node: string) => this.#api.get<LeasableNode>(`/leasable-nodes/${segment(node)}`)
  /** From now on leases may book the node; other users can have it only for a limited time. */
  enrol = (node: string) => this.#api.put<LeasableNode>(`/leasable-nodes/${segment(node)}`)
  withdraw = (node: string) => this.#api.delete(`/leasable-nodes/${segment(node)}`)
}
