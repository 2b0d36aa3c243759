// Leasable nodes: those of the bare metal nodes that leases may book.
import { type Api, type Json, segment } from './wire.ts'

export interface LeasableNode extends Json {
  node: string
  resource_class: string
  bookings: { lease_id: string; reservation_id: string; start_date: string; end_date: string }[]
}

export class LeasableNodes {
  readonly #operator: Api

  constructor(operator: Api) {
    this.#operator = operator
  }

  async list(): Promise<LeasableNode[]> {
    return (await this.#operator.get<{ leasable_nodes: LeasableNode[] }>('/leasable-nodes')).leasable_nodes
  }
  enrol = (node: string) => this.#operator.put<LeasableNode>(`/leasable-nodes/${segment(node)}`)
  withdraw = (node: string) => this.#operator.delete(`/leasable-nodes/${segment(node)}`)
}
