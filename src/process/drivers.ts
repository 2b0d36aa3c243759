// The hardware drivers: all that there are, and how each is made from the configuration.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { FakeHardware } from '../metal/drivers/fake.ts'
import { RedfishHardware } from '../metal/drivers/redfish/driver.ts'
import { Bmcs } from '../metal/drivers/redfish/pool.ts'
import { type Drivers, driversOf } from '../metal/drivers/registry.ts'

export function driversFor({ fakeDelayMs }: Config): Drivers {
  return driversOf(
    new FakeHardware({ delayMs: fakeDelayMs, pause: ms => sleep(ms, null, { ref: false }) }),
    new RedfishHardware({ bmcs: new Bmcs(), pause: (ms, signal) => sleep(ms, null, { ref: false, signal }) }),
  )
}
