import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partsOfSqlite, plainSql } from './sqlite.ts'

test('a table is told part by part, whatever commas and parentheses are in its checks', () => {
  const text = `CREATE TABLE "things" (
    id integer primary key, -- the key, of course
    kind text not null check (kind in ('a, b', 'it''s (c')),
    amount integer default (max(1, 2)), /* two
    lines */
    primary key (id, kind),
    check (amount > 0)
  ) strict`
  assert.deepEqual(partsOfSqlite({ kind: 'table', name: 'things', of: 'things', text }), [
    ['table things', 'strict'],
    ['column things.id', 'integer primary key'],
    ['column things.kind', "text not null check (kind in ('a, b', 'it''s (c'))"],
    ['column things.amount', 'integer default (max(1, 2))'],
    ['constraint things.primary key (id, kind)', 'primary key (id, kind)'],
    ['constraint things.check (amount > 0)', 'check (amount > 0)'],
  ])
})

test('comments, white space and needless quotes change nothing, and texts stay as they are', () => {
  assert.equal(plainSql(`select  "a",\n 'b  -- "c"' -- d\n from "E"`), `select a, 'b  -- "c"' from "E"`)
})
