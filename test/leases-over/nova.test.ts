// Leases over a Nova.
import { eachTestCloud } from './clouds.ts'
import { hostSuite } from './hosts.ts'
import { leaseSuite } from './suite.ts'

eachTestCloud('leases over a Nova', 'nova', leaseSuite)
eachTestCloud('hosts of leases over a Nova', 'nova', hostSuite)
