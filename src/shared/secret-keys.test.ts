import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SECRET_KEY, withoutUrlSecrets } from './secret-keys.ts'

test('keys of secrets, in all the ways that they are written', () => {
  for (const key of [
    'ipmi_password my_passwd pwd passcode api_key apikey x-api-key snmp_community credential bmc_credentials pass',
    'snmp_auth_key snmp_priv_key access_key private_key ssl_key irmc_snmp_passphrase agent_token client_secret',
  ].flatMap(words => words.split(' '))) {
    assert.match(key, SECRET_KEY)
  }
  for (const key of 'ipmi_address passes keyboard ipmi_priv_level bypass_mode redfish_username key_count'.split(' ')) {
    assert.doesNotMatch(key, SECRET_KEY)
  }
})

test('URLs are shown without users, passwords, tokens and signatures', () => {
  for (const [text, shown] of [
    ['https://u:hush@h:8/x', 'https://******@h:8/x'],
    ['see https://u@h and http://a:b@c/', 'see https://******@h and http://******@c/'],
    ['https://h/x?a=1&token=hush&b=2', 'https://h/x?a=1&token=******&b=2'],
    ['https://h/x?X-Amz-Signature=hush&X-Amz-Date=1', 'https://h/x?X-Amz-Signature=******&X-Amz-Date=1'],
    ['https://h/x?temp_url_sig=hush&sig=hush', 'https://h/x?temp_url_sig=******&sig=******'],
    ['https://h/x?page=2', 'https://h/x?page=2'],
    ['a@b and c?token=d', 'a@b and c?token=d'],
  ]) {
    assert.equal(withoutUrlSecrets(text!), shown)
  }
})
