// docs/asyncapi.json: what the code says, with a schema for each type that real events fit.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { asyncApiText, FILE } from '../../scripts/asyncapi.ts'
import { cloudEventOf, eventsOf } from '../../src/events/event.ts'
import { KINDS } from '../../src/events/kinds.ts'
import { jsonText } from '../../src/shared/json.ts'
import type { Subject } from '../../src/store/transaction.ts'

const document = JSON.parse(asyncApiText())

void test('what is checked in is what the code gives', () => {
  assert.equal(readFileSync(FILE, 'utf8'), asyncApiText(), 'run: node scripts/asyncapi.ts')
})

void test('an event of each type fits the schema of its type, and of no other', () => {
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } })
  ajv.addSchema({ $id: 'document', ...document })
  const all = Object.entries(KINDS as Record<string, { subject?: string; became: object }>)
  for (const [kind, { subject = kind, became }] of all) {
    for (const word of Object.keys(became)) {
      const changed: Subject[] = [{ kind: subject, id: 'x', became: word, whose: { project: 'p' }, data: { a: 1 } }]
      const row = { at: 0, user_id: 'u', project_id: null, request_id: 'r', objects: jsonText(changed) }
      const [event] = eventsOf(7, row)
      const told = JSON.parse(JSON.stringify(cloudEventOf(event!, '/holdfast')))
      const fits = (type: string) => ajv.validate(`document#/components/messages/${type}/payload`, told)
      assert.ok(fits(told.type), `${told.type}: ${ajv.errorsText()}`)
      assert.ok(!fits(told.type === 'holdfast.claim.set' ? 'holdfast.claim.deleted' : 'holdfast.claim.set'))
    }
  }
})
