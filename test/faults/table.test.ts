// The table of docs/RELIABILITY.md names tests that are there, and each test of a fault has its row.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(`${ROOT}docs/RELIABILITY.md`, 'utf8')
/** The rows of the one table whose last column is headed `test`. */
const rows = page
  .slice(page.indexOf('| fault | promised | seen | test |'))
  .split('\n\n', 1)[0]!
  .split('\n')
  .slice(2)
  .map(line => line.split('|').map(cell => cell.trim()))
const testsIn = (cell: string) => [...cell.matchAll(/\]\(\.\.\/(\S+?)\)/g)].map(([, path]) => path!)

test('every row of the table of faults says what is promised, what was seen, and names tests that exist', () => {
  assert.ok(rows.length > 25, `${rows.length} rows`)
  for (const [, fault, promised, seen, tests = ''] of rows) {
    assert.ok(fault && promised && seen, `a cell is empty beside ${fault}`)
    assert.ok(testsIn(tests).length > 0, `no test is named for: ${fault}`)
    for (const path of testsIn(tests)) assert.ok(existsSync(ROOT + path), `${path} is not there`)
  }
})

test('every test of a fault is in the table', () => {
  const named = new Set(rows.flatMap(row => testsIn(row.at(-2) ?? '')))
  for (const path of globSync('test/faults/*.test.ts', { cwd: ROOT })) {
    if (!path.endsWith('/table.test.ts')) assert.ok(named.has(path), `no row names ${path}`)
  }
})
