// The suite of all drivers, for each of them. A new driver is a line and an adapter.
import { fakeHardware } from './fake-hardware.ts'
import { manual } from './manual.ts'
import { redfish } from './redfish.ts'
import { suite } from './suite.ts'

for (const open of [fakeHardware, manual, redfish]) suite(open())
