// Sends one message by mail, and says what the mail server answered. It never throws.
import { limits } from '../shared/limits.ts'
import { letterOf } from './letters.ts'
import { INTERRUPTED, type Reply } from './verdict.ts'

export interface MailSettings {
  /** smtp:// or smtps://, with user and password if it asks for them. */
  readonly smtp: string
  readonly from: string
}

interface Sending {
  /** mailto:ADDRESS */
  readonly url: string
  /** The webhook's uuid. */
  readonly webhook: string
  readonly id: string
  readonly body: string
  readonly stopping: AbortSignal
}

export type SendMail = (sending: Sending) => Promise<Reply>

/** The server takes a letter or doesn't; whether it arrives, nobody tells us. */
export function mailWith({ smtp, from }: MailSettings): SendMail {
  let transport: ReturnType<typeof transportTo> | null = null
  const domain = /@([^>\s]+)/.exec(from)?.[1] ?? 'holdfast'
  return async ({ url, webhook, id, body, stopping }) => {
    const began = performance.now()
    const reply = (status: number | null, text: string, error: string | null) => ({
      status,
      ms: Math.round(performance.now() - began),
      text: text.slice(0, limits.deliveryAnswerCharsKept),
      error,
      retryAfterMs: null,
    })
    const { subject, text } = letterOf(body, webhook)
    const letter = {
      from,
      to: { name: '', address: new URL(url).pathname },
      subject,
      text,
      // The same on every try, so that a double can be told.
      messageId: `<${id}@${domain}>`,
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Holdfast-Message': id },
    }
    try {
      const { response } = await orLate((await (transport ??= transportTo(smtp))).sendMail(letter), stopping)
      return reply(250, response, null)
    } catch (error) {
      if (stopping.aborted) return reply(null, '', INTERRUPTED)
      const { responseCode, response = '', message } = error as SmtpError
      return reply(responseCode ?? null, response, withoutSecrets(message, smtp))
    }
  }
}

/** Loaded with the first letter: it takes 25 MB, and most servers send none. */
async function transportTo(smtp: string) {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    ...serverIn(smtp),
    connectionTimeout: limits.deliveryMsMax,
    greetingTimeout: limits.deliveryMsMax,
    socketTimeout: limits.deliveryMsMax,
    // A letter is made of text alone, whatever is in an event.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

interface SmtpError extends Error {
  responseCode?: number
  response?: string
}

function serverIn(smtp: string) {
  const { protocol, hostname, port, username, password } = new URL(smtp)
  const isSecure = protocol === 'smtps:'
  const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    // A password is sent only when others can't read it, or stays on this machine.
    requireTLS: username !== '' && !isSecure && hostname !== '127.0.0.1' && hostname !== 'localhost',
    ...(username !== '' && { auth }),
  }
}

function orLate<T>(sent: Promise<T>, stopping: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const late = AbortSignal.any([stopping, AbortSignal.timeout(limits.deliveryMsMax)])
  late.addEventListener('abort', () => reject(new Error(`no answer in ${limits.deliveryMsMax / 1_000} s`)), {
    once: true,
  })
  return Promise.race([sent, promise])
}

/** What a mail server says is shown to whoever made the webhook. */
function withoutSecrets(text: string, smtp: string): string {
  const { username, password } = new URL(smtp)
  const secrets = [password, decodeURIComponent(password), username, decodeURIComponent(username)]
  const first = text.split('\n', 1)[0]!.slice(0, limits.deliveryAnswerCharsKept)
  return secrets.filter(secret => secret !== '').reduce((shown, secret) => shown.replaceAll(secret, '***'), first)
}
