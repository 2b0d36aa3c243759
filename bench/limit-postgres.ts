// The raw limit on PostgreSQL: 64 claims in one call of a function, on a given number of connections.
import { Client } from 'pg'
import { BATCH } from './limit-sqlite.ts'

// Inventory rows are locked in one order everywhere, so that batches never deadlock.
const SCHEMA = `
  drop table if exists allocation, consumer, inventory, provider;
  create table provider(id int primary key, uuid uuid unique, generation int not null default 0);
  create table inventory(provider_id int, rc int, total bigint not null, used bigint not null default 0,
    primary key(provider_id, rc)) with (fillfactor = 70);
  create table consumer(id bigint primary key, uuid uuid unique, generation int not null default 0);
  create table allocation(consumer_id bigint, provider_id int, rc int, used bigint not null,
    primary key(consumer_id, provider_id, rc));
  create or replace function claim_many(cs bigint[], us uuid[], ps int[], rs int[], n bigint)
  returns void language plpgsql as $$
  begin
    insert into consumer(id, uuid) select * from unnest(cs, us);
    insert into allocation select c, p, r, n from unnest(cs, ps) as x(c, p), unnest(rs) as r;
    perform 1 from inventory where rc = any(rs) and provider_id = any(ps) order by provider_id, rc for update;
    update inventory i set used = i.used + s.n from (select p, count(*) * n as n from unnest(ps) p group by p) s
     where i.provider_id = s.p and i.rc = any(rs) and i.used + s.n <= i.total;
  end $$`

interface RawOptions {
  url: string
  providers: number
  classes: number
  connections: number
  seconds: number
}

export interface RawCalls {
  /** Makes calls for some time. Returns how many claims were made. */
  run(seconds: number): Promise<number>
  close(): Promise<void>
}

/** Returns claims per second. */
export async function rawPostgresClaims({ seconds, ...options }: RawOptions): Promise<number> {
  const calls = await openRawCalls(options)
  try {
    const began = performance.now()
    return (await calls.run(seconds)) / ((performance.now() - began) / 1000)
  } finally {
    await calls.close()
  }
}

/** Makes the tables anew, and one call on each connection. */
export async function openRawCalls({
  url,
  providers,
  classes,
  connections,
}: Omit<RawOptions, 'seconds'>): Promise<RawCalls> {
  const clients = Array.from({ length: connections }, () => new Client({ connectionString: url }))
  const close = async () => void (await Promise.all(clients.map(client => client.end())))
  await Promise.all(clients.map(client => client.connect()))
  const resourceClasses = Array.from({ length: classes }, (_, at) => at + 1)
  let lastId = 0
  const call = (client: Client) => {
    const ids = Array.from({ length: BATCH }, () => ++lastId)
    const uuids = ids.map(() => crypto.randomUUID())
    const at = ids.map(() => 1 + Math.floor(Math.random() * providers))
    return client.query({
      name: 'claim_many',
      text: 'select claim_many($1::bigint[], $2::uuid[], $3::int[], $4::int[], 1)',
      values: [ids, uuids, at, resourceClasses],
    })
  }
  try {
    await clients[0]?.query(SCHEMA)
    await clients[0]?.query(`insert into provider select i, gen_random_uuid() from generate_series(1, ${providers}) i;
      insert into inventory select i, r, 1000000000 from generate_series(1, ${providers}) i, generate_series(1, ${classes}) r`)
    await clients[0]?.query('vacuum analyze')
    await Promise.all(clients.map(call))
  } catch (error) {
    await close()
    throw error
  }
  const run = async (seconds: number) => {
    let claims = 0
    const until = performance.now() + seconds * 1000
    const loop = async (client: Client) => {
      while (performance.now() < until) {
        await call(client)
        claims += BATCH
      }
    }
    await Promise.all(clients.map(loop))
    return claims
  }
  return { run, close }
}
