// The story of a provider and its claims, told with the real `openstack` command.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eachStore } from '../support/stores.ts'
import { missing, openstack } from './openstack.ts'

const skip = missing('python3-openstackclient', 'python3-osc-placement')
const CONSUMER = '6f6a1a0e-7d8e-4f4f-9a44-0d6b8e9b6f01'

describe('openstack resource provider', { skip }, () => {
  eachStore(
    'the openstack command',
    api => {
      test('makes a provider, gives it inventory and traits, finds and claims it, and takes all of it back', async () => {
        const run = (...args: string[]) => openstack(`${api.origin}/placement`, ...args)
        const json = (...args: string[]) => run(...args, '-f', 'json')

        const { uuid } = (await json('resource', 'provider', 'create', 'rack1-node1')) as { uuid: string }
        await run(
          'resource',
          'provider',
          'inventory',
          'set',
          uuid,
          '--resource',
          'VCPU=16',
          '--resource',
          'MEMORY_MB=65536',
        )
        await run('trait', 'create', 'CUSTOM_A100')
        await run('resource', 'provider', 'trait', 'set', '--trait', 'CUSTOM_A100', uuid)

        const found = await json('allocation', 'candidate', 'list', '--resource', 'VCPU=2', '--required', 'CUSTOM_A100')
        assert.deepEqual(
          (found as Record<string, string>[]).map(candidate => [
            candidate['resource provider'],
            candidate['allocation'],
          ]),
          [[uuid, 'VCPU=2']],
        )

        const owner = ['--project-id', 'p', '--user-id', 'u', '--consumer-type', 'INSTANCE']
        await run('resource', 'provider', 'allocation', 'set', CONSUMER, '--allocation', `rp=${uuid},VCPU=2`, ...owner)
        assert.deepEqual(await json('resource', 'provider', 'usage', 'show', uuid), [
          { resource_class: 'VCPU', usage: 2 },
          { resource_class: 'MEMORY_MB', usage: 0 },
        ])
        await assert.rejects(run('resource', 'provider', 'delete', uuid), /has allocations/)

        await run('resource', 'provider', 'allocation', 'delete', CONSUMER)
        await run('resource', 'provider', 'delete', uuid)
        assert.deepEqual(await json('resource', 'provider', 'list'), [])
      })
    },
    { auth: 'none' },
  )
})
