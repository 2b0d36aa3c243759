import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageError } from '../shared/usage-error.ts'
import { isAddress, trustOf } from './forwarded.ts'

const isTrusted = (setting: string, address: string, hop = 0) => {
  const trust = trustOf(setting)
  return trust !== false && trust(address, hop)
}

test('a number trusts that many nearest proxies, at any address', () => {
  assert.equal(trustOf('0'), false)
  assert.deepEqual(
    [0, 1, 2].map(hop => isTrusted('2', '192.0.2.1', hop)),
    [true, true, false],
  )
})

test('a list trusts any number of proxies at these addresses and networks', () => {
  const setting = '10.0.0.0/8, 192.0.2.7,2001:db8::/32, ::1'
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.7', '2001:db8:1::5', '::1']) {
    assert.equal(isTrusted(setting, address, 7), true, address)
  }
  for (const address of ['11.0.0.1', '::ffff:11.0.0.1', '192.0.2.8', '2001:db9::1', '::2', 'proxy', '']) {
    assert.equal(isTrusted(setting, address), false, address)
  }
})

test('a word that is neither a number nor a network is refused', () => {
  for (const wrong of [
    'proxy.example',
    '10.0.0.0/33',
    '10.0.0.0/8/8',
    '::1/129',
    '1.2.3',
    '100',
    '10.0.0.1,',
    '10.0.0.1/',
  ]) {
    assert.throws(() => trustOf(wrong), UsageError, wrong)
  }
})

test('text that only begins like an address is no address', () => {
  for (const address of ['192.0.2.1', '::1', '2001:db8::1', '::ffff:192.0.2.1']) assert.equal(isAddress(address), true)
  for (const text of ['', 'unknown', '192.0.2.1:80', '[::1]', `fe80::1%${'x'.repeat(1_000)}`, '1; drop table audit']) {
    assert.equal(isAddress(text), false, text)
  }
})
