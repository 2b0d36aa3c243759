// Validates tokens with a real Keystone, using our own service token, and caches the answers for a while.
import type { Logger } from 'pino'
import { BoundedMap } from '../shared/bounded-map.ts'
import { isObject } from '../shared/is-object.ts'
import { limits } from '../shared/limits.ts'
import { problem } from '../problems/problem.ts'
import type { Caller } from './caller.ts'
import type { KeystoneAccount } from './keystone-account.ts'
import { Line } from './line.ts'
import type { AskForNames, Named } from './names.ts'
import { networkOf } from './networks.ts'

interface KeystoneOptions {
  url: string
  /** Our own login there. */
  account: KeystoneAccount
  /** How long an answer is cached. */
  keepMs: number
  now: () => number
  log: Logger
  observe: (outcome: 'granted' | 'refused' | 'unavailable') => void
}

interface Kept {
  caller: Caller
  until: number
}

/** The part of Keystone's answer that we read. */
interface Shown {
  token: {
    expires_at: string
    user: { id: string; name: string }
    /** Tokens for a domain and unscoped tokens have neither `project` nor `system`. */
    project?: { id: string; name: string }
    system?: { all?: boolean }
    roles?: { name: string }[]
  }
}

/** Keystone's answer to a request that was sent on. */
export interface Forwarded {
  status: number
  /** In the header x-subject-token. */
  token: string | null
  body: object
}

/** The ids of projects, and of users from elsewhere (LDAP), which are longer. */
const isKeystoneId = (word: string) => /^(?:[0-9a-f]{32}|[0-9a-f]{64})$/.test(word)

const PRINTABLE = /^[\x21-\x7e]+$/

