import assert from 'node:assert/strict'
import { test } from 'node:test'
import { machineHref } from './machine-href.ts'

test('a machine is found by its name, and by its uuid where the name is none, or a step in an address', () => {
  const hrefs = ['gpu-1', 'status', '...', '..', '.', null].map(name => machineHref({ name, uuid: 'u' }))
  const idents = hrefs.map(href => new URL(href, 'http://here').pathname.replace('/ui/machine/', ''))
  assert.deepEqual(idents, ['gpu-1', 'status', '...', 'u', 'u', 'u'])
})
