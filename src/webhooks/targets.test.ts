import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { test } from 'node:test'
import { Problem } from '../problems/problem.ts'
import { networksIn } from '../shared/networks.ts'
import { lookupFor, requireReachable, targetIn, type TargetRules } from './targets.ts'

const CLOSED: TargetRules = { allowed: new BlockList(), mailDomains: null }
const OPEN: TargetRules = {
  allowed: networksIn('127.0.0.0/8, ::1, 10.0.0.0/8', word => new Error(word)),
  mailDomains: ['example.org'],
}
const refusal = (url: string, rules = CLOSED) => {
  try {
    targetIn(url, rules)
  } catch (error) {
    assert.ok(error instanceof Problem, String(error))
    assert.equal(error.kind, 'webhook_invalid')
    return error.message
  }
  return null
}

test('addresses inside are refused, in every way to write them, unless they are allowed', () => {
  const inside = [
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]:8443/',
    'https://10.0.0.1/x',
  ]
  for (const url of inside) {
    assert.match(refusal(url) ?? '', /is inside/, url)
    assert.equal(refusal(url, OPEN), null, url)
  }
  for (const url of ['https://169.254.169.254/latest', 'https://[fd00::1]/', 'https://[64:ff9b::7f00:1]/']) {
    assert.match(refusal(url, OPEN) ?? '', /is inside/, url)
  }
})

test('http is for allowed networks; users, fragments, other protocols and their ports are refused', () => {
  assert.equal(refusal('https://8.8.8.8/'), null)
  assert.equal(refusal('https://example.org:8443/a?b=c'), null)
  assert.match(refusal('http://8.8.8.8/') ?? '', /must be https/)
  assert.equal(refusal('http://10.0.0.1:9000/', OPEN), null)
  assert.match(refusal('https://me:secret@example.org/') ?? '', /no user and no password/)
  assert.match(refusal('https://example.org/#x') ?? '', /fragment/)
  assert.match(refusal('https://example.org:25/') ?? '', /Port 25/)
  for (const url of ['ftp://example.org/', 'file:///etc/passwd', 'example.org', '', 'javascript:1', 'https://']) {
    assert.match(refusal(url) ?? '', /must be an https/, url)
  }
  assert.match(refusal(`https://example.org/${'x'.repeat(2_000)}`) ?? '', /at most 2000 characters/)
})

test('mail goes to one address in a domain of the operator', () => {
  assert.match(refusal('mailto:alice@example.org') ?? '', /sends no mail/)
  assert.equal(refusal('mailto:alice@example.org', OPEN), null)
  assert.equal(refusal('mailto:alice@Example.ORG', OPEN), null)
  const wrong = ['alice@example.com', 'alice@evil.example.org', 'alice@example.org,bob@example.org', 'alice']
  const odd = ['a@example.org?cc=b@x.org', 'a%0d%0aBcc:b@example.org', '"a b"@example.org', 'a@example.org\r\nx', '']
  const routes = [
    'evil.com!bob@example.org',
    '|cat@example.org',
    '/etc/motd@example.org',
    '-f@example.org',
    '.a@example.org',
  ]
  for (const person of ['o.brien+lab', "o'brien", 'a_b-c', '_x'])
    assert.equal(refusal(`mailto:${person}@example.org`, OPEN), null)
  for (const address of [...wrong, ...odd, ...routes])
    assert.notEqual(refusal(`mailto:${address}`, OPEN), null, address)
})

test('a name that leads inside is refused when it is registered, and again when it is connected to', async () => {
  const url = new URL('https://localhost/')
  await assert.rejects(requireReachable(url, CLOSED), /is inside/)
  await requireReachable(url, OPEN)
  const found = (rules: TargetRules) =>
    new Promise((resolve, reject) => {
      lookupFor(url, rules)('localhost', { all: true }, (error, addresses) =>
        error ? reject(error) : resolve(addresses),
      )
    })
  await assert.rejects(found(CLOSED), /leads inside/)
  assert.ok(((await found(OPEN)) as unknown[]).length > 0)
})
