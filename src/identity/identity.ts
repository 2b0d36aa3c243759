// Authenticates requests by mode: everyone (none), by headers (noauth2), our users (password), Keystone's (keystone).
import type { IncomingHttpHeaders } from 'node:http'
import { availableParallelism } from 'node:os'
import type { Logger } from 'pino'
import type { Clock } from '../clock/clock.ts'
import { limits } from '../shared/limits.ts'
import { UsageError } from '../shared/usage-error.ts'
import type { Store } from '../store/store.ts'
import { basicCredentials } from './basic.ts'
import { ANYONE, type Caller } from './caller.ts'
import { type Directory, openDirectory } from './directory.ts'
import { KeyRing } from './key-ring.ts'
import { KeystoneAccount, keystoneUrl } from './keystone-account.ts'
import { KeystoneLogin } from './keystone-login.ts'
import { Keystone } from './keystone.ts'
import { Login } from './login.ts'
import { type AskForNames, Names } from './names.ts'
import { recordLogin } from './login-record.ts'
import { callerFromNoauth2 } from './noauth2.ts'
import { Passwords } from './passwords.ts'
import { withServiceUser } from './service-user.ts'
import type { IdentitySettings } from './settings.ts'
import { Tickets } from './tickets.ts'
import { asAnyone, asIn, asThen, inMode, type Standing } from './standing.ts'
import { Throttle } from './throttle.ts'
import { type Token, Tokens } from './tokens.ts'
import { followUsers, type Users } from './users.ts'
import { UsersFileError } from './users-file.ts'
import { UsersWriter } from './users-writer.ts'

/** The parts of a request that identify the caller. */
interface Bearer {
  readonly headers: IncomingHttpHeaders
  /** The client's address. */
  readonly ip: string
}

/** The caller, or null when authentication fails; a promise only if the answer is not cached. */
export type Authenticate = (bearer: Bearer) => Caller | null | Promise<Caller | null>

/** The services behind /identity, in the modes in which we issue tokens ourselves. */
export interface Issuer {
  readonly tokens: Tokens
  readonly login: Login
  readonly passwords: Passwords
  readonly directory: () => Directory
  /** Changes users and projects; null where everyone is known. */
  readonly users: UsersWriter | null
}

/** The headers that a ticket stands for; null when it isn't valid. */
export type Redeem = Tickets['redeem']

export interface Identity {
  readonly authenticate: Authenticate
  readonly issuer: Issuer | null
  /** Logs users of Keystone in; null where they aren't Keystone's. */
  readonly keystone: KeystoneLogin | null
  /** For callers that can't send a header. */
  readonly tickets: Tickets
  readonly standing: Standing
  /** What users and projects are called. */
  readonly names: Names
  stop(): Promise<void>
}

export interface IdentityOptions {
  config: IdentitySettings
  store: Store
  clock: Clock
  log: Logger
  /** Counts logins and Keystone's answers about tokens. */
  observe: (method: string, outcome: 'granted' | 'refused' | 'throttled' | 'unavailable') => void
}

/** The answer to who is calling, and who issues tokens, if we do. */
type Mode = Pick<Identity, 'authenticate' | 'issuer' | 'standing'> & {
  keystone?: KeystoneLogin
  ask: AskForNames | null
  stop(): void
}

export async function createIdentity(options: IdentityOptions): Promise<Identity> {
  const { clock, config } = options
  let keys: Promise<KeyRing> | undefined
  const again = (error: unknown) => {
    keys = undefined
    throw error
  }
  const mode = await modeOf(options)
  const { issuer, standing, ask } = mode
  const directory = () => (config.auth === 'password' ? issuer!.directory() : null)
  const names = new Names({ ...options, directory, ask })
  await names.load()
  return {
    authenticate: named(mode.authenticate, names),
    issuer,
    keystone: mode.keystone ?? null,
    standing,
    names,
    tickets: new Tickets({ store: options.store, clock, keys: () => (keys ??= keysFor(options).catch(again)) }),
    stop: async () => {
      mode.stop()
      await names.stop()
    },
  }
}

/** Takes in the names of those who are let in. */
function named(authenticate: Authenticate, names: Names): Authenticate {
  const met = (caller: Caller | null) => {
    if (caller) names.saw(caller)
    return caller
  }
  return bearer => {
    const found = authenticate(bearer)
    return found instanceof Promise ? found.then(met) : met(found)
  }
}

