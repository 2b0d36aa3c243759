import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requireOneHost } from './target.ts'

const ask = (url: string, ...hosts: string[]) =>
  requireOneHost({
    url,
    headers: { ...(hosts[0] !== undefined && { host: hosts[0] }) },
    rawHeaders: ['Accept', 'host', ...hosts.flatMap((host, index) => [index % 2 ? 'host' : 'Host', host])],
  })

test('a request names one host, once', () => {
  for (const [url, ...hosts] of [
    ['/healthz', 'a'],
    ['/healthz'],
    ['*', 'a'],
    ['http://a/healthz', 'a'],
    ['HTTP://A:80/healthz', 'a:80'],
    ['//evil/healthz', 'a'],
  ] as const) {
    assert.doesNotThrow(() => ask(url, ...hosts))
  }
  for (const [url, ...hosts] of [
    ['/healthz', 'a', 'b'],
    ['/healthz', 'a', 'a'],
    ['http://evil/healthz', 'a'],
    ['http://evil/healthz'],
    ['http://user@a/healthz', 'a'],
    ['ftp://a/healthz', 'a'],
  ] as const) {
    assert.throws(() => ask(url, ...hosts), { kind: 'malformed_request' })
  }
})
