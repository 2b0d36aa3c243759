// Leases over our own compute.
import { eachTestCloud } from './clouds.ts'
import { hostSuite } from './hosts.ts'
import { leaseSuite } from './suite.ts'

eachTestCloud('leases over our own compute', 'own', leaseSuite)
eachTestCloud('hosts of leases over our own compute', 'own', hostSuite)