async function modeOf(options: IdentityOptions): Promise<Mode> {
  switch (options.config.auth) {
    case 'none':
      return openToAll(options)
    case 'noauth2':
      return {
        authenticate: ({ headers }) => callerFromNoauth2(headers),
        issuer: null,
        standing: inMode('noauth2', asThen),
        ask: null,
        stop: () => {},
      }
    case 'password':
      return ownUsers(options)
    default:
      return keystoneUsers(options)
  }
}

async function openToAll(options: IdentityOptions): Promise<Mode> {
  const issuer = await issuerFor(options, () => openDirectory, null)
  const authenticate: Authenticate = ({ headers }) => {
    const text = headers['x-auth-token']
    if (typeof text !== 'string') return ANYONE
    const token = issuer.tokens.check(text)
    if (token instanceof Promise) return token.then(found => found?.caller ?? ANYONE)
    return token?.caller ?? ANYONE
  }
  return { authenticate, issuer, standing: inMode('none', asAnyone), ask: null, stop: () => {} }
}

async function ownUsers(options: IdentityOptions): Promise<Mode> {
  const users = openUsers(options)
  const writer = new UsersWriter({ path: options.config.users, follow: () => users.look() })
  const issuer = await issuerFor(options, () => users.directory(), writer)
  const authenticate: Authenticate = ({ headers, ip }) => {
    const text = headers['x-auth-token']
    if (typeof text === 'string') return callerOf(issuer.tokens.check(text))
    const basic = headers.authorization === undefined ? null : basicCredentials(headers.authorization)
    return basic && callerOf(issuer.login.basic(basic.name, basic.password, ip))
  }
  const standing = inMode(
    'password',
    asIn(() => users.directory()),
  )
  return { authenticate, issuer, standing, ask: null, stop: () => users.stop() }
}

function callerOf(token: Token | null | Promise<Token | null>): Caller | null | Promise<Caller | null> {
  return token instanceof Promise ? token.then(found => found?.caller ?? null) : (token?.caller ?? null)
}

function openUsers({ config, log }: IdentityOptions): Users {
  try {
    return followUsers(config.users, log)
  } catch (error) {
    if (!(error instanceof UsersFileError)) throw error
    throw new UsageError(
      `users file ${config.users}: ${error.message}; make one: holdfast user add NAME --role admin`,
      {
        cause: error,
      },
    )
  }
}

export const lifeMsOf = ({ tokenHours }: IdentitySettings) => tokenHours * 60 * 60_000

const keysFor = ({ config, store, clock }: IdentityOptions) => KeyRing.open({ store, clock, lifeMs: lifeMsOf(config) })

async function issuerFor(
  options: IdentityOptions,
  directory: () => Directory,
  users: UsersWriter | null,
): Promise<Issuer> {
  const { config, store, clock, log, observe } = options
  const now = () => clock.now()
  const lifeMs = lifeMsOf(config)
  const keys = await keysFor(options)
  const known = config.compute === 'nova' ? () => withServiceUser(directory()) : directory
  const tokens = new Tokens({ store, clock, keys, directory: known, lifeMs })
  const threads = Math.max(1, Math.min(availableParallelism() - 1, limits.hashThreadsMax))
  const passwords = new Passwords({ secret: clock.newSecret(32), now, threads })
  const login = new Login({
    store,
    clock,
    tokens,
    directory,
    passwords,
    throttle: new Throttle(now),
    isOpen: users === null,
    tokenMs: lifeMs,
    record: async deed => {
      if (config.audit === 'on') await store.write(() => recordLogin(deed, now()))
    },
    observe: (method, outcome, address) => {
      observe(method, outcome)
      // Throttled logins are not logged: an attacker could fill the log with them.
      if (outcome === 'refused') log.warn({ method, address }, 'a login was refused')
    },
  })
  return { tokens, login, passwords, directory, users }
}

function keystoneUsers({ config, clock, log, observe }: IdentityOptions): Mode {
  const now = () => clock.now()
  const keystone = new Keystone({
    url: keystoneUrl(config),
    account: new KeystoneAccount(config, now),
    keepMs: config.keystoneCacheSeconds * 1_000,
    now,
    log,
    observe: outcome => observe('keystone', outcome),
  })
  const login = new KeystoneLogin({ keystone, throttle: new Throttle(now), observe })
  const authenticate: Authenticate = ({ headers, ip }) => {
    const token = headers['x-auth-token']
    return typeof token === 'string' ? keystone.callerOf(token, ip) : null
  }
  const ask: AskForNames = (kind, word) => keystone.called(kind, word)
  const standing = inMode('keystone', asThen)
  return { authenticate, issuer: null, keystone: login, standing, ask, stop: () => {} }
}
