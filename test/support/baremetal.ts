// A client of the bare metal API for tests.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, describe } from 'node:test'
import { type Config, loadConfig } from '../../src/config/config.ts'
import { startConductor } from '../../src/process/serve.ts'
import { inParallel } from '../races/clients.ts'
import { type Answer, Client, type Options } from './client.ts'
import { requireDocumented } from './documented.ts'
import { expectStatus, Placement } from './placement.ts'
import { sharedPostgres } from './postgres.ts'
import { type Command, runHoldfast, type Server, spawnServer, startServer } from './server.ts'
import { eachDatabase } from './stores.ts'

// Only a test that fails waits so long; a busy machine may need most of it.
const DEADLINE_MS = 60_000

export interface Allocation {
  uuid: string
  state: 'allocating' | 'active' | 'error'
  node_uuid: string | null
  last_error: string | null
}

/** The version that added holds, and expiry and waiting for allocations. */
export const NEWEST = { version: '1.83' } as const

export class Baremetal extends Client {
  /** The same server's Placement. */
  readonly placement = new Placement()

  constructor(...origins: string[]) {
    super('/baremetal', ...origins)
    this.placement.origins = origins
  }

  patch = (path: string, body?: unknown, options?: Options) => this.request('PATCH', path, body, options)

  override request(method: string, path: string, body?: unknown, options: Options = {}): Promise<Answer> {
    const { version = '1.82', headers = {}, ...rest } = options
    const own = version === null ? {} : { 'x-openstack-ironic-api-version': version }
    return super.request(method, path, body, { ...rest, version: null, headers: { ...own, ...headers } })
  }

  /** Creates a node in the wanted state, and returns its uuid. */
  async node(attributes: object = {}, state: 'enroll' | 'manageable' | 'available' | 'active' = 'enroll') {
    const { body } = expectStatus(await this.post('/v1/nodes', { driver: 'fake-hardware', ...attributes }), 201)
    const { uuid } = body
    if (state !== 'enroll') await this.go(uuid, 'manage', 'manageable')
    if (state === 'available' || state === 'active') await this.go(uuid, 'provide', 'available')
    if (state === 'active') await this.go(uuid, 'active', 'active')
    return uuid as string
  }

  /** Creates `count` nodes that can be allocated. */
  nodes(count: number, attributes: object = {}): Promise<string[]> {
    return inParallel(16, count, () => this.node(attributes, 'available'))
  }

  provision(node: string, target: string, more: object = {}, options?: Options): Promise<Answer> {
    return this.put(`/v1/nodes/${node}/states/provision`, { target, ...more }, options)
  }

  /** Sends a verb and waits until the node has reached its target state. */
  async go(node: string, verb: string, state: string, more: object = {}) {
    expectStatus(await this.provision(node, verb, more), 202)
    return this.until(node, state)
  }

  async show(node: string) {
    return expectStatus(await this.get(`/v1/nodes/${node}`), 200).body
  }

