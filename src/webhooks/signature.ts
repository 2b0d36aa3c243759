// Secrets and signatures as Standard Webhooks 1.0 has them.
import { createHmac } from 'node:crypto'
import type { Clock } from '../clock/clock.ts'
import { limits } from '../shared/limits.ts'

const PREFIX = 'whsec_'

export const newSecret = (clock: Clock): string =>
  PREFIX + clock.newSecret(limits.webhookSecretBytes).toString('base64')

interface Signed {
  readonly id: string
  readonly body: string
  /** The secrets in force: two of them during a change. */
  readonly secrets: readonly string[]
}

/** The headers of one try. */
export function headersFor({ id, body, secrets }: Signed, now: number): Record<string, string> {
  const seconds = String(Math.floor(now / 1_000))
  const signatures = secrets.map(secret => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') }
}
