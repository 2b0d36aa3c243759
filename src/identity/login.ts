// Logins: checks a proof of identity and a scope, and makes a token of them.
import type { Clock } from '../clock/clock.ts'
import { limits } from '../shared/limits.ts'
import { Problem, problem } from '../problems/problem.ts'
import { jsonIn } from '../shared/json.ts'
import type { Store } from '../store/store.ts'
import { one, type Read } from '../store/transaction.ts'
import { type ApplicationCredential, credentialOf, credentialWithId } from './application-credentials.ts'
import type { Directory, Project, User } from './directory.ts'
import type { LoginDeed, Refused } from './login-record.ts'
import type { Passwords } from './passwords.ts'
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

/** A secret to check. */
interface Given {
  method: Method | 'basic'
  /** The claimed name, under which attempts are counted. */
  name: string
  stored: string | null
  secret: string
  address: string
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
        roles: jsonIn(proven.credential.roles) as Role[],
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
    const given = { method: 'password', name: user.name, stored: user.password, secret: password, address } as const
    await this.#observed('password', address, () => this.#requireSecret(given))
  }

  /** A temporary token for HTTP Basic: the user in the default project. It is never issued. */
  basic(name: string, password: string, address: string): Token | null | Promise<Token | null> {
    const user = this.#options.directory().user(name)
    if (user && this.#options.passwords.isKnown(user.password, password)) return this.#basicToken(user)
    return this.#observed('basic', address, async () => {
      const given = { method: 'basic', name, stored: user?.password ?? null, secret: password, address } as const
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
    const name = user?.name ?? wordOf(reference)
    const given = { method: 'password', name, stored: user?.password ?? null, secret: password, address } as const
    const isCounted = await this.#requireSecret(given)
    if (!user?.isEnabled) throw await this.#refusal(given, 'disabled or over', isCounted)
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
    const owner = 'id' in wanted ? null : this.#userOf(wanted.user)
    const found = await store.read(() => credentialGiven(wanted, owner))
    // A credential made in mode `none`, where nobody is authenticated, is not valid in other modes.
    const credential = found && (isOpen || found.is_open === 0) ? found : undefined
    const word = 'id' in wanted ? wanted.id : `${wordOf(wanted.user)} ${wanted.name}`
    const name = `credential ${word}`
    const given = { method: proof.method, name, stored: credential?.secret ?? null, secret, address } as const
    const isCounted = await this.#requireSecret(given)
    const user = credential ? this.#options.directory().user(credential.user_name) : null
    const isOver = (credential?.expires_at ?? Infinity) <= clock.now()
    if (!credential || !user?.isEnabled || user.id !== credential.user_id || isOver) {
      throw await this.#refusal(given, 'disabled or over', isCounted)
    }
    return { user, methods: ['application_credential'], credential, token: null }
  }

  /** Throws unless the secret is right. Returns whether it counted as an attempt: cached and shared checks don't. */
  async #requireSecret(given: Given): Promise<boolean> {
    const { passwords, throttle, isOpen } = this.#options
    const { name, stored, secret, address } = given
    if (isOpen || passwords.isKnown(stored, secret)) return false
    if (secret.length > limits.passwordBytesMax) throw problem('not_authenticated', {})
    const isAsked = passwords.isBeingChecked(stored, secret)
    if (!isAsked) throttle.begin(name, address)
    const isRight = await passwords.check(stored, secret).catch(error => {
      if (!isAsked) throttle.withdrawn(name, address)
      throw error
    })
    if (!isRight) throw await this.#refusal(given, stored === null ? 'unknown name' : 'wrong secret', !isAsked)
    if (!isAsked) throttle.succeeded(name, address)
    return !isAsked
  }

  /** The problem for a failed login. It never tells the reason, which is for the audit only. */
  async #refusal({ method, name, address }: Given, outcome: Refused, isCounted: boolean): Promise<Problem> {
    if (isCounted) await this.#options.record({ method, name, address, outcome })
    return problem('not_authenticated', {})
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
      // A credential is for one project only.
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

function* credentialGiven(
  given: { id: string } | { name: string },
  owner: User | null,
): Read<ApplicationCredential | undefined> {
  if ('id' in given) return yield* one(credentialWithId(given))
  return owner ? yield* credentialOf(owner.id, given) : undefined
}
