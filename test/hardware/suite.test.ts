// The suite of all drivers, for each of them. A new driver is a line and an adapter.
import { test } from 'node:test'
import { fakeHardware } from './fake-hardware.ts'
import { ipmi } from './ipmi.ts'
import { manual } from './manual.ts'
import { redfish } from './redfish.ts'
import { lacking } from '../support/ipmi-sim.ts'
import { suite } from './suite.ts'

for (const open of [fakeHardware, manual, redfish]) suite(open())
if (lacking === false) suite(ipmi())
else test('driver ipmi', { skip: lacking }, () => {})
