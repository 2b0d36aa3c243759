// fake-hardware for the suite of all drivers: there is nothing to look at from outside.
import { FakeHardware } from '../../src/metal/drivers/fake.ts'
import type { Tested } from './suite.ts'

export const fakeHardware = (): Tested => ({
  driver: 'fake-hardware',
  make: () => new FakeHardware({ delayMs: 0, pause: async () => {} }),
  machine: async () => ({
    driverInfo: {},
    instanceInfo: {},
    power: () => null,
    left: () => [],
    deeds: () => [],
  }),
  stop: async () => {},
})
