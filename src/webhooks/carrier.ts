// Carries messages to their receivers: by HTTP or by mail.
import type { Target } from './outbox.ts'
import { post } from './post.ts'
import { headersFor } from './signature.ts'
import type { TargetRules } from './targets.ts'
import type { Reply } from './verdict.ts'

interface Message {
  /** The same on every try, so that receivers can drop doubles. */
  readonly id: string
  /** An event as CloudEvents 1.0 has it. */
  readonly body: string
}

export class Carrier {
  readonly rules: TargetRules
  /** Names this installation in events. */
  readonly source: string

  constructor(rules: TargetRules, source: string) {
    this.rules = rules
    this.source = source
  }

  /** One try. It never throws; when `stopping` is aborted it ends at once. */
  send({ url, secrets }: Target, { id, body }: Message, now: number, stopping: AbortSignal): Promise<Reply> {
    const headers = headersFor({ id, body, secrets }, now)
    return post({ url: new URL(url), headers, body, rules: this.rules, now, stopping })
  }
}
