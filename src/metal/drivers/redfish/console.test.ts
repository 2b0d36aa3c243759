import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, Machine } from '../port.ts'
import { readConsole } from './console.ts'

const ask = (redfish_address: string, ...managers: Json[]) => {
  const bmc = { managers: async () => managers.map(body => ({ path: '/', body })) }
  const machine = { driverInfo: { redfish_address } as Json } as Machine
  return readConsole({ bmc, machine } as unknown as Parameters<typeof readConsole>[0])
}

test('the console is the page of the BMC, where a manager has a graphical console', async () => {
  const screen = { GraphicalConsole: { ServiceEnabled: true } }
  const link = (url: string) => ({ console: { kind: 'link', url } })
  assert.deepEqual(await ask('https://user:secret@bmc.lab/redfish', {}, screen), link('https://bmc.lab/'))
  assert.deepEqual(await ask('10.0.0.1', screen), link('https://10.0.0.1/'))
  assert.deepEqual(await ask('10.0.0.1', { GraphicalConsole: { ServiceEnabled: false } }), { console: null })
  assert.deepEqual(await ask('10.0.0.1'), { console: null })
})
