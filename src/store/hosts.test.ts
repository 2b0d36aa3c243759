import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageError } from '../shared/usage-error.ts'
import { StoreUnavailable } from './failure.ts'
import { Hosts, parseAddress } from './hosts.ts'
import { Pools } from './pools.ts'

const urlsOf = (url: string) => parseAddress(url).urls

test('an address of one host stays as it is', () => {
  for (const url of [
    'postgres://u:p%40w@db:5433/x',
    'postgres://u@%2Frun%2Fpg/x',
    'postgresql://[::1]:5/x?sslmode=disable',
  ])
    assert.deepEqual(urlsOf(url), [url])
})

test('hosts before the path, or named in the query, are each an address', () => {
  assert.deepEqual(urlsOf('postgres://u:s@a:1,b,[::2]:3/x?sslmode=disable'), [
    'postgres://u:s@a:1/x?sslmode=disable',
    'postgres://u:s@b/x?sslmode=disable',
    'postgres://u:s@[::2]:3/x?sslmode=disable',
  ])
  assert.deepEqual(urlsOf('postgres://u@/x?host=/run/a,b&port=1,2'), [
    'postgres://u@/x?host=%2Frun%2Fa&port=1',
    'postgres://u@/x?host=b&port=2',
  ])
  assert.deepEqual(urlsOf('postgres://u@/x?host=a,b&port=7'), [
    'postgres://u@/x?host=a&port=7',
    'postgres://u@/x?host=b&port=7',
  ])
  assert.throws(() => urlsOf('postgres://u@/x?host=a,b,c&port=7,8'), UsageError)
})

test('only a server that takes writes will do, unless any is asked for', () => {
  assert.equal(parseAddress('postgres://a,b/x').isAnyGood, false)
  assert.equal(parseAddress('postgres://a,b/x?target_session_attrs=primary').isAnyGood, false)
  assert.equal(parseAddress('postgres://a,b/x?target_session_attrs=any').isAnyGood, true)
  assert.throws(() => parseAddress('postgres://a,b/x?target_session_attrs=standby'), UsageError)
})

test('settings in the address are kept beside ours', () => {
  assert.deepEqual(parseAddress('postgres://a/x?options=-c%20search_path%3Dours'), {
    urls: ['postgres://a/x'],
    options: '-c search_path=ours',
    isAnyGood: false,
  })
})

test('a host is used until it fails, and repeated reports of one failure count once', () => {
  const hosts = new Hosts('postgres://a,b/x')
  const first = hosts.current
  hosts.failed(first)
  hosts.failed(first)
  assert.equal(hosts.current, 'postgres://b/x')
  hosts.failed(hosts.current)
  assert.equal(hosts.current, first)
})

test('a server of an older timeline was left behind, and one of a newer timeline was promoted since', () => {
  const hosts = new Hosts('postgres://a,b/x')
  const at = (timeline: number, system = 'ours') => ({ system, timeline, eras: {} })
  assert.equal(
    hosts.isAhead(at(9)) || hosts.isBehind(at(0)),
    false,
    'before the first there is nothing to compare with',
  )
  hosts.adopt('postgres://b/x', at(3))
  assert.equal(hosts.current, 'postgres://b/x')
  assert.deepEqual(
    [2, 3, 4].map(timeline => [hosts.isBehind(at(timeline)), hosts.isSame(at(timeline)), hosts.isAhead(at(timeline))]),
    [
      [true, false, false],
      [false, true, false],
      [false, false, true],
    ],
  )
  for (const timeline of [2, 3, 4]) {
    const other = at(timeline, 'another')
    assert.deepEqual([hosts.isBehind(other), hosts.isSame(other), hosts.isAhead(other)], [false, false, false])
  }
})

test('a server without the name of the timeline that we know is a fork, whatever its number', () => {
  const hosts = new Hosts('postgres://a,b/x')
  const at = (timeline: number, eras: Record<string, string>) => ({ system: 'ours', timeline, eras })
  const judged = (lineage: ReturnType<typeof at>) => [
    hosts.isSame(lineage),
    hosts.isAhead(lineage),
    hosts.isFork(lineage),
  ]
  hosts.adopt('postgres://a/x', at(3, { 2: 'two' }))
  assert.equal(hosts.era, null)
  assert.deepEqual(judged(at(3, { 2: 'two', 3: 'other' })), [true, false, false], 'as long as its name is unknown')
  hosts.adopt('postgres://a/x', at(3, { 2: 'two', 3: 'three' }))
  assert.equal(hosts.era, 'three')
  assert.deepEqual(judged(at(3, { 2: 'two', 3: 'three' })), [true, false, false])
  assert.deepEqual(judged(at(3, { 2: 'two', 3: 'other' })), [false, false, true])
  assert.deepEqual(judged(at(3, { 2: 'two' })), [false, false, true])
  assert.deepEqual(judged(at(4, { 3: 'three' })), [false, true, false])
  assert.deepEqual(judged(at(4, { 3: 'other', 4: 'four' })), [false, false, true])
  assert.deepEqual(judged(at(2, { 2: 'two' })), [false, false, false], 'left behind, which is another matter')
  for (const refused of [at(2, {}), at(3, {}), at(4, {})]) assert.match(hosts.refusalOf(refused)!, /restart all/)
  assert.equal(hosts.refusalOf(at(4, { 3: 'three' })), null)
})

test('once a host has failed, all are looked at again', () => {
  const hosts = new Hosts('postgres://a,b/x')
  hosts.isSurveyed = true
  hosts.failed('postgres://b/x')
  assert.equal(hosts.isSurveyed, false)
})

test('a malformed address fails the request for a connection, and does not fail the close', async () => {
  const pools = new Pools('postgres://[::1/x', 2)
  await assert.rejects(pools.take(pools.writes), StoreUnavailable)
  await pools.close()
})
