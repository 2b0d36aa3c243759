// The settings of fake-hardware in driver_info.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeHardware } from './fake.ts'
import type { Machine, Site } from './port.ts'

/** The pauses of a deployment by a driver whose steps take 500 ms unless driver_info says otherwise. */
async function pausesWith(driverInfo: Record<string, unknown>): Promise<number[]> {
  const pauses: number[] = []
  const driver = new FakeHardware({ delayMs: 500, pause: async ms => void pauses.push(ms) })
  const machine = { driverInfo, interfaces: {} } as unknown as Machine
  await driver.run({ step: 'deploy', args: {}, resumed: false, attempt: '1', holder: null }, machine, {} as Site)
  return pauses
}

void test('fake_delay replaces the default delay, and 0 switches it off', async () => {
  for (const fake_delay of [2, '2', { deploy: 2 }]) assert.deepEqual(await pausesWith({ fake_delay }), [2_000])
  for (const fake_delay of [0, '0', { deploy: 0 }]) assert.deepEqual(await pausesWith({ fake_delay }), [])
})

void test('the default delay applies where fake_delay says nothing', async () => {
  assert.deepEqual(await pausesWith({}), [500])
  for (const fake_delay of [null, '', 'soon', -1, [], {}, { clean: 0 }, { deploy: null }]) {
    assert.deepEqual(await pausesWith({ fake_delay }), [500], JSON.stringify(fake_delay))
  }
})
