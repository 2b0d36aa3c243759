// openstacksdk with the catalog: see sdk.py for what it does.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { withCatalog } from './catalog.ts'
import { missing, runClient } from './openstack.ts'

const SCRIPT = readFileSync(new URL('sdk.py', import.meta.url), 'utf8')

void describe('openstacksdk', { skip: missing('python3-openstacksdk') }, () => {
  const { api, env } = withCatalog()

  void test('servers, nodes, allocations and providers, with its own ways to wait', async () => {
    await api.hypervisor({}, 'compute-1')
    assert.equal(await runClient('python', ['-c', SCRIPT], env()), '')
  })
})
