// What a process needs to deliver webhooks: where they may go, and who may be told what.
import { BlockList } from 'node:net'
import { sees } from '../api/event-rights.ts'
import type { Action } from '../api/policy.ts'
import type { Config } from '../config/config.ts'
import type { Policy } from '../identity/policy.ts'
import { networksIn } from '../shared/networks.ts'
import { UsageError } from '../shared/usage-error.ts'
import { Carrier } from '../webhooks/carrier.ts'
import type { Sees } from '../webhooks/filter.ts'

export function carrierFor({ webhookAllow, mailSmtp, mailFrom, mailToDomains, eventSource }: Config): Carrier {
  const wrong = (word: string) =>
    new UsageError(`webhook-allow: '${word}' is no address and no network such as 10.0.0.0/8`)
  const allowed = webhookAllow.trim() === '' ? new BlockList() : networksIn(webhookAllow, wrong)
  const mail = mailSmtp === null ? null : { smtp: mailSmtp, from: mailFrom! }
  const domains = mailToDomains.split(',').map(domain => domain.trim().toLowerCase())
  return new Carrier({ rules: { allowed, mailDomains: mail && domains }, source: eventSource, mail })
}

export const seesWith =
  (policy: Policy<Action>): Sees =>
  (maker, event) =>
    sees(policy, maker, event)
