// Shards: labels that operators put on nodes, to divide them among the services that use them.
import { query } from '../../store/statement.ts'
import { all } from '../../store/transaction.ts'

const nodesByShard = query((db, _: object) =>
  db
    .selectFrom('nodes')
    .select(e => ['shard as name', e.fn.countAll<number>().as('count')])
    .groupBy('shard')
    .orderBy('shard'),
)

/** The number of nodes of each shard; null is the name for nodes without a shard. */
export const countShards = () => all(nodesByShard({}))
