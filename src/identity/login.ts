// Logins: checks a proof of identity and a scope, and makes a token of them.
import type { Clock } from '../clock/clock.ts'
import { limits } from '../shared/limits.ts'
import { Problem, problem } from '../problems/problem.ts'
import { jsonIn, TEXTS } from '../shared/json.ts'
import type { Store } from '../store/store.ts'
import { one, type Read } from '../store/transaction.ts'
import { type ApplicationCredential, credentialOf, credentialWithId } from './application-credentials.ts'
import type { Directory, Project, User } from './directory.ts'
import type { LoginDeed, Refused } from './login-record.ts'
import { idOf } from './ids.ts'
import type { Claim, Passwords } from './passwords.ts'
import type { Role } from './roles.ts'
import type { Throttle } from './throttle.ts'
import type { Method, TokenFacts } from './token-text.ts'
import type { Token, Tokens } from './tokens.ts'

export type Reference = { id: string } | { name: string }

export type Proof =
  | { method: 'password'; user: Reference; password: string }
  | { method: 'token'; token: string }
  | { method: 'application_credential'; credential: { id: string } | { name: string; user: Reference }; secret: string }

/** `default` is the user's only or default project. */
export type Scope = 'default' | 'unscoped' | 'system' | { project: Reference }

export interface LoginOptions {
  store: Store
  clock: Clock
  tokens: Tokens
  directory: () => Directory
  passwords: Passwords
  throttle: Throttle
  /** In mode `none` every secret is accepted. */
  isOpen: boolean
  tokenMs: number
  /** Writes the login into the audit, before the answer. */
  record: (deed: LoginDeed) => Promise<void>
  observe: (method: Method | 'basic', outcome: 'granted' | 'refused' | 'throttled', address: string) => void
}

/** A secret to check, and what the audit is to say of it. */
interface Given extends Claim {
  method: Method | 'basic'
  /** The name that was given, or the user's. */
  name: string
  address: string
  /** Why there is no hash. */
  without: Refused
}

interface Proven {
  user: User
  methods: readonly Method[]
  credential: ApplicationCredential | null
  /** The token that was the proof. A new token ends no later. */
  token: Token | null
}

export class Login {
  readonly #options: LoginOptions

  constructor(options: LoginOptions) {
    this.#options = options
  }

  /** The token for this proof and scope. Any failure is `not_authenticated`, so that guesses teach nothing. */
  async enter(proof: Proof, scope: Scope, address: string): Promise<Token> {
    const { clock, tokens, tokenMs, record } = this.#options
    const proven = await this.#observed(proof.method, address, () => this.#prove(proof, address))
    const now = clock.now()
    const ends = [now + tokenMs, proven.token?.facts.expiresAt, proven.credential?.expires_at]
    const facts: TokenFacts = {
      id: clock.newUuid().replaceAll('-', ''),
      user: proven.user.name,
      stamp: proven.user.stamp,
      ...this.#scopeFor(proven, scope),
      methods: proven.methods,
      credential: proven.credential && {
        id: proven.credential.id,
        roles: jsonIn(proven.credential.roles, TEXTS) as Role[],
        unrestricted: proven.credential.unrestricted === 1,
      },
      issuedAt: now,
      expiresAt: Math.min(...ends.filter(end => typeof end === 'number')),
    }
    const token = tokens.tokenOf(facts)
    if (!token) throw problem('not_authenticated', {})
    await record({ method: proof.method, address, name: proven.user.name, outcome: token.caller })
    return token
  }

  /** Throws unless it is the user's password. Wrong ones count as wrong logins do. */
  async requirePassword(user: User, password: string, address: string): Promise<void> {
    const given = this.#givenOf({ name: user.name }, user, { method: 'password', secret: password, address })
    await this.#observed('password', address, () => this.#requireSecret(given))
  }

