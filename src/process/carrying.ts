// What a process needs to deliver webhooks: where they may go, and who may be told what.
import { BlockList } from 'node:net'
import type { Action } from '../api/policy.ts'
import type { Config } from '../config/config.ts'
import type { EventKind } from '../events/kinds.ts'
import type { Policy } from '../identity/policy.ts'
import { networksIn } from '../shared/networks.ts'
import { UsageError } from '../shared/usage-error.ts'
import { Carrier } from '../webhooks/carrier.ts'
import type { Sees } from '../webhooks/filter.ts'

/** Names this installation in events. */
const SOURCE = '/holdfast'

export function carrierFor({ webhookAllow, mailSmtp, mailFrom, mailToDomains }: Config): Carrier {
  const wrong = (word: string) =>
    new UsageError(`webhook-allow: '${word}' is no address and no network such as 10.0.0.0/8`)
  const allowed = webhookAllow.trim() === '' ? new BlockList() : networksIn(webhookAllow, wrong)
  const mail = mailSmtp === null ? null : { smtp: mailSmtp, from: mailFrom! }
  const domains = mailToDomains.split(',').map(domain => domain.trim().toLowerCase())
  return new Carrier({ rules: { allowed, mailDomains: mail && domains }, source: SOURCE, mail })
}

/** The permission to see what an event is about. */
const TO_SEE: Readonly<Record<EventKind, Action>> = {
  allocation: 'baremetal:allocation:get',
  hold: 'baremetal:reservation:get',
  node: 'baremetal:node:get',
  lease: 'blazar:leases:get',
  server: 'os_compute_api:servers:show',
  provider: 'placement:resource_providers:show',
  claim: 'placement:allocations:list',
  conductor: 'baremetal:conductor:get',
  queue: 'baremetal:allocation:get',
  webhook: 'holdfast:webhooks:get',
}

export const seesWith =
  (policy: Policy<Action>): Sees =>
  (maker, { kind, whose }) =>
    policy.allows(TO_SEE[kind], maker, whose)
