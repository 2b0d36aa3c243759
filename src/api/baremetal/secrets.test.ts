import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Json, jsonText } from '../../shared/json.ts'
import { masked } from './secrets.ts'

test('keys of secrets are masked wherever they stand, also when they are the only ones', () => {
  for (const key of ['ipmi_password', 'adminPass', 'snmp_passphrase', 'ipmi_hex_kg_key', 'agent_secret_token']) {
    for (const given of [{ [key]: 'hush' }, { a: [{ [key]: 'hush' }], b: 1 }]) {
      const shown = masked(jsonText<Json>(given))
      assert.ok(!shown.includes('hush'), shown)
      assert.ok(shown.includes('******'), shown)
    }
  }
})

test('other keys are shown', () => {
  const text = jsonText<Json>({ ipmi_address: '10.0.0.1', passes: 3 })
  assert.equal(masked(text), text)
})
