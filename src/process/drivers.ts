// The hardware drivers: all that there are, and how each is made from the configuration.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { FakeHardware } from '../metal/drivers/fake.ts'
import { RedfishHardware } from '../metal/drivers/redfish/driver.ts'
import { Bmcs } from '../metal/drivers/redfish/pool.ts'
import { type Drivers, driversOf } from '../metal/drivers/registry.ts'

const pause = (ms: number, signal?: AbortSignal) => sleep(ms, null, { ref: false, signal })

export function driversFor({ fakeDelayMs, mediaUrl }: Config): Drivers {
  return driversOf(
    new FakeHardware({ delayMs: fakeDelayMs, pause }),
    new RedfishHardware({ mediaUrl, bmcs: new Bmcs(), pause }),
  )
}
