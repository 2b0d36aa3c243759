// The settings for webhooks.
import { Type } from 'typebox'
import type { Setting } from './kinds.ts'

export const WEBHOOK_SETTINGS = {
  webhookAllow: {
    flag: 'webhook-allow <networks>',
    is: Type.String({ pattern: '^[0-9a-fA-F.:/, ]*$' }),
    fallback: '',
    help: 'addresses and networks inside that webhooks may call, such as 10.0.0.0/8, also without TLS; without it only https on the internet',
  },
} satisfies Record<string, Setting>
