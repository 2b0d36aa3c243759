// Pages of nodes that were shown last, until any node changes: to find a thousand nodes takes longer than to send them.
import { BoundedMap } from '../../shared/bounded-map.ts'
import { limits } from '../../shared/limits.ts'
import type { ShelvedNode } from './shelf.ts'

export interface NodePage {
  nodes: readonly ShelvedNode[]
  /** The uuid of its last node, when there is a next page. */
  marker: string | null
}

interface Kept {
  page: NodePage
  /** When the first hold on one of its nodes ends: that changes the node without a new revision. */
  until: number
}

export class KeptPages {
  readonly #fleet: { readonly version: number }
  /** The version of the fleet that all of them show. */
  #version = 0
  #pages = new BoundedMap<string, Kept>(limits.keptPagesMax)

  constructor(fleet: { readonly version: number }) {
    this.#fleet = fleet
  }

  get(key: string, now: number): NodePage | null {
    if (this.#version !== this.#fleet.version) return null
    const kept = this.#pages.get(key)
    return kept && now < kept.until ? kept.page : null
  }

  /** Keeps a page that was found in this version of the fleet, unless the fleet has changed since. */
  keep(key: string, page: NodePage, version: number): void {
    if (version !== this.#fleet.version) return
    if (this.#version !== version) this.#pages = new BoundedMap(limits.keptPagesMax)
    this.#version = version
    const until = page.nodes.reduce((first, { reserved_until: end }) => Math.min(first, end ?? Infinity), Infinity)
    this.#pages.set(key, { page, until })
  }
}
