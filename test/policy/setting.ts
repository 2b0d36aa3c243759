// A server with things of several projects on it, callers of all kinds, and what the tables say that they may.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { after, before, describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Action, tableOf } from '../../src/api/policy.ts'
import type { Config } from '../../src/config/config.ts'
import type { Caller } from '../../src/identity/caller.ts'
import { Policy } from '../../src/identity/policy.ts'
import { as, asSystem } from '../support/callers.ts'
import { type Answer, Client, type Options } from '../support/client.ts'
import { startServer, type Server } from '../support/server.ts'
import { type Databases, eachDatabase, type Kind as DatabaseKind } from '../support/stores.ts'
import { type Call, FIXTURE, type Kind } from './routes.ts'
import { type State, stateOf } from './state.ts'
import { Things } from './things.ts'

export const [MINE, THEIRS] = ['project-of-mine', 'project-of-others']
export const policy = new Policy(tableOf('secure'))

const caller = (roles: string, project: string | null): Caller => ({
  user: 'me',
  project,
  roles: new Set(roles.split(',')),
  systemScope: project === null,
})
export const CALLERS: Record<string, { who: Caller; options: Options }> = Object.fromEntries(
  [
    ['someone without a role', '', MINE],
    ['a reader', 'reader', MINE],
    ['a member', 'member', MINE],
    ['a member of another project', 'member', THEIRS],
    ['an admin of another project', 'admin', THEIRS],
    ['a service', 'service', THEIRS],
  ].map(([name, roles, project]) => [name!, { who: caller(roles!, project!), options: as(roles!, project!) }]),
)
CALLERS['a reader of the whole system'] = { who: caller('reader', null), options: asSystem('reader') }

/** Whose a thing is. */
export interface Whose {
  owner: string | null
  lessee: string | null
  project: string | null
}
export const OWNERS = {
  'of its project': { owner: MINE, lessee: null, project: MINE },
  'leased to it': { owner: 'lender', lessee: MINE, project: MINE },
  'of others': { owner: 'their-lender', lessee: 'their-lessee', project: 'their-project' },
  'of nobody': { owner: null, lessee: null, project: null },
} satisfies Record<string, Whose>

/** Which of these a thing of a kind can be. */
export function ownersOf(kind: Kind | null): Record<string, Whose> {
  const { 'of its project': own, 'of others': foreign, 'of nobody': nobody } = OWNERS
  if (kind === null) return { '': nobody }
  if (kind === 'server' || kind === 'lease' || kind === 'calendar')
    return { 'of its project': own, 'of others': foreign }
  return kind === 'flavor' || kind === 'webhook'
    ? { 'of its project': own, 'of others': foreign, 'of nobody': nobody }
    : OWNERS
}

export type Expected = 'allowed' | 'forbidden' | 'not there'

/** Who sees all of a kind that is looked up among the caller's own. */
const SEES_ALL: Partial<Record<Kind, Action>> = {
  server: 'os_compute_api:servers:list_all',
  flavor: 'os_compute_api:flavors:list_all',
  lease: 'blazar:leases:list_all',
  calendar: 'holdfast:calendars:list_all',
  webhook: 'holdfast:webhooks:list_all',
}

export function expected({ api, method, path, action, kind }: Call, who: Caller, whose: Whose): Expected {
  const may = (target: object) => policy.allows(action!, who, target)
  const isOfMine =
    api === 'placement' ||
    /(quota|usage|queue).*:project/.test(path) ||
    `${method} ${path}` === 'POST /holdfast/v1/calendars'
  if (kind === null) return may({ project: isOfMine ? MINE : who.project }) ? 'allowed' : 'forbidden'
  const { owner, lessee, project } = whose
  const seesAll = SEES_ALL[kind]
  if (seesAll) {
    // Without the role for it nothing is looked up.
    if (!may({ project: who.project })) return 'forbidden'
    const isOwn = who.project !== null && project === who.project
    return isOwn || (policy.allows(seesAll, who) && may({})) ? 'allowed' : 'not there'
  }
  const target = kind === 'allocation' || kind === 'reservation' ? { project } : { owner, lessee }
  const isOwn = who.project !== null && Object.values(target).includes(who.project)
  if (!isOwn && !policy.allows('baremetal:node:list_all', who)) return 'not there'
  return may(target) ? 'allowed' : 'forbidden'
}

