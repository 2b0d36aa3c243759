// Carries messages to their receivers: by HTTP or by mail.
import { isReadable, type JsonText, MEMBERS } from '../shared/json.ts'
import { type MailSettings, mailWith, type SendMail } from './mail.ts'
import type { Target } from './outbox.ts'
import { post } from './post.ts'
import { headersFor } from './signature.ts'
import { isMail, type TargetRules } from './targets.ts'
import type { Reply } from './verdict.ts'

interface Message {
  /** The same on every try, so that receivers can drop doubles. */
  readonly id: string
  /** An event as CloudEvents 1.0 has it. */
  readonly body: JsonText<object>
}

/** Its row is damaged. Nobody is told half of an event. */
const NO_EVENT: Reply = {
  status: null,
  ms: 0,
  text: '',
  error: 'the event can’t be read: its row in the database is damaged',
  retryAfterMs: null,
}

/** The operator took the mail server away after the webhook was made. */
const NO_MAIL: Reply = {
  status: null,
  ms: 0,
  text: '',
  error: 'this server sends no mail any more',
  retryAfterMs: null,
}

export class Carrier {
  readonly rules: TargetRules
  /** Names this installation in events. */
  readonly source: string

  readonly #mail: SendMail | null

  constructor({ rules, source, mail }: { rules: TargetRules; source: string; mail: MailSettings | null }) {
    this.rules = rules
    this.source = source
    this.#mail = mail && mailWith(mail)
  }

  /** One try. It never throws; when `stopping` is aborted it ends at once. */
  async send(
    { uuid, url, secrets }: Target,
    { id, body }: Message,
    now: number,
    stopping: AbortSignal,
  ): Promise<Reply> {
    if (!isReadable(body, MEMBERS)) return NO_EVENT
    if (isMail(url)) return this.#mail?.({ url, webhook: uuid, id, body, stopping }) ?? NO_MAIL
    const headers = headersFor({ id, body, secrets }, now)
    return post({ url: new URL(url), headers, body, rules: this.rules, now, stopping })
  }
}
