import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Config, loadConfig } from '../config/config.ts'
import { Problem } from '../problems/problem.ts'
import { requireNoForeignPage, requireOwnPage } from './pages.ts'

const isRefused = (headers: Record<string, string>, settings: Partial<Config> = {}, method = 'POST', url = '/a/b') => {
  try {
    requireNoForeignPage({ ...loadConfig({}, {}, undefined), ...settings }, { method, url, headers })
    return false
  } catch (error) {
    assert.equal((error as Problem).kind, 'foreign_page')
    return true
  }
}

test('a foreign host name that points to this server is refused', () => {
  for (const host of [
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    '[2001:db8::1]',
    '',
  ]) {
    assert.equal(isRefused({ host }), true, host)
  }
  for (const host of ['localhost', 'localhost.:80', '127.0.0.1:8780', '127.9.9.9', '[::1]:8780', 'x.localhost']) {
    assert.equal(isRefused({ host }), false, host)
  }
  assert.equal(isRefused({}), false, 'an old client that sends no Host')
})

test('on a public address, IP addresses and the configured host names are ours', () => {
  const settings = { host: '0.0.0.0', hostNames: 'Lab,holdfast.example' }
  for (const host of ['10.0.0.1:80', '[2001:db8::1]', 'lab', 'HOLDFAST.example:1']) {
    assert.equal(isRefused({ host }, settings), false, host)
  }
  assert.equal(isRefused({ host: 'evil.example' }, settings), true)
})

test('the name by which BMCs reach this server is ours', () => {
  const settings = { mediaUrl: 'http://media.lab:8780/x' }
  assert.equal(isRefused({ host: 'Media.lab:8780' }, settings), false)
  assert.equal(isRefused({ host: 'lab' }, settings), true)
})

test('a page of another site is refused, except for what everyone may read', () => {
  const host = 'localhost:8780'
  for (const origin of ['http://evil.example', 'null', 'http://localhost:3000', 'nonsense']) {
    for (const method of ['GET', 'POST', 'DELETE']) assert.equal(isRefused({ host, origin }, {}, method), true, origin)
    assert.equal(isRefused({ host, origin }, {}, 'GET', '/placement/'), false)
    assert.equal(isRefused({ host, origin }, {}, 'GET', '/ui/machine/rack-a01-06?x'), false)
    assert.equal(isRefused({ host, origin }, {}, 'POST', '/placement/'), true)
    assert.equal(isRefused({ host, origin }, {}, 'POST', '/ui/identity/v3/auth/tokens'), true)
    assert.equal(isRefused({ host, origin }, {}, 'OPTIONS'), false)
  }
  assert.equal(isRefused({ host, 'sec-fetch-site': 'cross-site' }), true)
  assert.equal(isRefused({ host, 'sec-fetch-site': 'same-origin', origin: 'http://localhost:8780' }), false)
  assert.equal(isRefused({ host, origin: 'http://ours.example' }, { corsOrigin: 'http://ours.example' }), false)
})

test('with authentication none of this is checked', () => {
  for (const auth of ['password', 'keystone'] as const) {
    assert.equal(isRefused({ host: 'evil.example', origin: 'http://evil.example' }, { auth }), false)
  }
})

test('a page of another site may not open a socket, in any mode', () => {
  const isOwn = (headers: Record<string, string>, host = 'lab.example') => {
    try {
      requireOwnPage({ corsOrigin: 'https://ui.example' }, { headers, host })
      return true
    } catch {
      return false
    }
  }
  assert.equal(isOwn({}), true)
  assert.equal(isOwn({ origin: 'https://lab.example' }), true)
  assert.equal(isOwn({ origin: 'https://ui.example' }), true)
  for (const origin of ['https://evil.example', 'null', 'https://lab.example:8443', 'https://lab.example.evil']) {
    assert.equal(isOwn({ origin }), false, origin)
  }
  assert.equal(isOwn({ 'sec-fetch-site': 'cross-site' }), false)
})
