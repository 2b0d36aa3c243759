// Every malformed query is refused with the code that clients know, in every version that it is about.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import { inParallel } from '../races/clients.ts'
import { errorCode, expectStatus } from '../support/placement.ts'
import { eachStore } from '../support/stores.ts'
import { BAD_CANDIDATE_QUERIES, BAD_LIST_QUERIES, type BadQuery } from './bad-queries.ts'
import { candidates, listed, providersIn } from './questions.ts'

const CODES_SINCE = 23
const [U, V] = [randomUUID(), randomUUID()]

const filled = (query: string) =>
  query.replaceAll('TRAIT', 'HW_CPU_X86_AVX2').replace(/\b(U|V)\b/g, name => (name === 'U' ? U : V))

eachStore('queries', api => {
  let provider = ''
  before(async () => {
    provider = await api.provider({ VCPU: 4 })
  })

  const expectRefused = async (path: string, { query, from, to, code }: BadQuery) => {
    for (let minor = from; minor <= to; minor++) {
      const answer = await api.get(`${path}?${filled(query)}`, { version: `1.${minor}` })
      const where = `${query} at 1.${minor}: ${JSON.stringify(answer.body)}`
      assert.equal(answer.status, 400, where)
      assert.equal(errorCode(answer), minor >= CODES_SINCE ? code : undefined, where)
    }
  }

  for (const [path, queries] of [
    ['/allocation_candidates', BAD_CANDIDATE_QUERIES],
    ['/resource_providers', BAD_LIST_QUERIES],
  ] as const) {
    test(`of ${path} that are malformed are refused, each with its code, in each version`, async () => {
      await inParallel(8, queries.length, index => expectRefused(path, queries[index]!))
    })
  }

  test('are understood again by the first version that brought their parameter', async () => {
    const brought: [minor: number, query: string][] = [
      [10, 'resources=VCPU:1'],
      [16, 'resources=VCPU:1&limit=1'],
      [17, 'resources=VCPU:1&required=TRAIT'],
      [21, 'resources=VCPU:1&member_of=U'],
      [21, 'resources=VCPU:1&member_of=in:U,V'],
      [22, 'resources=VCPU:1&required=!TRAIT'],
      [24, 'resources=VCPU:1&member_of=U&member_of=V'],
      [25, 'resources1=VCPU:1&required1=!TRAIT'],
      [25, 'resources1=VCPU:1&resources2=VCPU:1&group_policy=isolate'],
      [31, 'resources=VCPU:1&in_tree=U'],
      [32, 'resources=VCPU:1&member_of=!in:U,V'],
      [33, 'resources_A-b=VCPU:1&resources01=VCPU:1&group_policy=none'],
      [35, 'resources=VCPU:1&root_required=!TRAIT'],
      [36, 'resources1=VCPU:1&required2=!TRAIT&same_subtree=1,2&group_policy=none'],
      [39, 'resources=VCPU:1&required=in:TRAIT,HW_CPU_X86_VMX&required=!HW_CPU_X86_SSE'],
    ]
    for (const [since, query] of brought) {
      for (let minor = since; minor <= 39; minor++) {
        expectStatus(await api.get(`/allocation_candidates?${filled(query)}`, { version: `1.${minor}` }), 200)
      }
    }
    expectStatus(await api.get('/allocation_candidates?resources=VCPU:1', { version: '1.9' }), 404)
  })

  test('before 1.39 take the last of a repeated trait list', async () => {
    const query = 'resources=VCPU:1&required=HW_CPU_X86_AVX2&required=!HW_CPU_X86_AVX2'
    assert.deepEqual(providersIn(await candidates(api, query, '1.38')), [provider])
  })

  test('about trees and aggregates that nobody has heard of find nothing', async () => {
    for (const filter of [`in_tree=${randomUUID()}`, `member_of=${U}`, `member_of=in:${U},${V}`]) {
      const { requests, summaries } = await candidates(api, `resources=VCPU:1&${filter}`)
      assert.deepEqual([requests, summaries], [[], {}])
      assert.deepEqual(await listed(api, `resources=VCPU:1&${filter}`), [])
    }
    assert.deepEqual(providersIn(await candidates(api, `resources=VCPU:1&member_of=!${U}`)), [provider])
  })

  test('in odd bytes are refused or answered, never a failure of ours', async () => {
    const odd = [
      '%00',
      '%ff',
      '%ed%a0%80',
      '%',
      '%zz',
      '\u{1f600}',
      '__proto__',
      'constructor:1',
      '9'.repeat(400),
      "';--",
    ]
    const keys = [
      'resources',
      'required',
      'member_of',
      'in_tree',
      'root_required',
      'same_subtree',
      'limit',
      '__proto__',
    ]
    for (const key of keys) {
      for (const value of odd) {
        const text = encodeURI(value).replaceAll('%25', '%')
        const answer = await api.get(`/allocation_candidates?resources1=VCPU:1&${key}=${text}`)
        assert.ok(answer.status < 500, `${key}=${text}: ${answer.status}`)
      }
    }
    for (const amount of ['2147483648', '9007199254740993', '9'.repeat(400)]) {
      assert.deepEqual((await candidates(api, `resources=VCPU:${amount}`)).requests, [])
    }
    const many = Array.from({ length: 300 }, (_, index) => `resources${index + 1}=VCPU:1`).join('&')
    expectStatus(await api.get(`/allocation_candidates?${many}&group_policy=none`), 200)
  })
})
