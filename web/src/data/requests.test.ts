import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Allocation } from '../../../src/client/allocations.ts'
import { nextName, requestLike } from './requests.ts'

test('a request that is asked for again has the next name', () => {
  assert.equal(nextName('train'), 'train-2')
  assert.equal(nextName('train-2'), 'train-3')
  assert.equal(nextName('a-09'), 'a-10')
})

test('a request like another lasts and waits as long as that one was to', () => {
  const allocation = {
    uuid: 'u',
    name: 'train',
    resource_class: 'gpu',
    traits: ['CUSTOM_A', 'CUSTOM_B'],
    created_at: '2026-11-16T10:00:00+00:00',
    expires_at: '2026-11-17T10:00:00+00:00',
    wait_until: '2026-11-16T12:00:00+00:00',
    note: null,
    owner: 'p1',
    extra: { a: 1 },
    candidate_nodes: ['n1'],
  } as unknown as Allocation
  assert.deepEqual(requestLike({ allocation }, { withoutTraits: ['CUSTOM_A'] }), {
    name: 'train-2',
    resource_class: 'gpu',
    traits: ['CUSTOM_B'],
    candidate_nodes: ['n1'],
    owner: 'p1',
    extra: { a: 1 },
    expires_at: '86400s',
    wait_until: '7200s',
  })
  const other = requestLike({ allocation }, { kind: 'cpu', withoutCandidates: true })
  assert.deepEqual([other.resource_class, other.candidate_nodes], ['cpu', undefined])
})
