import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Json, jsonText } from '../../shared/json.ts'
import { INSTANCE_SECRETS, masked } from './secrets.ts'

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

test('what a machine boots is shown to operators only, and its signatures to nobody', () => {
  const given = {
    kernel: 'http://images/k?sig=hush',
    ramdisk: 'http://u:hush@images/r',
    image_source: 'http://images/i',
    user_data: 'mine',
    kernel_append_params: 'a=b',
    capabilities: { boot_mode: 'uefi' },
  }
  const shown = (also: readonly string[]) => JSON.parse(masked(jsonText<Json>(given), also)) as unknown
  assert.deepEqual(shown(INSTANCE_SECRETS.operators), {
    ...given,
    kernel: 'http://images/k?sig=******',
    ramdisk: 'http://******@images/r',
  })
  assert.deepEqual(shown(INSTANCE_SECRETS.others), {
    kernel: '******',
    ramdisk: '******',
    image_source: '******',
    user_data: '******',
    kernel_append_params: '******',
    capabilities: { boot_mode: 'uefi' },
  })
})