  /** A temporary token for HTTP Basic: the user in the default project. It is never issued. */
  basic(name: string, password: string, address: string): Token | null | Promise<Token | null> {
    const user = this.#options.directory().user(name)
    const given = this.#givenOf({ name }, user, { method: 'basic', secret: password, address })
    if (user && this.#options.passwords.isKnown(given)) return this.#basicToken(user)
    return this.#observed('basic', address, async () => {
      const isCounted = await this.#requireSecret(given)
      const token = user && this.#basicToken(user)
      if (isCounted) await this.#options.record({ ...given, outcome: token?.caller ?? 'disabled or over' })
      return token
    }).catch(error => {
      if (error instanceof Problem && error.kind === 'not_authenticated') return null
      throw error
    })
  }

  #basicToken(user: User): Token | null {
    const { clock, tokens } = this.#options
    const now = clock.now()
    return tokens.tokenOf({
      id: '',
      user: user.name,
      stamp: user.stamp,
      project: user.defaultProject,
      system: false,
      methods: ['password'],
      credential: null,
      issuedAt: now,
      // It is used once, at once.
      expiresAt: now + limits.tokenRecheckMs,
    })
  }

  async #observed<T>(method: Method | 'basic', address: string, work: () => Promise<T>): Promise<T> {
    const { observe } = this.#options
    try {
      const value = await work()
      observe(method, 'granted', address)
      return value
    } catch (error) {
      if (error instanceof Problem && error.kind === 'not_authenticated') observe(method, 'refused', address)
      if (error instanceof Problem && error.kind === 'too_many_attempts') observe(method, 'throttled', address)
      throw error
    }
  }

  #prove(proof: Proof, address: string): Promise<Proven> {
    switch (proof.method) {
      case 'password':
        return this.#byPassword(proof, address)
      case 'token':
        return this.#byToken(proof.token)
      default:
        return this.#byCredential(proof, address)
    }
  }

  async #byPassword({ user: reference, password }: Proof & { method: 'password' }, address: string): Promise<Proven> {
    const user = this.#userOf(reference)
    await this.#requireSecret(this.#givenOf(reference, user, { method: 'password', secret: password, address }))
    if (!user) throw problem('not_authenticated', {})
    return { user, methods: ['password'], credential: null, token: null }
  }

  async #byToken(text: string): Promise<Proven> {
    const token = await this.#options.tokens.check(text)
    // A token from an application credential can't be exchanged for another token, which could have more roles.
    if (!token || token.facts.credential) throw problem('not_authenticated', {})
    const methods = [...new Set<Method>(['token', ...token.facts.methods])]
    return { user: token.user, methods, credential: null, token }
  }

  async #byCredential(proof: Proof & { method: 'application_credential' }, address: string): Promise<Proven> {
    const { store, clock, isOpen } = this.#options
    const { credential: wanted, secret } = proof
    const found = await store.read(() => this.#credentialGiven(wanted))
    const user = found ? this.#options.directory().user(found.user_name) : null
    // A credential made in mode `none`, where nobody is authenticated, is not valid in other modes.
    const isOurs = found !== undefined && (isOpen || found.is_open === 0)
    const isOver = (found?.expires_at ?? Infinity) <= clock.now()
    const mayEnter = isOurs && user?.isEnabled === true && user.id === found.user_id && !isOver
    await this.#requireSecret({
      method: proof.method,
      name: `credential ${'id' in wanted ? wanted.id : `${wordOf(wanted.user)} ${wanted.name}`}`,
      key: `credential ${'id' in wanted ? wanted.id : `${keyOf(wanted.user)} ${wanted.name}`}`,
      stored: mayEnter ? found.secret : null,
      without: isOurs ? 'disabled or over' : 'unknown name',
      secret,
      address,
    })
    if (!mayEnter) throw problem('not_authenticated', {})
    return { user, methods: ['application_credential'], credential: found, token: null }
  }

  /** A user who may not enter has no hash: that the password is right shows nowhere then, not even in what is counted. */
  #givenOf(
    reference: Reference,
    user: User | null,
    { method, secret, address }: Pick<Given, 'method' | 'secret' | 'address'>,
  ): Given {
    return {
      method,
      name: user?.name ?? wordOf(reference),
      key: keyOf(reference),
      stored: user?.isEnabled ? user.password : null,
      without: user ? 'disabled or over' : 'unknown name',
      secret,
      address,
    }
  }

  /** Throws unless the secret is right. Returns whether it counted as an attempt: cached and shared checks don't. */
  async #requireSecret(given: Given): Promise<boolean> {
    const { passwords, throttle, isOpen, directory } = this.#options
    const { key, stored, secret, address } = given
    if (isOpen || passwords.isKnown(given)) return false
    const isAsked = passwords.isBeingChecked(given)
    // Many requests at once with a right password are no guesses, so those that share a check count when it was wrong.
    if (isAsked) throttle.admit(key, address)
    else throttle.begin(key, address)
    const isShort = secret.length <= limits.passwordBytesMax
    const check = isShort ? passwords.check(given, directory().dearest) : Promise.resolve(false)
    const isRight = await check.catch(error => {
      if (!isAsked) throttle.withdrawn(key, address)
      throw error
    })
    if (!isRight) {
      if (isAsked) throttle.begin(key, address)
      const { method, name } = given
      const outcome = stored === null ? given.without : 'wrong secret'
      // The reason is for the audit only.
      await this.#options.record({ method, name, address, outcome })
      throw problem('not_authenticated', {})
    }
    if (!isAsked) throttle.succeeded(key, address)
    return !isAsked
  }

  /** Asks the store for a name that nobody has, too: it takes as long. */
  *#credentialGiven(
    given: { id: string } | { name: string; user: Reference },
  ): Read<ApplicationCredential | undefined> {
    if ('id' in given) return yield* one(credentialWithId(given))
    return yield* credentialOf(this.#userOf(given.user)?.id ?? keyOf(given.user), given)
  }

  #userOf(reference: Reference): User | null {
    const directory = this.#options.directory()
    return 'id' in reference ? directory.userWithId(reference.id) : directory.user(reference.name)
  }

  #projectOf(reference: Reference): Project | null {
    const directory = this.#options.directory()
    return 'id' in reference ? directory.projectWithId(reference.id) : directory.project(reference.name)
  }

  #scopeFor({ user, credential }: Proven, scope: Scope): { project: string | null; system: boolean } {
    if (credential) {
      // A credential is for one project only: also upstream, it is refused with any other scope.
      if (scope === 'system' || scope === 'unscoped') throw problem('not_authenticated', {})
      if (typeof scope === 'object' && this.#projectOf(scope.project)?.name !== credential.project_name) {
        throw problem('not_authenticated', {})
      }
      return { project: credential.project_name, system: false }
    }
    if (scope === 'unscoped') return { project: null, system: false }
    if (scope === 'system') return { project: null, system: true }
    if (scope === 'default') return { project: user.defaultProject, system: false }
    const project = this.#projectOf(scope.project)
    if (!project) throw problem('not_authenticated', {})
    return { project: project.name, system: false }
  }
}

const wordOf = (reference: Reference) => ('id' in reference ? reference.id : reference.name)

/**
 * What attempts are counted by. It follows from what was given alone, so that a name that nobody has counts as a user's
 * does, also when it is tried by its name and by its id in turn.
 */
const keyOf = (reference: Reference) => ('id' in reference ? reference.id : idOf('user', reference.name))
