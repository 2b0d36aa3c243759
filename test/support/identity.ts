// A client of the identity API for tests, with a users file, servers that use it, and tokens.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import type { Config } from '../../src/config/config.ts'
import { hashPassword } from '../../src/identity/passwords.ts'
import { type Answer, Client, type Options } from './client.ts'
import { expectStatus } from './placement.ts'
import { type Server, startServer } from './server.ts'
import { type Databases, eachDatabase, type Kind } from './stores.ts'

const DEADLINE_MS = 20_000

const hashes = new Map<string, Promise<string>>()
/** The hash of a password, cached because hashing is slow on purpose. */
export function hashOf(password: string): Promise<string> {
  return hashes.getOrInsertComputed(password, () => hashPassword(password, Buffer.from(password.padEnd(16, '.'))))
}

export interface TestUser {
  password: string
  roles?: Record<string, string[]>
  'default-project'?: string
  enabled?: boolean
  id?: string
}

/** Everyone's password is their name with -pw. */
export const user = (name: string, roles: Record<string, string[]>, more: object = {}): [string, TestUser] => [
  name,
  { password: `${name}-pw`, roles, ...more },
]

export const USERS = Object.fromEntries([
  user('alice', { lab: ['admin'], office: ['member'] }, { 'default-project': 'lab' }),
  user('bob', { lab: ['member'] }),
  user('carol', { lab: ['reader'], office: ['reader'] }),
  user('nova', { service: ['service'] }),
])

const PROJECTS: Record<string, object> = { lab: {}, office: { description: 'paper' } }

export async function usersText(
  users: Record<string, TestUser> = USERS,
  names: readonly string[] = ['lab', 'office', 'service'],
): Promise<string> {
  const entries = Object.entries(users).map(async ([name, entry]) => [
    name,
    { ...entry, password: await hashOf(entry.password) },
  ])
  const projects = Object.fromEntries(names.map(name => [name, PROJECTS[name] ?? null]))
  return stringify({ projects, users: Object.fromEntries(await Promise.all(entries)) })
}

export const passwordAuth = (name: string, password = `${name}-pw`, scope?: unknown) => ({
  auth: {
    identity: { methods: ['password'], password: { user: { name, domain: { id: 'default' }, password } } },
    ...(scope !== undefined && { scope }),
  },
})

export const inProject = (name: string) => ({ project: { name, domain: { name: 'Default' } } })

export class Identity extends Client {
  constructor(...origins: string[]) {
    super('/identity', ...origins)
  }

  override request(method: string, path: string, body?: unknown, options: Options = {}): Promise<Answer> {
    return super.request(method, path, body, { version: null, token: null, ...options })
  }

  logIn(name: string, password?: string, scope?: unknown): Promise<Answer> {
    return this.post('/v3/auth/tokens', passwordAuth(name, password, scope))
  }

  async token(name: string, scope?: unknown): Promise<string> {
    const { headers } = expectStatus(await this.logIn(name, undefined, scope), 201)
    return headers['x-subject-token'] as string
  }

  validate(subject: string, token = subject): Promise<Answer> {
    return this.get('/v3/auth/tokens', { token, headers: { 'x-subject-token': subject } })
  }

  /** The status of a bare metal request with this token: the shortest test of whether it is accepted. */
  async knock(token: string | null, headers: Record<string, string> = {}): Promise<number> {
    const all = { ...headers, ...(token !== null && { 'x-auth-token': token }) }
    const response = await fetch(`${this.origin}/baremetal/v1/nodes`, { headers: all })
    await response.arrayBuffer()
    return response.status
  }
}

/** Repeats until the answer is as expected or time is up, and returns the last one. */
export async function until<T>(ask: () => Promise<T>, isExpected: (value: T) => boolean): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS
  for (;;) {
    const value = await ask()
    if (isExpected(value) || performance.now() > deadline) return value
    await sleep(20)
  }
}

export interface Setting {
  api: Identity
  databases: Databases
  /** The users file. */
  file: () => string
  rewrite: (users: Record<string, TestUser>) => Promise<void>
  /** Starts another server on a database; it is stopped at the end. */
  start: (database: string, settings?: Partial<Config>) => Promise<Server>
  database: () => string
}

/** One group of tests for each kind of database, with a server on it that knows USERS. */
export function eachIdentity(
  name: string,
  body: (setting: Setting) => void,
  settings: Partial<Config> = {},
  kinds?: readonly Kind[],
): void {
  const serve = (databases: Databases) => {
    const api = new Identity()
    const servers: Server[] = []
    let folder = ''
    let database = ''
    const file = () => join(folder, 'users.yaml')
    const rewrite = async (users: Record<string, TestUser>) => writeFileSync(file(), await usersText(users))
    const start = async (address: string, more: Partial<Config> = {}) => {
      const server = await startServer(address, { auth: 'password', users: file(), ...settings, ...more })
      servers.push(server)
      return server
    }
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'holdfast-identity-'))
      await rewrite(USERS)
      database = await databases.create()
      api.origins = [(await start(database)).origin]
    })
    body({ api, databases, file, rewrite, start, database: () => database })
    after(async () => {
      api.close()
      for (const server of servers) await server.stop()
      rmSync(folder, { recursive: true })
    })
  }
  eachDatabase(name, serve, kinds)
}
