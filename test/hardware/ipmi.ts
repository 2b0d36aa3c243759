// ipmi for the suite of all drivers, on BMCs that OpenIPMI simulates.
import { Ipmi } from '../../src/metal/drivers/ipmi/driver.ts'
import { type Bmc, ipmitool, startBmc } from '../support/ipmi-sim.ts'
import type { Tested, TestedMachine } from './suite.ts'

interface IpmiMachine extends TestedMachine {
  bmc: Bmc
}

export function ipmi(): Tested {
  const open: Bmc[] = []
  return {
    driver: 'ipmi',
    make: () => new Ipmi({ file: ipmitool, path: process.env['PATH'] ?? '', pauseMs: 0, pause: async () => {} }),
    machine: async (): Promise<IpmiMachine> => {
      const bmc = await startBmc()
      open.push(bmc)
      bmc.setPower('1')
      return {
        bmc,
        driverInfo: bmc.driverInfo,
        instanceInfo: {},
        power: () => (bmc.power() === '1' ? 'power on' : 'power off'),
        left: () => (bmc.boot() === 'default' ? [] : [bmc.boot()]),
        // The boot device may be set again: that changes nothing.
        deeds: () => bmc.deeds().filter(deed => deed.startsWith('power')),
      }
    },
    secrets: ['s3cret'],
    failures: [
      {
        name: 'a BMC that is gone',
        happens: machine => void (machine as IpmiMachine).bmc.crash(),
        says: /Nobody answered at ipmi_address port/,
      },
    ],
    stop: async () => {
      await Promise.all(open.map(bmc => bmc[Symbol.asyncDispose]()))
    },
  }
}
