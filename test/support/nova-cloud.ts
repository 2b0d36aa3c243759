// Holdfast and a test Nova beside each other: Holdfast is Nova's Identity, Image and Placement.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import type { Config } from '../../src/config/config.ts'
import type { Options } from './client.ts'
import { Identity, inProject, user, usersText } from './identity.ts'
import { NOVA_LOGIN, type NovaOptions, startNova, type TestNova } from './nova.ts'
import { Placement } from './placement.ts'
import { type Server, startServer } from './server.ts'
import { eachDatabase } from './stores.ts'

/** Alice and Bob are members of projects of their own. */
const PEOPLE = Object.fromEntries([
  user('root', { lab: ['admin'] }),
  user('alice', { p1: ['member', 'reader'] }),
  user('bob', { p2: ['member', 'reader'] }),
  user(NOVA_LOGIN.user, { [NOVA_LOGIN.project]: ['admin', 'service'] }),
])
const PROJECTS: Record<string, string> = { root: 'lab', alice: 'p1', bob: 'p2' }

export type Person = 'root' | 'alice' | 'bob'

export class NovaCloud {
  readonly nova: TestNova
  readonly origin: string
  readonly database: string
  /** As root. */
  readonly placement: Placement
  readonly #identity: Identity
  readonly #tokens = new Map<Person, string>()
  readonly #stop: () => Promise<void>

  constructor(nova: TestNova, server: Server, database: string, clean: () => void) {
    this.nova = nova
    this.origin = server.origin
    this.database = database
    this.placement = new Placement(server.origin)
    this.#identity = new Identity(server.origin)
    this.#stop = async () => {
      this.placement.close()
      this.#identity.close()
      await nova.stop()
      await server.stop()
      clean()
    }
  }

  /** Someone's token. */
  async token(person: Person): Promise<string> {
    const known = this.#tokens.get(person)
    if (known !== undefined) return known
    const token = await this.#identity.token(person, inProject(PROJECTS[person]!))
    this.#tokens.set(person, token)
    return token
  }

  as = async (person: Person): Promise<Options> => ({ token: await this.token(person), version: null })

  /** The id of someone's project. */
  async project(person: Person): Promise<string> {
    const token = await this.token(person)
    return (await this.#identity.validate(token)).body.token.project.id
  }

  stop = () => this.#stop()
}

/** Starts a Nova and a Holdfast that knows it; without settings Holdfast has no compute of its own. */
export async function startCloud(
  database: string,
  settings: Partial<Config> = {},
  options: NovaOptions = {},
): Promise<NovaCloud> {
  const nova = await startNova(options)
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-nova-'))
  const users = join(folder, 'users.yaml')
  writeFileSync(users, await usersText(PEOPLE, ['lab', 'p1', 'p2', NOVA_LOGIN.project]))
  const base: Partial<Config> = { auth: 'password', users, compute: 'nova', novaUrl: nova.url, novaPollSeconds: 1 }
  const server = await startServer(database, { ...base, testClock: true, tokenHours: 24 * 30, ...settings })
  nova.use(server.origin)
  const cloud = new NovaCloud(nova, server, database, () => rmSync(folder, { recursive: true }))
  cloud.placement.defaultToken = await cloud.token('root')
  return cloud
}

/** One group of tests for each kind of database, with a Nova of its own; fsck must pass at the end. */
export function eachCloud(
  name: string,
  body: (cloud: () => NovaCloud) => void,
  settings: Partial<Config> = {},
  options: NovaOptions = {},
): void {
  eachDatabase(name, databases => {
    void describe('', () => {
      let cloud: NovaCloud
      before(async () => {
        cloud = await startCloud(await databases.create(), settings, options)
      })
      body(() => cloud)
      after(async () => {
        try {
          await cloud.nova.settled()
          await cloud.placement.fsck()
        } finally {
          await cloud.stop()
        }
      })
    })
  })
}
