// The settings for webhooks.
import { orNull, type Setting } from './kinds.ts'
import { mask } from './mask.ts'
import { Type } from '../shared/type.ts'

export const WEBHOOK_SETTINGS = {
  webhookAllow: {
    flag: 'webhook-allow <networks>',
    is: Type.String({ pattern: '^[0-9a-fA-F.:/, ]*$' }),
    fallback: '',
    help: 'addresses and networks inside that webhooks may call, such as 10.0.0.0/8, also without TLS; without it only https on the internet',
  },
  mailSmtp: {
    flag: 'mail-smtp <url>',
    is: orNull(Type.String({ pattern: '^smtps?://[^\\s]+$' })),
    fallback: null,
    help: 'smtp://USER:PASSWORD@HOST:587 or smtps://…: the server that sends mail; without it none is sent',
    masked: mask,
  },
  mailFrom: {
    flag: 'mail-from <address>',
    is: orNull(Type.String({ pattern: '^[^\\r\\n]*[^@\\s]@[^@\\s]+$' })),
    fallback: null,
    help: 'who writes it, such as holdfast@example.org',
  },
  mailToDomains: {
    flag: 'mail-to-domains <list>',
    is: Type.String({ pattern: '^[A-Za-z0-9.,\\s-]*$' }),
    fallback: '',
    help: 'the domains whose people may be written to, with commas between them',
  },
} satisfies Record<string, Setting>
