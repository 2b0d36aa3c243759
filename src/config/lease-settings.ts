// The settings for leases.
import { minutes, orNull, type Setting, text } from './kinds.ts'
import { mask } from './mask.ts'
import { Type } from '../shared/type.ts'

export const LEASE_SETTINGS = {
  leaseBeforeEndMinutes: {
    flag: 'lease-before-end-minutes <number>',
    is: minutes,
    fallback: 60,
    help: 'minutes between the event before the end of a lease or an allocation and that end; 0 for no such event',
  },
  leaseCleaningMinutes: {
    flag: 'lease-cleaning-minutes <number>',
    is: minutes,
    fallback: 0,
    help: 'minutes that a host or node stays free between two leases',
  },
  leaseHealingMinutes: {
    flag: 'lease-healing-minutes <number>',
    is: minutes,
    fallback: 60,
    help: "leases that start within this time move away from hosts that are down and nodes that can't be used; 0 for all",
  },
  leaseSecondsMax: {
    flag: 'lease-seconds-max <number>',
    is: Type.Integer({ minimum: 0 }),
    fallback: 0,
    help: 'longest lease; 0 for no limit',
  },
  leaseExemptProjects: {
    flag: 'lease-exempt-projects <list>',
    is: Type.String({ pattern: '^[^\\s]*$' }),
    fallback: '',
    help: 'projects that no limit on leases is for, with commas between them',
  },
  leaseHoursMax: {
    flag: 'lease-hours-max <number>',
    is: Type.Integer({ minimum: 0 }),
    fallback: 0,
    help: 'hours of leases that a project may have before it at once; 0 for no limit',
  },
  leaseServiceUrl: {
    flag: 'lease-service-url <url>',
    is: orNull(Type.String({ pattern: '^https?://.+' })),
    fallback: null,
    help: 'a service that is asked before a lease is made or changed: URL/check-create, /check-update, /on-end',
    masked: mask,
  },
  leaseServiceToken: {
    flag: 'lease-service-token <token>',
    is: orNull(text),
    fallback: null,
    help: 'the X-Auth-Token that this service is called with',
    masked: () => '***',
  },
} satisfies Record<string, Setting>
