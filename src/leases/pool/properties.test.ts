import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Problem } from '../../problems/problem.ts'
import { keysOf, matches, parseProperties } from './properties.ts'

const host: Record<string, string | number> = { vcpus: 16, hypervisor_hostname: 'compute-1', gpu: 'yes', slots: '9' }
const finds = (query: unknown) =>
  matches(parseProperties(typeof query === 'string' ? query : JSON.stringify(query)), key => host[key])

describe('resource properties', () => {
  it('empty ones match every host', () => {
    assert.ok(finds(''))
    assert.ok(finds('[]'))
    assert.ok(finds('  '))
  })

  it('columns that are numbers are compared as numbers', () => {
    assert.ok(finds(['>=', '$vcpus', '9']))
    assert.ok(finds(['=', '$vcpus', '16.0']))
    assert.ok(!finds(['<', '$vcpus', '9']))
    assert.ok(!finds(['=', '$vcpus', 'many']))
    assert.ok(!finds(['!=', '$vcpus', 'many']))
  })

  it('capabilities are compared as words', () => {
    assert.ok(finds(['==', '$gpu', 'yes']))
    assert.ok(finds(['!=', '$gpu', 'no']))
    assert.ok(finds(['>', '$slots', '16']), 'as words 9 comes after 16')
  })

  it('a key that a host lacks matches nothing', () => {
    assert.ok(!finds(['=', '$ssd', 'yes']))
    assert.ok(!finds(['!=', '$ssd', 'yes']))
    assert.ok(finds(['or', ['=', '$ssd', 'yes'], ['=', '$gpu', 'yes']]))
  })

  it('and, or and nesting mean what they say', () => {
    assert.ok(finds(['and', ['=', '$gpu', 'yes'], ['>', '$vcpus', '8'], ['<', '$vcpus', '32']]))
    assert.ok(!finds(['and', ['=', '$gpu', 'yes'], ['and', ['>', '$vcpus', '8'], ['>', '$vcpus', '32']]]))
    assert.ok(
      finds(['or', ['and', ['=', '$gpu', 'no'], ['>', '$vcpus', '8']], ['=', '$hypervisor_hostname', 'compute-1']]),
    )
    assert.deepEqual(keysOf(parseProperties('["or", ["=", "$a", "1"], ["and", ["=", "$b", "2"]]]')), ['a', 'b'])
  })

  it('malformed ones are refused', () => {
    const bad = ['{', '{}', '"x"', '3', '["="]', '["=", "$a"]', '["~", "$a", "b"]', '["=", "a", "b"]', '["and"]']
    const deep = `${'["and", '.repeat(2_000)}["=", "$a", "b"]${']'.repeat(2_000)}`
    for (const text of [
      ...bad,
      '["=", "$", "b"]',
      '["=", "$a", null]',
      '["and", "x"]',
      '["constructor", "$a", "b"]',
      deep,
    ]) {
      assert.throws(
        () => parseProperties(text),
        (error: unknown) => error instanceof Problem && error.kind === 'lease_invalid',
        text.slice(0, 40),
      )
    }
  })
})
