// Tickets: a browser's EventSource can't send a token, and a token must not stand in a URL, where it would be logged.
// A ticket is what the caller sent to prove who it is, encrypted with a key of the database: every process can read it,
// nobody else can, and it is of no use after a minute. A token that is revoked ends its tickets.
import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../clock/clock.ts'
import { isObject } from '../shared/is-object.ts'
import { limits } from '../shared/limits.ts'
import type { Store } from '../store/store.ts'
import type { KeyRing } from './key-ring.ts'
import { useOnce } from './revocations.ts'

/** The headers that say who calls, in any mode. HTTP Basic isn't among them: a password is worth more than a minute. */
const PROOFS = ['x-auth-token', 'x-roles', 'x-project-id', 'openstack-system-scope']
const [NONCE_BYTES, TAG_BYTES] = [12, 16]

interface TicketsOptions {
  store: Pick<Store, 'write'>
  clock: Clock
  /** Opened when the first ticket is asked for: not every installation has keys of its own. */
  keys: () => Promise<Pick<KeyRing, 'secrets'>>
}

export class Tickets {
  readonly #options: TicketsOptions

  constructor(options: TicketsOptions) {
    this.#options = options
  }

  /** A ticket for the caller who sent these headers; null when they prove it by a password. */
  async issue(headers: IncomingHttpHeaders): Promise<{ ticket: string; expiresAt: number } | null> {
    if (headers.authorization !== undefined && headers['x-auth-token'] === undefined) return null
    const { clock, keys } = this.#options
    const [secret] = await (await keys()).secrets()
    const expiresAt = clock.now() + limits.ticketMs
    const proofs = PROOFS.flatMap(name => (headers[name] === undefined ? [] : [[name, headers[name]]]))
    const nonce = clock.newSecret(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', keyOf(secret!), nonce)
    const text = JSON.stringify({ expiresAt, proofs: Object.fromEntries(proofs) })
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return { ticket: sealed.toString('base64url'), expiresAt }
  }

  /** The headers that a ticket stands for; null when it is over, or not ours. */
  async redeem(ticket: string): Promise<IncomingHttpHeaders | null> {
    const { clock, keys } = this.#options
    const sealed = Buffer.from(ticket.slice(0, 2 * limits.tokenLengthMax), 'base64url')
    if (sealed.length <= NONCE_BYTES + TAG_BYTES) return null
    for (const secret of await (await keys()).secrets()) {
      const text = opened(sealed, keyOf(secret))
      if (text === null) continue
      const { expiresAt, proofs } = JSON.parse(text)
      return expiresAt > clock.now() && isObject(proofs) ? (proofs as IncomingHttpHeaders) : null
    }
    return null
  }

  /** Whether the ticket, which was redeemed, is used for the first time, of all processes. From now on it isn't. */
  async spend(ticket: string): Promise<boolean> {
    const { clock, store } = this.#options
    // What it says, not how it is spelled.
    const id = createHash('sha256').update(Buffer.from(ticket, 'base64url')).digest('hex').slice(0, 32)
    const now = clock.now()
    return store.write(() => useOnce({ id, expiresAt: now + limits.ticketMs }, now))
  }
}

/** A key of its own, so that no ticket is ever a token. */
const keyOf = (secret: Buffer) => Buffer.from(hkdfSync('sha256', secret, '', 'holdfast event ticket', 32))

function opened(sealed: Buffer, key: Buffer): string | null {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    return decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    return null
  }
}
