import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Problem } from '../../problems/problem.ts'
import { Request } from '../frame/request.ts'
import { listCandidates } from './allocation-candidates.ts'
import { candidateQueryOf } from './candidate-query-text.ts'
import { parseCandidateQuery } from './candidate-query.ts'
import { placement } from './dialect.ts'
import { negotiate } from './versions.ts'

const AGGREGATE = '4e8e5957-649f-477b-9e5b-f1f75b21c03c'

function parse(query: string, version = 'latest') {
  const raw = { url: `/placement/allocation_candidates?${query}`, headers: {} }
  const request = new Request(placement, undefined as never, raw as never)
  request.route = { handle: listCandidates, action: null }
  request.negotiated = negotiate(`placement ${version}`)
  return parseCandidateQuery(request)
}
const kindOf = (query: string, version = 'latest') => {
  try {
    parse(query, version)
    return null
  } catch (error) {
    if (error instanceof Problem) return error.kind
    throw error
  }
}

describe('a candidate query', () => {
  test('is read once for each version', () => {
    const query = 'resources=VCPU:1&limit=7'
    assert.equal(parse(query), parse(query))
    assert.equal(parse(query, '1.39').nested, true)
    assert.equal(parse(query, '1.28').nested, false)
    assert.equal(kindOf(query, '1.15'), 'invalid_query')
    const long = `resources=VCPU:1&required=in:${Array.from({ length: 200 }, (_, i) => `CUSTOM_${i}`).join()}`
    assert.notEqual(parse(long), parse(long), 'a long one is not kept')
    assert.deepEqual(parse(long), parse(long))
  })

  test('written back as text means the same', () => {
    for (const query of [
      'resources=VCPU:1',
      'resources=VCPU:1,DISK_GB:5&required=A,!B&required=in:C,D&limit=3',
      `resources1=VCPU:1&member_of1=${AGGREGATE}&member_of1=!in:${AGGREGATE},${AGGREGATE}&in_tree1=${AGGREGATE}`,
      'resources_a=VCPU:1&required_b=A&group_policy=isolate&same_subtree=_a,_b&root_required=X,!Y',
    ]) {
      const meant = parse(query)
      assert.deepEqual(parse(candidateQueryOf(meant)), meant, query)
    }
  })

  test('groups are told apart by their suffix', () => {
    const { groups } = parse('resources=VCPU:1&resources1=VCPU:2&required1=A')
    assert.deepEqual(
      groups.map(group => [group.suffix, group.resources[0]?.amount, group.required]),
      [
        ['', 1, []],
        ['1', 2, [['A']]],
      ],
    )
  })

  test('a single-valued parameter may not be repeated', () => {
    for (const more of ['resources=VCPU:2', 'resources1=VCPU:1&resources1=VCPU:2', 'in_tree=U&in_tree=U']) {
      assert.equal(kindOf(`resources=VCPU:1&${more}`), 'query_duplicate_key', more)
    }
  })

  test('of a repeated limit or group policy the first value counts, and is checked', () => {
    const { limit, groupPolicy } = parse('resources=VCPU:1&limit=3&limit=4&group_policy=none&group_policy=isolate')
    assert.deepEqual([limit, groupPolicy], [3, 'none'])
    assert.equal(kindOf('resources=VCPU:1&limit=many&limit=1'), 'invalid_query')
  })

  test('parameters that a version does not have are refused', () => {
    assert.equal(kindOf('resources=VCPU:1&limit=1', '1.15'), 'invalid_query')
    assert.equal(kindOf('resources=VCPU:1&limit=1', '1.16'), null)
    assert.equal(kindOf('resources_a=VCPU:1', '1.32'), 'invalid_query')
    assert.equal(kindOf('resources_a=VCPU:1', '1.33'), null)
    assert.equal(kindOf('resources=VCPU:1&required=in:A,B', '1.38'), 'invalid_query')
  })

  test('each mistake in the whole query has its kind of problem', () => {
    assert.equal(kindOf('required1=A&same_subtree=1'), 'query_missing_value')
    assert.equal(kindOf('resources=VCPU:1&required1=A'), 'query_bad_value')
    assert.equal(kindOf('resources1=VCPU:1&same_subtree=1,2'), 'query_bad_value')
    assert.equal(kindOf('resources=VCPU:1&root_required=A&root_required=B'), 'query_duplicate_key')
    assert.equal(kindOf('resources=VCPU:1&root_required=A,!A'), 'query_bad_value')
    assert.equal(kindOf('resources1=VCPU:1&resources2=VCPU:1'), 'invalid_query')
    assert.equal(kindOf('resources=VCPU:1&required=A,!A'), 'invalid_query')
  })
})
