// The hardware drivers: all that there are, and how each is made from the configuration.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { FakeHardware } from '../metal/drivers/fake.ts'
import { Ipmi } from '../metal/drivers/ipmi/driver.ts'
import { type Drivers, driversOf } from '../metal/drivers/registry.ts'
import { limits } from '../shared/limits.ts'
import { programAt } from '../shared/program-at.ts'

const path = process.env['PATH'] ?? ''
const pause = (ms: number, signal?: AbortSignal) => sleep(ms, null, { ref: false, ...(signal && { signal }) })

export function driversFor({ fakeDelayMs }: Config): Drivers {
  return driversOf(
    new FakeHardware({ delayMs: fakeDelayMs, pause }),
    new Ipmi({ file: programAt('ipmitool', path), path, pause, pauseMs: limits.ipmiPauseMs }),
  )
}
