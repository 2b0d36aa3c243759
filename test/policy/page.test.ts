// docs/POLICY.md says what the code says.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { PAGE, withTables } from '../../scripts/policy-tables.ts'

void test('the tables of docs/POLICY.md are those of the code', () => {
  const page = readFileSync(PAGE, 'utf8')
  assert.equal(page, withTables(page), 'run: node scripts/policy-tables.ts')
  assert.equal(page.match(/<!-- end -->/g)?.length, 7)
})
