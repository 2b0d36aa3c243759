// redfish for the suite of all drivers, on BMCs of ours.
import { RedfishHardware } from '../../src/metal/drivers/redfish/driver.ts'
import { Bmcs } from '../../src/metal/drivers/redfish/pool.ts'
import { startBmc, type TestBmc } from '../support/bmc.ts'
import type { Tested, TestedMachine } from './suite.ts'

const ISO = 'http://images.example/boot.iso'
const DRIVE = { meta_data: { hello: 'world' } }

interface RedfishMachine extends TestedMachine {
  bmc: TestBmc
}

async function machineOn(bmc: TestBmc): Promise<RedfishMachine> {
  const { machine } = bmc
  const slots = () => [...bmc.resources.values()].filter(slot => 'Inserted' in slot)
  const changes = () => bmc.requests.filter(({ method, path }) => method !== 'GET' && !path.includes('/Sessions'))
  return {
    bmc,
    driverInfo: bmc.driverInfo(),
    instanceInfo: { boot_iso: ISO, configdrive: DRIVE },
    power: () => (machine.power === 'On' ? 'power on' : 'power off'),
    left: () => [
      ...slots().filter(slot => slot['Inserted'] === true),
      ...(machine.boot['BootSourceOverrideTarget'] === 'Hdd' ? [] : [machine.boot]),
    ],
    deeds: () => changes().map(({ method, path, body }) => `${method} ${path} ${JSON.stringify(body)}`),
  }
}

const bmcOf = (machine: TestedMachine) => (machine as RedfishMachine).bmc

export function redfish(): Tested {
  const open: { stop(): Promise<void> }[] = []
  return {
    driver: 'redfish',
    make: () =>
      new RedfishHardware({ bmcs: new Bmcs(), pause: async () => {}, mediaUrl: 'http://holdfast.example:8780' }),
    machine: async () => {
      const bmc = await startBmc()
      open.push(bmc)
      // What was there before must go: it is off afterwards, and the medium of someone else is ejected.
      bmc.machine.power = 'On'
      Object.assign(bmc.machine.cd, { Inserted: true, Image: 'http://images.example/old.iso', ConnectedVia: 'URI' })
      return machineOn(bmc)
    },
    secrets: ['secret-word', 'another'],
    failures: [
      {
        name: 'a wrong password',
        happens: machine => (bmcOf(machine).password = 'another'),
        says: /refuses the login of user redfish_username: check redfish_username and redfish_password/,
      },
      {
        name: 'a BMC that answers 503',
        happens: machine => bmcOf(machine).fail({ kind: 'busy', retryAfter: 0 }),
        says: /is busy: it answers 503/,
      },
      {
        name: 'a BMC that is gone',
        happens: machine => bmcOf(machine).fail({ kind: 'drop' }),
        says: /broke|Nobody answers/,
      },
    ],
    stop: async () => {
      await Promise.all(open.map(bmc => bmc.stop()))
    },
  }
}
