// What is checked in of the schema is what the migrations make, in every version of the databases.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogueAt, COMMAND } from '../../scripts/catalogue.ts'
import { expectedOf } from '../../src/store/catalogue/expected.ts'
import { eachDatabase } from '../support/stores.ts'

eachDatabase('an empty database', ({ kind, createEmpty }) => {
  test('becomes by the migrations what is checked in', async () => {
    const made = await catalogueAt(await createEmpty())
    assert.deepEqual(made, expectedOf(kind).parts, `after a change of migrations run: ${COMMAND}`)
  })
})
