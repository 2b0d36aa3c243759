// The settings for requests: how many at once, and how they end when the process stops.
import { limits } from '../shared/limits.ts'
import { Type } from '../shared/type.ts'
import type { Setting } from './kinds.ts'

export const REQUEST_SETTINGS = {
  requestsMax: {
    flag: 'requests-max <number>',
    is: Type.Integer({ minimum: 2, maximum: 100_000 }),
    fallback: limits.requestsMax,
    help: 'most requests in flight at once; further ones are told to come back',
  },
  requestShare: {
    flag: 'request-share <percent>',
    is: Type.Integer({ minimum: 1, maximum: 100 }),
    fallback: limits.requestSharePercent,
    help: 'the part of these that one project or address may have once half of them are taken',
  },
  streamsMax: {
    flag: 'streams-max <number>',
    is: Type.Integer({ minimum: 1, maximum: 100_000 }),
    fallback: limits.streamsMax,
    help: 'most streams of events at once; further ones are told to come back',
  },
  lingerMs: {
    flag: 'linger-ms <ms>',
    is: Type.Integer({ minimum: 0, maximum: limits.lingerMsMax }),
    fallback: limits.lingerMs,
    help: 'when it is told to stop, it goes on serving this long, and each answer says that its connection ends',
  },
} satisfies Record<string, Setting>
