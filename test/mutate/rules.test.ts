// The rules make mutants, each at its place.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coverageOf, isWithin } from './coverage.ts'
import { type Change, changesOf } from './rules.ts'
import { migrationChanges } from './sql-rules.ts'

/** The text with each change. */
const results = (text: string, changes: readonly Change[]) =>
  changes.map(({ start, from, to }) => {
    assert.ok(text.startsWith(from, start), `${from} is not at ${start}`)
    return `${text.slice(0, start)}${to}${text.slice(start + from.length)}`
  })
const mutants = (text: string) => results(text, changesOf(text))

void test('comparisons, signs, guards, branches, statements and constants are changed, one at a time', () => {
  assert.deepEqual(mutants('const a = (b) <= c'), ['const a = (b) < c'])
  assert.deepEqual(mutants('if (x && !y) go()'), [
    'if (false) go()',
    'if (true) go()',
    'if (x || !y) go()',
    'if (x && y) go()',
    'if (x && !y) ;',
  ])
  assert.deepEqual(mutants('const a = b ? (c) : d'), ['const a = b ? (d) : c'])
  assert.deepEqual(mutants('const a = b ?? 1'), ['const a = b', 'const a = b ?? 2'])
  assert.deepEqual(mutants('for (;;) { i++; continue }'), [
    'for (;;) { ; continue }',
    'for (;;) { i--; continue }',
    'for (;;) { i++; ; }',
  ])
})

void test('texts are joined, not subtracted, and types are left alone', () => {
  assert.deepEqual(mutants('const a: 1 | true = `${b}` + c'), [])
  assert.deepEqual(mutants("import { a } from 'b'\ninterface C { d: 1 }"), [])
})

void test('guards in SQL are dropped and turned around, as Kysely has them and as text', () => {
  assert.deepEqual(mutants("db.selectFrom('a').where('b', '<=', c)"), [
    ';',
    "db.selectFrom('a')",
    "db.selectFrom('a').where('b', '<', c)",
  ])
  assert.deepEqual(mutants('const a = sql`b is null and c = ${d}`'), [
    'const a = sql`b is not null and c = ${d}`',
    'const a = sql`b is null or c = ${d}`',
    'const a = sql`b is null and c <> ${d}`',
  ])
})

void test('of migrations what still runs is changed: functions that are not made anew, and checks', () => {
  const text = `-- a < b
create function f(a int) returns void language plpgsql as $$
begin
  if a < 1 then
    raise exception 'a < 1';
  end if;
end $$;
create table t (a int check (a >= 0), b text default '<');`
  const changed = results(text, migrationChanges(text, []))
  assert.equal(changed.length, 3)
  assert.match(changed[0]!, /if a <= 1/)
  assert.match(changed[1]!, /then\s+null;\s+end if/)
  assert.match(changed[2]!, /check \(a < 0|check \(a > 0/)
  assert.equal(migrationChanges(text, ['create or replace function f(a int)']).length, 1)
})

void test('what ran is known by place: an inner range says more than the one around it', () => {
  const range = (startOffset: number, endOffset: number, count: number) => ({ startOffset, endOffset, count })
  const spans = coverageOf([{ ranges: [range(0, 100, 1), range(20, 60, 0), range(30, 40, 2)] }])
  assert.deepEqual(
    [0, 25, 35, 50, 80].map(place => isWithin(spans, place)),
    [true, false, true, false, true],
  )
})