  /** Waits until the node is in this state, and nothing works on it any more. */
  async until(node: string, state: string, deadlineMs = DEADLINE_MS) {
    const deadline = performance.now() + deadlineMs
    for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.2, 50)) {
      const shown = await this.show(node)
      const isSettled = shown.reservation === null && shown.target_power_state === null
      if (shown.provision_state === state && isSettled) return shown
      if (performance.now() > deadline) {
        return assert.fail(`${node} is ${shown.provision_state}, not ${state}: ${shown.last_error}`)
      }
      await sleep(pauseMs)
    }
  }

  /** Requests an allocation, and expects that the server accepts it. */
  async allocate(body: object, options: Options = NEWEST) {
    return expectStatus(await this.post('/v1/allocations', body, options), 201).body
  }

  async allocation(ident: string, options: Options = NEWEST) {
    return expectStatus(await this.get(`/v1/allocations/${ident}`, options), 200).body
  }

  /** Waits until the allocation is decided. */
  settled(ident: string, deadlineMs = DEADLINE_MS) {
    return waitFor(
      `${ident} is settled`,
      async () => {
        const shown = await this.allocation(ident)
        return shown.state !== 'allocating' && shown
      },
      deadlineMs,
    )
  }

  async allocationsOf(resourceClass: string): Promise<Allocation[]> {
    return expectStatus(await this.get(`/v1/allocations?resource_class=${resourceClass}`), 200).body.allocations
  }

  /** All allocations of a class, once all are decided. */
  settledOf(resourceClass: string, deadlineMs = 60_000): Promise<Allocation[]> {
    return waitFor(
      `no allocation of ${resourceClass} is under way`,
      async () => {
        const all = await this.allocationsOf(resourceClass)
        return all.every(({ state }) => state !== 'allocating') && all
      },
      deadlineMs,
    )
  }

  /** Allocates, and returns the allocation once it has its node. */
  async allocated(body: object) {
    const allocation = await this.settled((await this.allocate(body)).uuid)
    assert.equal(allocation.state, 'active', allocation.last_error)
    return allocation
  }

  /** Makes an allocation that must fail, and returns it. */
  async refused(body: object) {
    const allocation = await this.settled((await this.allocate(body)).uuid)
    assert.equal(allocation.state, 'error', `it got ${allocation.node_uuid}`)
    return allocation
  }

  /** Holds the first of these nodes that is free. */
  async hold(nodes: readonly string[], more: object = {}) {
    const body = { instance_uuid: randomUUID(), node_uuid: nodes, ...more }
    return expectStatus(await this.post('/v1/reservations', body, NEWEST), 201).body.reservation
  }

  /** Sets an attribute, or removes it if the value is undefined. */
  change(node: string, attribute: string, value?: unknown, options?: Options): Promise<Answer> {
    const patch = value === undefined ? { op: 'remove' } : { op: 'add', value }
    return this.patch(`/v1/nodes/${node}`, [{ ...patch, path: `/${attribute}` }], options)
  }

  /** A request to the operator API of the same server. */
  async operator(method: string, path: string, body?: object, options: Options = {}): Promise<Answer> {
    const { token = 'admin', headers: more } = options
    const who = { 'x-auth-token': String(token), ...(more as Record<string, string> | undefined) }
    const answer = await fetch(`${this.origin}/holdfast/v1${path}`, {
      method,
      headers: { ...who, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    const headers = Object.fromEntries(answer.headers)
    const sent = body && JSON.stringify(body)
    requireDocumented({ method, path: `/holdfast/v1${path}`, sent, status: answer.status, headers, text })
    return { status: answer.status, headers, body: JSON.parse(text) }
  }

  /** The server's time; with a test clock it can be moved. */
  async now(): Promise<number> {
    return Date.parse(expectStatus(await this.operator('GET', '/clock'), 200).body.now)
  }

  /** Moves the clock to this time; conductors then do the work that is due. */
  async moveTo(time: number): Promise<void> {
    const advance = Math.max(0, time - (await this.now())) / 1000
    expectStatus(await this.operator('POST', '/clock', { advance, work: false }), 200)
  }

  fsck = () => this.placement.fsck()

  override close(): void {
    super.close()
    this.placement.close()
  }
}

/** The message of an error, in either of its two forms. */
export function fault({ body }: Answer): string {
  assert.equal(typeof body?.error_message, 'string', JSON.stringify(body))
  const inside = JSON.parse(body.error_message) as { faultstring?: string; description?: string }
  return inside.faultstring ?? inside.description ?? ''
}

/** Checks the status, and the form of the error. */
export function expectFault(answer: Answer, status: number, pattern: RegExp = /./): Answer {
  expectStatus(answer, status)
  assert.match(fault(answer), pattern)
  return answer
}

/** One group of tests for each kind of database, with a server on it; fsck must pass at the end. */
export function eachMetal(name: string, body: (api: Baremetal) => void, settings: Partial<Config> = {}): void {
  eachDatabase(name, databases => {
    void describe('', () => {
      const api = new Baremetal()
      let stop: () => Promise<void>
      before(async () => {
        const server = await startServer(await databases.create(), settings)
        api.origins = api.placement.origins = [server.origin]
        stop = () => server.stop()
      })
      body(api)
      after(async () => {
        try {
          await api.fsck()
        } finally {
          api.close()
          await stop()
        }
      })
    })
  })
}

/** On a busy machine a conductor may be silent for long, and nobody here dies. */
const PATIENT_MS = 120_000

/** Like eachMetal, and once more with two servers on one PostgreSQL, which get the requests in turn. */
export function eachMetalRace(
  name: string,
  body: (api: Baremetal) => void,
  settings: Pick<Partial<Config>, 'testClock'> = {},
): void {
  eachMetal(name, body, { ...settings, takeOverMs: PATIENT_MS })
  describe(`${name} on postgres with two servers`, () => {
    const api = new Baremetal()
    const servers: Server[] = []
    let postgres: Awaited<ReturnType<typeof sharedPostgres>>
    before(async () => {
      postgres = await sharedPostgres()
      const database = await postgres.createDatabase()
      for (const conductor of ['one', 'two']) {
        const clock = settings.testClock ? ['--test-clock'] : []
        const args = ['--conductor-name', conductor, '--take-over-ms', `${PATIENT_MS}`, ...clock]
        servers.push(await spawnServer(database, args))
      }
      api.origins = api.placement.origins = servers.map(server => server.origin)
    })
    body(api)
    after(async () => {
      try {
        await api.fsck()
      } finally {
        api.close()
        for (const server of servers) await server.stop()
        await postgres.stop()
      }
    })
  })
}

/** Polls until there is a result. */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T | null | false | undefined>,
  deadlineMs = DEADLINE_MS,
): Promise<T> {
  const deadline = performance.now() + deadlineMs
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.2, 50)) {
    const found = await look()
    if (found !== null && found !== false && found !== undefined) return found
    if (performance.now() > deadline) return assert.fail(`waited in vain until ${what}`)
    await sleep(pauseMs)
  }
}

export const uuid = randomUUID

/** A resource class that no other test uses. */
export const newClass = () => `class-${randomUUID()}`

/** Placement's name of a resource class of bare metal. */
export const classInPlacement = (name: string) => `CUSTOM_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`

/** `holdfast conductor` as a separate process, once it is ready. */
export async function spawnConductor(database: string, name: string, args: readonly string[] = []): Promise<Command> {
  const command = runHoldfast(['conductor', '--database', database, '--conductor-name', name, ...args])
  const { child, stdout, exit } = command
  await new Promise<void>((resolve, reject) => {
    child.stdout!.on('data', () => {
      if (stdout().includes('is working')) resolve()
    })
    void exit.then(({ code, stderr }) => reject(new Error(`the conductor exited with ${code}: ${stderr}`)))
  })
  return command
}

/** A conductor in this process, which is fast and can't be killed. */
export async function employConductor(database: string, conductorName: string, settings: Partial<Config> = {}) {
  const config = loadConfig({ database, conductorName, logLevel: 'silent' }, {}, undefined)
  return startConductor({ ...config, ...settings })
}