const VALUES: Record<string, string> = {
  ':trait': 'CUSTOM_A',
  ':vif': 'no-vif',
  '/drivers/:name': '/drivers/fake-hardware',
  ':hostname': hostname(),
  ':resource_class': 'VCPU',
  ':name': 'CUSTOM_MATRIX_NAME',
  ':key': FIXTURE.key,
  ':action': 'enable',
  ':project': MINE,
}

function urlOf(path: string, id: string): string {
  let url = path
  for (const [name, value] of Object.entries(VALUES)) url = url.replace(name, value)
  url = url.replaceAll(/:[a-z_]+/g, id)
  if (path === '/placement/usages') url += `?project_id=${MINE}`
  if (path.endsWith('/allocation_candidates')) url += '?resources=VCPU:1'
  if (path.endsWith('/nodes/validate')) url += `?node=${id}`
  return url
}

function versionsFor(api: Call['api']): Record<string, string> {
  if (api === 'baremetal') return { 'x-openstack-ironic-api-version': '1.83' }
  if (api === 'placement') return { 'openstack-api-version': 'placement 1.39' }
  if (api === 'compute') return { 'x-openstack-nova-api-version': '2.38' }
  return {}
}

/** What was answered, but for what is different each time. */
export const told = ({ status, body }: Answer, id: string) =>
  `${status} ${JSON.stringify(body)
    .replaceAll(id, 'ID')
    .replaceAll(/req-[0-9a-f-]+/g, 'REQ')}`

export class Setting {
  readonly client = new Client('')
  readonly things = new Things()
  #server: Server | undefined
  #state: State | undefined

  async open(address: string, settings: Partial<Config>): Promise<void> {
    this.#server = await startServer(address, {
      placementPolicy: 'secure',
      testClock: true,
      webhookAllow: '127.0.0.1',
      ...settings,
    })
    this.client.origins = [this.#server.origin]
    this.#state = await stateOf(address)
    await this.things.open(this.#server.origin)
  }

  async close(): Promise<void> {
    await this.#state?.close()
    this.client.close()
    this.things.close()
    await this.#server?.stop()
  }

  hash = () => this.#state!.hash()

  async quiet(): Promise<void> {
    for (const deadline = performance.now() + 15_000; !(await this.#state!.isQuiet()); await sleep(5)) {
      assert.ok(performance.now() < deadline, 'the conductor has work for ever')
    }
  }

  async make(kind: Kind, whose: Whose): Promise<string> {
    const id = await this.things.make(kind, whose)
    if (kind === 'allocation') await this.quiet()
    return id
  }

  send({ api, method, path, body }: Call, id: string, options: Options): Promise<Answer> {
    const headers = { ...versionsFor(api), ...options.headers }
    return this.client.request(method, urlOf(path, id), body?.(id), { ...options, version: null, headers })
  }
}

/** One group of tests for each kind of database, with a setting of its own. */
export function eachSetting(
  name: string,
  body: (setting: Setting, database: DatabaseKind) => void,
  settings: Partial<Config> = {},
  kinds?: readonly DatabaseKind[],
): void {
  const serve = (databases: Databases) => {
    void describe('', () => {
      const setting = new Setting()
      before(async () => setting.open(await databases.create(), settings))
      body(setting, databases.kind)
      after(() => setting.close())
    })
  }
  eachDatabase(name, serve, kinds)
}

export const missingId = randomUUID
