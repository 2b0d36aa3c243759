// /v1/shards, and the lists that are empty because nothing here fills them.
import { sql } from 'kysely'
import { findNode } from '../../metal/nodes.ts'
import { query } from '../../store/statement.ts'
import { all } from '../../store/transaction.ts'
import { linksTo } from './links.ts'
import { nodeIdent } from './nodes.ts'
import type { Answer, MetalRequest } from './request.ts'

const shards = query((db, _: object) =>
  db
    .selectFrom('nodes')
    .select('shard as name')
    .select(sql<number>`count(*)`.as('count'))
    .groupBy('shard')
    .orderBy('shard'),
)

export async function listShards({ context }: MetalRequest): Promise<Answer> {
  const found = await context.store.read(() => all(shards({})))
  return { status: 200, body: { shards: found.map(({ name, count }) => ({ name: name ?? 'None', count })) } }
}

const volumeLinks = (base: string, path: string) => ({
  links: linksTo(base, `${path}/`),
  connectors: linksTo(base, `${path}/connectors`),
  targets: linksTo(base, `${path}/targets`),
})

export const showVolume = ({ base }: MetalRequest): Answer => ({ status: 200, body: volumeLinks(base, 'volume') })

export async function showVolumeOfNode(request: MetalRequest): Promise<Answer> {
  const { uuid } = await request.context.store.read(() => findNode(nodeIdent(request), request.access()))
  return { status: 200, body: volumeLinks(request.base, `nodes/${uuid}/volume`) }
}

/** A list that can't have anything in it. */
export const emptyList =
  (name: string) =>
  (_: MetalRequest): Answer => ({ status: 200, body: { [name]: [] } })

/** The same below a node, which must be there. */
export const emptyListOfNode =
  (name: string) =>
  async (request: MetalRequest): Promise<Answer> => {
    await request.context.store.read(() => findNode(nodeIdent(request), request.access()))
    return { status: 200, body: { [name]: [] } }
  }

/** What the last inspection found, as far as the node's properties tell it. */
export async function showInventory(request: MetalRequest): Promise<Answer> {
  const node = await request.context.store.read(() => findNode(nodeIdent(request), request.access()))
  return { status: 200, body: { inventory: JSON.parse(node.properties) as object, plugin_data: {} } }
}
