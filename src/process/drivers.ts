// The hardware drivers: all that there are, and how each is made from the configuration.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { namesOf } from '../identity/seen-names.ts'
import { FakeHardware } from '../metal/drivers/fake.ts'
import { Ipmi } from '../metal/drivers/ipmi/driver.ts'
import { Manual } from '../metal/drivers/manual/manual.ts'
import { RedfishHardware } from '../metal/drivers/redfish/driver.ts'
import { Bmcs } from '../metal/drivers/redfish/pool.ts'
import { type Drivers, driversOf } from '../metal/drivers/registry.ts'
import { limits } from '../shared/limits.ts'
import { programAt } from '../shared/program-at.ts'
import { headersFor } from '../webhooks/signature.ts'
import type { Context } from './context.ts'

/** What drivers need of the process. */
type Surroundings = Pick<Context, 'store' | 'clock'>

const path = process.env['PATH'] ?? ''
const pause = (ms: number, signal?: AbortSignal) => sleep(ms, null, { ref: false, signal })

export function driversFor({ fakeDelayMs, mediaUrl, hooks }: Config, { store, clock }: Surroundings): Drivers {
  return driversOf(
    new FakeHardware({ delayMs: fakeDelayMs, pause }),
    new RedfishHardware({ mediaUrl, bmcs: new Bmcs(), pause }),
    new Ipmi({ file: programAt('ipmitool', path), path, pause, pauseMs: limits.ipmiPauseMs }),
    new Manual({
      hooks,
      sign: ({ id, body, secret }) => headersFor({ id, body, secrets: [secret] }, clock.now()),
      namesOf: ({ user, project }) => store.read(() => namesOf({ user, project })),
    }),
  )
}
