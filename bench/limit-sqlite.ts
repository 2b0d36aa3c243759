// The raw limit on SQLite: only the statements of claims, 64 claims to a durable commit.
import { DatabaseSync } from 'node:sqlite'

export const BATCH = 64
const INVENTORY_TOTAL = 1_000_000_000

interface RawOptions {
  file: string
  providers: number
  classes: number
  seconds: number
}

/** Each claim looks up a provider and a consumer, and adds a consumer. Each class costs one read and two writes. */
export function rawSqliteClaims({ file, providers, classes, seconds }: RawOptions) {
  const db = new DatabaseSync(file)
  db.exec(`pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = 20000;
    create table provider(id integer primary key, uuid text unique, generation int) strict;
    create table inventory(provider_id int, rc int, total int, used int, primary key(provider_id, rc)) strict, without rowid;
    create table consumer(id integer primary key, uuid text unique, generation int) strict;
    create table allocation(consumer_id int, provider_id int, rc int, used int,
      primary key(consumer_id, provider_id, rc)) strict, without rowid;
    begin`)
  const addProvider = db.prepare('insert into provider values (?, ?, 0)')
  const addInventory = db.prepare('insert into inventory values (?, ?, ?, 0)')
  for (let id = 1; id <= providers; id++) {
    addProvider.run(id, crypto.randomUUID())
    for (let rc = 0; rc < classes; rc++) addInventory.run(id, rc, INVENTORY_TOTAL)
  }
  db.exec('commit')

  const provider = db.prepare('select id, generation from provider where id = ?')
  const inventory = db.prepare('select total, used from inventory where provider_id = ? and rc = ?')
  const consumer = db.prepare('select id, generation from consumer where uuid = ?')
  const addConsumer = db.prepare('insert into consumer values (?, ?, 0)')
  const addAllocation = db.prepare('insert into allocation values (?, ?, ?, 1)')
  const take = db.prepare('update inventory set used = used + 1 where provider_id = ? and rc = ? and used + 1 <= total')
  const begin = db.prepare('begin immediate')
  const commit = db.prepare('commit')

  let claims = 0
  const claim = () => {
    const id = ++claims
    const uuid = crypto.randomUUID()
    const at = 1 + Math.floor(Math.random() * providers)
    provider.get(at)
    consumer.get(uuid)
    for (let rc = 0; rc < classes; rc++) inventory.get(at, rc)
    addConsumer.run(id, uuid)
    for (let rc = 0; rc < classes; rc++) {
      addAllocation.run(id, at, rc)
      if (take.run(at, rc).changes !== 1) throw new Error('a claim found no room')
    }
  }
  const cpuBefore = process.cpuUsage()
  const began = performance.now()
  let elapsed = 0
  while (elapsed < seconds) {
    begin.run()
    for (let i = 0; i < BATCH; i++) claim()
    commit.run()
    elapsed = (performance.now() - began) / 1000
  }
  const cpu = process.cpuUsage(cpuBefore)
  db.close()
  return { claimsPerSecond: claims / elapsed, cpuMicroseconds: (cpu.user + cpu.system) / claims }
}
