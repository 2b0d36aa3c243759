// Shards: a word that operators write on nodes, to divide them among those who work with them.
import { query } from '../../store/statement.ts'
import { all } from '../../store/transaction.ts'

const nodesByShard = query((db, _: object) =>
  db
    .selectFrom('nodes')
    .select(e => ['shard as name', e.fn.countAll<number>().as('count')])
    .groupBy('shard')
    .orderBy('shard'),
)

/** How many nodes each has; null for those that are in none. */
export const countShards = () => all(nodesByShard({}))
