// Rows put into a database directly, for tests of what a room reads from them at an exact moment.
import type { Store } from '../../src/store/store.ts'

type Value = string | number | null

interface Column {
  name: string
  type: string
  notnull: number
  dflt_value: string | null
  pk: number
}

const literal = (value: Value) =>
  value === null ? 'null' : typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`

/** On SQLite: what is not given and must not be null is empty, 0, or a new uuid. */
export class Rows {
  readonly #store: Store
  readonly #columns = new Map<string, Column[]>()

  constructor(store: Store) {
    this.#store = store
  }

  /** The id of the new row. */
  put(table: string, given: Record<string, Value>): Promise<number> {
    return this.#store.script(async run => {
      const known = this.#columns.get(table)
      const columns = known ?? ((await run(`select * from pragma_table_info('${table}')`)) as unknown as Column[])
      this.#columns.set(table, columns)
      const needed = columns.filter(({ notnull, dflt_value: fallback, pk }) => notnull && fallback === null && !pk)
      const empty = needed.map(({ name, type }) => [
        name,
        name === 'uuid' ? crypto.randomUUID() : type === 'TEXT' ? '' : 0,
      ])
      const row = { ...(Object.fromEntries(empty) as Record<string, Value>), ...given }
      const values = Object.values(row).map(literal)
      await run(`insert into ${table} (${Object.keys(row).join(', ')}) values (${values.join(', ')})`)
      const [added] = await run('select last_insert_rowid() as id')
      return (added as { id: number }).id
    })
  }

  /** An available node with its provider. */
  async node(more: Record<string, Value> = {}): Promise<{ id: number; provider: number; uuid: string }> {
    const uuid = crypto.randomUUID()
    const provider = await this.put('providers', { uuid, name: uuid })
    const json = ['interfaces', 'driver_info', 'driver_internal_info', 'properties', 'extra', 'instance_info']
      .concat(['network_data', 'raid_config', 'target_raid_config', 'clean_step', 'deploy_step'])
      .map(name => [name, '{}'])
    const fixed = { uuid, provider_id: provider, provision_state: 'available', driver: 'fake-hardware' }
    const id = await this.put('nodes', { ...Object.fromEntries(json), ...fixed, ...more })
    return { id, provider, uuid }
  }

  allocation(more: Record<string, Value>): Promise<number> {
    const lists = { traits: '[]', candidate_nodes: '[]', extra: '{}' }
    return this.put('allocations', { ...lists, resource_class: 'plain', state: 'allocating', ...more })
  }

  /** A hold is a consumer too. */
  async hold(more: Record<string, Value>): Promise<number> {
    const uuid = crypto.randomUUID()
    await this.put('consumers', { uuid, managed_by: 'reservation', expires_at: more['expires_at'] ?? null })
    return this.put('reservations', { uuid, instance_uuid: crypto.randomUUID(), ...more })
  }

  lease(more: Record<string, Value>): Promise<number> {
    return this.put('leases', { id: crypto.randomUUID(), status: 'PENDING', ...more })
  }
}
