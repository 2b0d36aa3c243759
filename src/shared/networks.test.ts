import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPublic, isWithin, networksIn } from './networks.ts'

test('addresses that lead inside are not public, in whatever form', () => {
  const inside = [
    '0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.0.1 169.254.169.254 172.31.255.255 192.168.0.1 198.18.0.1 224.0.0.1',
    '255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:a9fe:a9fe ::ffff:8.8.8.8% 64:ff9b::7f00:1 fe80::1',
    'fc00::1 fd12:3456::1 ff02::1 2001:db8::1 2001::1 2002:7f00:1:: ::7f00:1 not-an-address',
  ]
  for (const address of inside.join(' ').split(' ')) assert.ok(!isPublic(address), address)
  for (const address of '8.8.8.8 172.32.0.1 100.128.0.1 2606:4700::1111 2a00:1450:4001:80b::200e'.split(' ')) {
    assert.ok(isPublic(address), address)
  }
})

test('a list of networks holds addresses of both families, and mapped ones', () => {
  const networks = networksIn('10.0.0.0/8, ::1,192.0.2.7', word => new Error(word))
  for (const address of ['10.9.9.9', '::1', '192.0.2.7', '::ffff:10.0.0.1'])
    assert.ok(isWithin(networks, address), address)
  for (const address of ['11.0.0.1', '::2', '192.0.2.8', 'ten']) assert.ok(!isWithin(networks, address), address)
  for (const wrong of ['10.0.0.0/33', 'x', '10.0.0.0/8/8', '::/129', ''])
    assert.throws(() => networksIn(wrong, word => new Error(`no: ${word}`)), /no: /)
})
