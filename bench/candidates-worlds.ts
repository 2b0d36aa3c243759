// The test data of the candidates bench, written straight into the database: over HTTP it would take minutes.
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { seeded } from '../src/clock/chance.ts'

export interface World {
  providers: { id: number; uuid: string; parent: number | null; root: number }[]
  inventories: { provider: number; name: string; total: number }[]
  traits: { provider: number; name: string }[]
  aggregates: { provider: number; uuid: string }[]
}

export const AGGREGATE = '00000000-0000-4000-8000-0000000000a6'
const ROWS_A_STATEMENT = 20_000

class Builder implements World {
  readonly providers: World['providers'] = []
  readonly inventories: World['inventories'] = []
  readonly traits: World['traits'] = []
  readonly aggregates: World['aggregates'] = []

  /** Adds a provider and returns its id. */
  add(inventories: Record<string, number>, { parent = 0, traits = [] as string[] } = {}): number {
    const id = this.providers.length + 1
    const root = parent === 0 ? id : this.providers[parent - 1]!.root
    this.providers.push({ id, uuid: crypto.randomUUID(), parent: parent === 0 ? null : parent, root })
    for (const [name, total] of Object.entries(inventories)) this.inventories.push({ provider: id, name, total })
    for (const name of traits) this.traits.push({ provider: id, name })
    return id
  }
}

/** Three classes of different sizes, one trait that all have and one that few have, an aggregate. */
export function flatWorld(count: number, roomy = false): World {
  const random = seeded(42)
  const world = new Builder()
  const size = (most: number) => (roomy ? 1_000_000_000 : 1 + Math.floor(random() * most))
  for (let i = 0; i < count; i++) {
    const traits = ['COMPUTE_NODE', ...(random() < 0.002 ? ['CUSTOM_GOLD'] : [])]
    const id = world.add({ VCPU: size(128), MEMORY_MB: size(524_288), DISK_GB: size(4000) }, { traits })
    world.aggregates.push({ provider: id, uuid: AGGREGATE })
  }
  return world
}

/** Trees of 7: disk on the root, VCPU and memory in two NUMA children, two FPGAs below each; and some wide trees. */
export function treesWorld(count: number, wide: readonly number[]): World {
  const random = seeded(42)
  const world = new Builder()
  for (let tree = 0; tree < count; tree++) {
    const root = world.add({ DISK_GB: 2000 })
    for (const traits of [['HW_NUMA_ROOT', 'CUSTOM_FAST'], ['HW_NUMA_ROOT']]) {
      const room = { VCPU: 1 + Math.floor(random() * 64), MEMORY_MB: 262_144 }
      const numa = world.add(room, { parent: root, traits })
      for (let fpga = 0; fpga < 2; fpga++) {
        world.add({ FPGA: 1 }, { parent: numa, traits: [random() < 0.5 ? 'CUSTOM_FPGA_A' : 'CUSTOM_FPGA_B'] })
      }
    }
  }
  for (const children of wide) {
    const root = world.add({})
    for (let child = 0; child < children; child++) world.add({ [wideClass(children)]: 8 }, { parent: root })
  }
  return world
}

export const wideClass = (children: number) => `CUSTOM_WIDE_${children}`

export async function fill(database: string, world: World): Promise<void> {
  if (database.startsWith('sqlite:')) fillSqlite(database.slice('sqlite:'.length), world)
  else await fillPostgres(database, world)
}

const customNames = (rows: readonly { name: string }[]) =>
  [...new Set(rows.map(row => row.name))].filter(name => name.startsWith('CUSTOM_'))

const INVENTORY = `insert into inventories (provider_id, class_id, total, reserved, min_unit, max_unit, step_size,
  allocation_ratio, capacity, ceiling, created_at)`

function fillSqlite(path: string, world: World): void {
  const db = new DatabaseSync(path)
  db.exec('pragma synchronous = off; pragma foreign_keys = off; begin')
  const ids = (table: string, rows: readonly { name: string }[]) => {
    const add = db.prepare(`insert into ${table} (name, created_at) values (?, 0)`)
    for (const name of customNames(rows)) add.run(name)
    const all = db.prepare(`select id, name from ${table}`).all()
    return new Map(all.map(row => [String(row['name']), Number(row['id'])]))
  }
  const classes = ids('resource_classes', world.inventories)
  const traits = ids('traits', world.traits)
  const provider = db.prepare(
    'insert into providers (id, uuid, name, parent_id, root_id, created_at) values (?, ?, ?, ?, ?, 0)',
  )
  for (const { id, uuid, parent, root } of world.providers) provider.run(id, uuid, `bench-${id}`, parent, root)
  const inventory = db.prepare(`${INVENTORY} values (?1, ?2, ?3, 0, 1, ?3, 1, 1, ?3, ?3, 0)`)
  for (const row of world.inventories) inventory.run(row.provider, classes.get(row.name)!, row.total)
  const trait = db.prepare('insert into provider_traits (provider_id, trait_id) values (?, ?)')
  for (const row of world.traits) trait.run(row.provider, traits.get(row.name)!)
  const aggregate = db.prepare('insert into provider_aggregates values (?, ?)')
  for (const row of world.aggregates) aggregate.run(row.provider, row.uuid)
  db.exec('commit')
  db.close()
}

async function fillPostgres(url: string, world: World): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  /** Passes many rows at a time as JSON; they are `r` in the statement. */
  const insert = async (rows: readonly object[], columns: string, statement: string) => {
    for (let at = 0; at < rows.length; at += ROWS_A_STATEMENT) {
      const part = JSON.stringify(rows.slice(at, at + ROWS_A_STATEMENT))
      await client.query(statement.replace('ROWS', `json_to_recordset($1) as r(${columns})`), [part])
    }
  }
  try {
    await client.query('begin')
    for (const [table, rows] of [
      ['resource_classes', world.inventories],
      ['traits', world.traits],
    ] as const) {
      await client.query(`insert into ${table} (name, created_at) select unnest($1::text[]), 0`, [customNames(rows)])
    }
    await insert(
      world.providers,
      'id bigint, uuid text, parent bigint, root bigint',
      `insert into providers (id, uuid, name, parent_id, root_id, created_at)
       select id, uuid, 'bench-' || id, parent, root, 0 from ROWS`,
    )
    await insert(
      world.inventories,
      'provider bigint, name text, total bigint',
      `${INVENTORY} select provider, c.id, total, 0, 1, total, 1, 1, total, total, 0
       from ROWS join resource_classes c on c.name = r.name`,
    )
    const traits = 'insert into provider_traits select provider, t.id from ROWS join traits t on t.name = r.name'
    await insert(world.traits, 'provider bigint, name text', traits)
    const aggregates = 'insert into provider_aggregates select provider, uuid from ROWS'
    await insert(world.aggregates, 'provider bigint, uuid text', aggregates)
    await client.query(`select setval(pg_get_serial_sequence('providers', 'id'), $1)`, [world.providers.length])
    await client.query('commit')
    await client.query('analyze')
  } finally {
    await client.end()
  }
}
