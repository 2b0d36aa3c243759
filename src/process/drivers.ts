// The hardware drivers: all that there are, and how each is made from the configuration.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { FakeHardware } from '../metal/drivers/fake.ts'
import { Ipmi } from '../metal/drivers/ipmi/driver.ts'
import { Manual, type ManualOptions } from '../metal/drivers/manual/manual.ts'
import { RedfishHardware } from '../metal/drivers/redfish/driver.ts'
import { Bmcs } from '../metal/drivers/redfish/pool.ts'
import { type Drivers, driversOf } from '../metal/drivers/registry.ts'
import { limits } from '../shared/limits.ts'
import { programAt } from '../shared/program-at.ts'
import { UsageError } from '../shared/usage-error.ts'
import { headersFor } from '../webhooks/signature.ts'

/** What drivers need of the process. */
interface Surroundings {
  now: () => number
  /** What the holder of a machine is called. */
  namesOf: ManualOptions['namesOf']
}

const path = process.env['PATH'] ?? ''
const pause = (ms: number, signal?: AbortSignal) => sleep(ms, null, { ref: false, signal })

export function driversFor({ fakeDelayMs, mediaUrl, hooks }: Config, { now, namesOf }: Surroundings): Drivers {
  return driversOf(
    new FakeHardware({ delayMs: fakeDelayMs, pause }),
    new RedfishHardware({ mediaUrl, bmcs: new Bmcs(), pause }),
    new Ipmi({ file: programAt('ipmitool', path), path, pause, pauseMs: limits.ipmiPauseMs }),
    new Manual({
      hooks,
      sign: ({ id, body, secret }) => headersFor({ id, body, secrets: [secret] }, now()),
      namesOf,
    }),
  )
}

/**
 * The drivers that the conductor of this process offers: those that are named, else all that can work on this machine.
 * Every process knows all drivers; only these are worked with.
 */
export function enabledDrivers({ enabledDrivers: named }: Pick<Config, 'enabledDrivers'>, all: Drivers): Drivers {
  const names = named
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '')
  if (names.length === 0) return driversOf(...[...all.values()].filter(driver => (driver.lacks?.() ?? null) === null))
  return driversOf(
    ...names.map(name => {
      const driver = all.get(name)
      if (!driver) {
        throw new UsageError(`enabled-drivers: there is no driver '${name}'; there are ${[...all.keys()].join(', ')}`)
      }
      const lack = driver.lacks?.() ?? null
      if (lack !== null) throw new UsageError(`enabled-drivers: ${name} can't work on this machine: ${lack}`)
      return driver
    }),
  )
}
