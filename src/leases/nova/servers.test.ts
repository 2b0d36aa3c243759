import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Nova, NovaServer } from '../../nova/port.ts'
import { clearFlavor } from './servers.ts'

const server = (id: string, flavor: string | null): NovaServer => ({
  id,
  project_id: 'p',
  status: 'ACTIVE',
  task: null,
  host: 'c1',
  flavor,
})

test('only servers that say that they have the flavor are deleted, whatever the list has', async () => {
  const deleted: string[] = []
  const nova = {
    serversOfFlavor: () =>
      Promise.resolve([server('ours', 'reservation:r1'), server('other', 'm1.small'), server('silent', null)]),
    deleteServer: (id: string) => {
      deleted.push(id)
      return Promise.resolve('accepted')
    },
  } as unknown as Nova
  const { left } = await clearFlavor({ nova, attempts: 0, hold: () => Promise.resolve() }, 'r1', new Set())
  assert.deepEqual([deleted, left], [['ours'], 1])
})
