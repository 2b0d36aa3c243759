// Issues, checks and revokes tokens. A valid token is cached for at most half a second; then users, roles and
// revocations by other processes are checked again.
import { BoundedMap } from '../shared/bounded-map.ts'
import type { Clock } from '../clock/clock.ts'
import { limits } from '../shared/limits.ts'
import type { Store } from '../store/store.ts'
import { type Read, together } from '../store/transaction.ts'
import { credentialWithId } from './application-credentials.ts'
import type { Caller } from './caller.ts'
import type { Directory, Project, User } from './directory.ts'
import { revocationOf, revokeToken } from './revocations.ts'
import { type Role, withImplied } from './roles.ts'
import type { KeyRing } from './key-ring.ts'
import type { TokenFacts } from './token-text.ts'

/** A valid token, and what it grants. */
export interface Token {
  readonly facts: TokenFacts
  readonly user: User
  readonly project: Project | null
  readonly roles: ReadonlySet<Role>
  readonly caller: Caller
}

interface Kept {
  token: Token
  directory: Directory
  goodUntil: number
}

interface TokensOptions {
  store: Store
  clock: Clock
  keys: Pick<KeyRing, 'sign' | 'read'>
  directory: () => Directory
  /** The longest life of a token, even if its own expiry is later. */
  lifeMs: number
}

export class Tokens {
  readonly #options: TokensOptions
  readonly #kept = new BoundedMap<string, Kept>(limits.keptTokensMax)
  readonly #looking = new Map<string, Promise<Token | null>>()
  /** How many tokens this process has revoked. */
  #ended = 0

  constructor(options: TokensOptions) {
    this.#options = options
  }

  write(facts: TokenFacts): Promise<string> {
    return this.#options.keys.sign(facts)
  }

  /** The token if it is valid, at once if cached. */
  check(text: string): Token | null | Promise<Token | null> {
    const { clock, directory } = this.#options
    const kept = this.#kept.get(text)
    if (kept && clock.now() < kept.goodUntil && kept.directory === directory()) return kept.token
    const present = this.#looking.get(text)
    if (present) return present
    const looking = this.#look(text).finally(() => {
      if (this.#looking.get(text) === looking) this.#looking.delete(text)
    })
    this.#looking.set(text, looking)
    return looking
  }

  /** The token with these facts, without a check for revocation; null when it is expired or grants nothing. */
  tokenOf(facts: TokenFacts): Token | null {
    const { clock, directory, lifeMs } = this.#options
    const now = clock.now()
    // Also limits tokens from a stolen key, and those from before `lifeMs` was lowered.
    const expiresAt = Math.min(facts.expiresAt, facts.issuedAt + lifeMs)
    if (expiresAt <= now || facts.issuedAt > now + limits.clockSlackMs) return null
    return granted({ ...facts, expiresAt }, directory())
  }

  async #look(text: string): Promise<Token | null> {
    const { clock, store, keys } = this.#options
    const facts = await keys.read(text)
    const directory = this.#options.directory()
    const token = facts && this.tokenOf(facts)
    if (!token) return null
    const checkedAt = clock.now()
    const ended = this.#ended
    if (!(await store.read(() => isStanding(token.facts, checkedAt)))) return null
    const goodUntil = Math.min(token.facts.expiresAt, checkedAt + limits.tokenRecheckMs)
    // The read may be older than a revocation that came meanwhile.
    if (ended === this.#ended) this.#kept.set(text, { token, directory, goodUntil })
    return token
  }

  /** Revokes a token: here at once, in other processes at their next check. The request's store writes the audit. */
  async revoke(store: Store, text: string, { facts }: Token): Promise<void> {
    const now = this.#options.clock.now()
    await store.write(() => revokeToken(facts, now))
    this.#ended++
    this.#kept.delete(text)
    this.#looking.delete(text)
  }
}

function* isStanding({ id, credential }: TokenFacts, now: number): Read<boolean> {
  const [revoked, [made]] = yield* together(revocationOf({ token: id }), credentialWithId({ id: credential?.id ?? '' }))
  if (revoked.length > 0) return false
  return credential === null || (made !== undefined && (made.expires_at ?? Infinity) > now)
}

/** The token that these facts grant with the present users and roles. */
function granted(facts: TokenFacts, directory: Directory): Token | null {
  const user = directory.user(facts.user)
  if (!user?.isEnabled || user.stamp !== facts.stamp) return null
  const project = facts.project === null ? null : directory.project(facts.project)
  if (facts.project !== null && !project) return null
  const roles = narrowed(
    project ? directory.rolesOn(user, project) : facts.system ? directory.systemRoles(user) : new Set<Role>(),
    facts,
  )
  const isScoped = project !== null || facts.system
  if (isScoped && roles.size === 0) return null
  const caller: Caller = {
    user: user.id,
    userName: user.name,
    project: project?.id ?? null,
    projectName: project?.name ?? null,
    roles,
    systemScope: facts.system,
  }
  return { facts, user, project, roles, caller }
}

function narrowed(roles: ReadonlySet<Role>, { credential }: TokenFacts): ReadonlySet<Role> {
  return credential ? roles.intersection(withImplied(credential.roles)) : roles
}
