// Mutants must fit the sources: a change of the code that a mutant is made for has to change the mutant.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { test } from 'node:test'
import { mutated } from './mutate.ts'
import { MUTANTS } from './mutants.ts'

const ROOT = new URL('../', import.meta.url)

test('each mutant has a name of its own, and there are at least forty', () => {
  assert.equal(new Set(MUTANTS.map(({ name }) => name)).size, MUTANTS.length)
  assert.ok(MUTANTS.length >= 40, `${MUTANTS.length}`)
})

for (const mutant of MUTANTS) {
  test(`the text of ${mutant.name} is in ${mutant.file} once, and the mutated file still parses`, () => {
    const text = readFileSync(new URL(mutant.file, ROOT), 'utf8')
    const changed = mutated(mutant, text)
    assert.notEqual(changed, text)
    if (mutant.file.endsWith('.ts')) stripTypeScriptTypes(changed)
  })
}