export class Keystone {
  readonly #options: KeystoneOptions
  readonly #url: string
  readonly #tokensUrl: string
  readonly #kept = new BoundedMap<string, Kept>(limits.keptTokensMax)
  /** Refused tokens, and until when we refuse them without asking again. */
  readonly #refused = new BoundedMap<string, number>(limits.refusedTokensMax)
  readonly #line = new Line({
    max: limits.keystoneRequestsMax,
    strangersMax: limits.keystoneStrangersMax,
    strangersPerAddressMax: limits.keystoneStrangersPerAddressMax,
  })
  readonly #asking = new Map<string, Promise<Caller | null>>()

  constructor(options: KeystoneOptions) {
    this.#options = options
    this.#url = options.url
    this.#tokensUrl = `${this.#url}/auth/tokens`
  }

  /** The caller with this token, at once if cached; null when Keystone refuses the token. */
  callerOf(token: string, address: string): Caller | null | Promise<Caller | null> {
    const kept = this.#kept.get(token)
    const now = this.#options.now()
    if (kept && now < kept.until) return kept.caller
    if (now < (this.#refused.get(token) ?? 0)) return null
    if (token.length > limits.tokenLengthMax || !PRINTABLE.test(token)) return null
    const present = this.#asking.get(token)
    if (present) return present
    const asking = this.#line
      .inTurn(kept ? null : networkOf(address), () => this.#ask(token))
      .finally(() => this.#asking.delete(token))
    this.#asking.set(token, asking)
    return asking
  }

  /**
   * The users or projects with that name, or that id. Null when Keystone can't be asked, or doesn't tell us; then a word
   * in the form of an id may be one.
   */
  called: AskForNames = async (kind, word) => {
    const escaped = encodeURIComponent(word)
    const mayBeId = isKeystoneId(word)
    const look = (path: string, member: string) => this.#line.inTurn(null, () => this.#list(path, member))
    try {
      // An id comes first: anyone may be called like the id of another.
      const withId = mayBeId ? await look(`/${kind}s/${escaped}`, kind) : []
      if (withId === null) return [{ id: word, name: word }]
      return withId.length > 0 ? withId : await look(`/${kind}s?name=${escaped}`, `${kind}s`)
    } catch (error) {
      this.#options.log.warn({ reason: (error as Error).message }, 'Keystone could not be asked for a name')
      return mayBeId ? [{ id: word, name: word }] : null
    }
  }

  /** Sends a request of a client on, with what the client said and nothing of ours. */
  async forward(path: string, init: RequestInit, address: string): Promise<Forwarded> {
    try {
      return await this.#line.inTurn(networkOf(address), async () => {
        const answer = await this.#fetch(this.#url + path, init)
        const text = await answer.text()
        if (answer.status === 429 || answer.status >= 500) throw new Error(`Keystone answered ${answer.status}`)
        const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false
        const body: unknown = isJson ? JSON.parse(text) : {}
        return { status: answer.status, token: answer.headers.get('x-subject-token'), body: isObject(body) ? body : {} }
      })
    } catch (error) {
      const { message, cause } = error as Error
      const reason = { reason: message, cause: (cause as Error | undefined)?.message }
      this.#options.log.warn(reason, 'Keystone could not be asked for a client')
      throw problem('unavailable', { reason: 'Keystone could not be asked; try again.' })
    }
  }

  /** Asks about the token again when it is next used. */
  forget(token: string): void {
    this.#kept.delete(token)
  }

  async #list(path: string, member: string): Promise<Named[] | null> {
    for (const isLast of [false, true]) {
      const answer = await this.#fetch(this.#url + path, {
        headers: { 'x-auth-token': await this.#options.account.token() },
      })
      if (answer.status === 200) {
        const found = ((await answer.json()) as Record<string, Named | Named[]>)[member] ?? []
        const isNamed = ({ id, name }: Partial<Named>) => typeof id === 'string' && typeof name === 'string'
        return [found]
          .flat()
          .filter(isNamed)
          .map(({ id, name }) => ({ id, name }))
      }
      await answer.body?.cancel()
      if (answer.status === 404) return []
      if (answer.status === 403) return null
      if (answer.status === 401 && !isLast) this.#options.account.refused()
      else throw new Error(`Keystone answered ${answer.status} to a look at ${member}`)
    }
    return null
  }

  async #ask(token: string): Promise<Caller | null> {
    const { now, keepMs, observe, log } = this.#options
    try {
      const askedAt = now()
      const shown = await this.#show(token)
      const endsAt = shown ? Date.parse(shown.token.expires_at) : 0
      // Written so that an unreadable date (NaN) is refused, too.
      if (!shown || !(endsAt > now())) {
        this.#kept.delete(token)
        this.#refused.set(token, askedAt + limits.keystoneRefusalMs)
        observe('refused')
        return null
      }
      const caller = callerIn(shown)
      this.#kept.set(token, { caller, until: Math.min(endsAt, askedAt + keepMs) })
      observe('granted')
      return caller
    } catch (error) {
      observe('unavailable')
      const { message, cause } = error as Error
      log.warn({ reason: message, cause: (cause as Error | undefined)?.message }, 'Keystone could not be asked')
      throw problem('unavailable', { reason: 'The identity service could not be asked about the token.' })
    }
  }

  async #show(token: string): Promise<Shown | null> {
    for (const isLast of [false, true]) {
      const own = await this.#options.account.token()
      const answer = await this.#fetch(`${this.#tokensUrl}?nocatalog`, {
        headers: { 'x-auth-token': own, 'x-subject-token': token },
      })
      if (answer.status === 200) return (await answer.json()) as Shown
      await answer.body?.cancel()
      if (answer.status === 404) return null
      // Our own token was revoked, or Keystone has new keys: log in again, once.
      if (answer.status === 401 && !isLast) this.#options.account.refused()
      else throw new Error(`Keystone answered ${answer.status} to a validation`)
    }
    return null
  }

  #fetch(url: string, init: RequestInit): Promise<Response> {
    return fetch(url, { ...init, signal: AbortSignal.timeout(limits.keystoneMsMax), redirect: 'error' })
  }
}

function callerIn({ token }: Shown): Caller {
  const { user, project, system, roles = [] } = token
  // A role in a domain is for its users and projects, not for our resources.
  const isForUs = project !== undefined || system?.all === true
  return {
    user: user.id,
    userName: user.name,
    project: project?.id ?? null,
    projectName: project?.name ?? null,
    roles: new Set(isForUs ? roles.map(role => role.name) : []),
    systemScope: system?.all === true,
  }
}
