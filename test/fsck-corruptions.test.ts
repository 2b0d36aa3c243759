// Corruptions of every table, by hand: fsck finds each, by name, or it is said here why nothing can.
import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { before, describe, test } from 'node:test'
import { checkEverything } from '../src/measure/fsck.ts'
import { answersAndGoesOn } from './support/damaged-rows.ts'
import { CORRUPTIONS } from './support/corruptions.ts'
import { type Held, holdPostgres, holdSqlite } from './support/one-connection.ts'
import { fillRichly } from './support/rich-fleet.ts'
import { eachDatabase } from './support/stores.ts'

eachDatabase('fsck', ({ kind, create }) => {
  let address: string
  let held: Held
  /** What switching off constraints breaks by itself. */
  let usual: ReadonlySet<string>
  before(async () => {
    address = await create()
    await fillRichly(address)
    held = kind === 'sqlite' ? holdSqlite(copyOf(address)) : await holdPostgres(address)
    usual = new Set()
    usual = new Set(await foundAfter('select 1'))
  })

  const foundAfter = async (sql: string, part = ''): Promise<string[]> => {
    const findings = await held.during(sql, () => checkEverything(held.store, name => name.includes(part)))
    const broken = findings.filter(({ violations }) => violations > 0).map(({ invariant }) => invariant)
    return broken.filter(invariant => !usual.has(invariant))
  }

  test('finds what was written into the database by hand, each by its name', async () => {
    const missed: string[] = []
    for (const { sql, found } of CORRUPTIONS) {
      if (found === undefined) continue
      const names = await foundAfter(sql, found).catch((error: unknown) => {
        missed.push(`${sql}: ${String(error)}`)
        return ['']
      })
      if (names.length === 0) missed.push(sql)
    }
    assert.deepEqual(missed, [])
  })

  test('does not find what could as well be right', async () => {
    const seen: string[] = []
    for (const { sql, why } of CORRUPTIONS) {
      if (why === undefined) continue
      const names = await foundAfter(sql)
      if (names.length > 0) seen.push(`${sql} → ${names.join(' | ')}`)
    }
    assert.deepEqual(seen, [])
  })

  describe('', () => {
    // Its transactions would wait for those of the server.
    before(() => held.close())
    answersAndGoesOn(() => address, kind)
  })
})

function copyOf(address: string): string {
  const file = address.slice('sqlite:'.length)
  copyFileSync(file, `${file}.copy`)
  return `${file}.copy`
}
