import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseSync } from 'node:sqlite'
import { rowsAgainst } from './rows.ts'

function found(name: string, wanted: string): number {
  const database = new DatabaseSync(':memory:')
  database.exec(`create table parents (id); insert into parents values (1);
    create table things (id, name, amount);
    insert into things values (1, 'a', 1), (1, 'A', -1), (2, null, -5), (2, null, 7), (null, 'b', 2)`)
  return database.prepare(rowsAgainst({ name, wanted })!).all().length
}

test('rows that a missing part would have refused are found, of each kind', () => {
  assert.equal(found('constraint things.x', 'UNIQUE (id)'), 2)
  assert.equal(found('constraint things.x', 'PRIMARY KEY (id, name)'), 0)
  assert.equal(found('constraint things.x', 'CHECK (amount >= 0 AND amount < 7)'), 3)
  assert.equal(found('constraint things.x', 'FOREIGN KEY (id) REFERENCES parents(id) ON DELETE CASCADE'), 2)
  assert.equal(found('column things.name', 'text not null'), 2)
  assert.equal(found('index things.x', 'CREATE UNIQUE INDEX x on things (lower(name))'), 1)
  assert.equal(found('index things.x', 'CREATE UNIQUE INDEX x on things (id, amount) where amount > 0'), 0)
  assert.equal(found('index things.x', "CREATE UNIQUE INDEX x on things (id) where name in ('a', 'A')"), 1)
})

test('PostgreSQL says how an index is made, and NULL is equal to nothing', () => {
  const wanted = 'CREATE UNIQUE INDEX x ON things USING btree (id, name) WHERE amount > 0'
  assert.equal(
    rowsAgainst({ name: 'index things.x', wanted }),
    'select 1 from things where (id) is not null and (name) is not null and (amount > 0) group by id, name having count(*) > 1',
  )
})

test('parts that promise nothing about rows have no query', () => {
  for (const [name, wanted] of [
    ['index things.x', 'CREATE INDEX x on things (id)'],
    ['trigger things.x', 'CREATE TRIGGER x'],
    ['function x()', 'trigger plpgsql'],
    ['table things', ''],
    ['column things.id', 'integer'],
  ] as const) {
    assert.equal(rowsAgainst({ name, wanted }), null)
  }
})
