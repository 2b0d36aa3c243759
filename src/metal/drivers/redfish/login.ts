// How requests to a BMC are authenticated: by a session that all share, or by user and password.
import { isObject } from '../../../shared/is-object.ts'
import { BmcRefusal, linkIn } from './bmc.ts'
import type { Access } from './settings.ts'
import type { Asked, Reply, Wire } from './wire.ts'
import { hostOf, refusal, saidIn } from './words.ts'

interface Session {
  readonly token: string
  /** Where it is deleted; null when the BMC didn't say. */
  readonly path: string | null
}

type Ask = (asked: Pick<Asked, 'method' | 'path' | 'headers' | 'body'>) => Promise<Reply>

/** BMCs have few sessions: Dell and Lenovo say so in these words. */
const USED_UP = /RAC0218|SessionLimitExceeded|maximum number of (user )?sessions/i

export class Login {
  readonly #access: Access
  #session: Session | null = null
  readonly #old: Session[] = []
  #underway: Promise<Session | null> | null = null
  /** From now on user and password go with each request. */
  #isBasic: boolean
  #hasWorked = false

  constructor(access: Access) {
    this.#access = access
    this.#isBasic = access.authType === 'basic'
  }

  get isUnderway(): boolean {
    return this.#underway !== null
  }

  /** The header for the next request. Requests at the same time share one login. */
  async header(ask: Ask, root: () => Promise<unknown>): Promise<Record<string, string>> {
    const { username, password } = this.#access
    if (username === null) return {}
    if (!this.#isBasic) {
      this.#session ??= await (this.#underway ??= this.#login(ask, root).finally(() => (this.#underway = null)))
      if (this.#session) return { 'x-auth-token': this.#session.token }
    }
    return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
  }

  /** The BMC refused a request with this header. True: another login may help. */
  forget(header: Readonly<Record<string, string>>): boolean {
    const token = header['x-auth-token']
    if (token === undefined) return false
    if (this.#session?.token === token) {
      this.#old.push(this.#session)
      this.#session = null
    }
    return true
  }

  /** Ends the session, and those that it replaced: they may still count at the BMC. */
  async logout(wire: Wire, ms: number, sessions: 'all' | 'old' = 'all'): Promise<void> {
    const ending = this.#old.splice(0)
    if (sessions === 'all' && this.#session) ending.push(this.#session)
    if (sessions === 'all') this.#session = null
    const signal = AbortSignal.timeout(ms)
    for (const { path, token } of ending) {
      if (path === null) continue
      // It ends by itself when nobody uses it.
      await wire.ask({ method: 'DELETE', path, headers: { 'x-auth-token': token }, signal, ms }).catch(() => null)
    }
  }

  /** Null: without a session, from now on. */
  async #login(ask: Ask, root: () => Promise<unknown>): Promise<Session | null> {
    const [access, body] = [this.#access, await root()]
    const link =
      linkIn(body, 'Links', 'Sessions') ?? linkIn(body, 'SessionService')?.replace(/\/*$/, '/Sessions') ?? null
    // A root that can be read and names no sessions has none.
    if (link === null && body !== null && access.authType === 'auto') return this.#goBasic()
    const path = link ?? `${access.rootPath}SessionService/Sessions`
    const { username, password } = access
    const reply = await ask({ method: 'POST', path, body: { UserName: username, Password: password } })
    const token = reply.header('x-auth-token')
    if (reply.status < 300 && token !== null) {
      this.#hasWorked = true
      return { token, path: reply.header('location') ?? (isObject(reply.body) ? linkIn(reply.body) : null) }
    }
    const isUsedUp = USED_UP.test(reply.text)
    // A BMC whose sessions worked must not get the password with each request because of one bad moment.
    const isRefused = !this.#hasWorked && reply.status !== 503
    if (access.authType === 'auto' && (isUsedUp || isRefused)) return this.#goBasic()
    if (isUsedUp) throw this.#without(reply, 'All are in use: set redfish_auth_type to auto or basic, or end some.')
    throw link === null && body !== null
      ? this.#without(reply, 'It has no sessions: set redfish_auth_type to auto or basic.')
      : refusal(access, reply)
  }

  #goBasic(): null {
    this.#isBasic = true
    return null
  }

  #without(reply: Reply, advice: string): BmcRefusal {
    const { status, messageIds } = refusal(this.#access, reply)
    const said = saidIn(reply, this.#access.password)
    const words = `The BMC at ${hostOf(this.#access)} gives no session. ${advice}${said === '' ? '' : ` It says: ${said}`}`
    return new BmcRefusal(words, { status, messageIds })
  }
}
