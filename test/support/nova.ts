// A Nova for tests, with hosts that exist in Placement only. It keeps its servers' claims in Holdfast as the real one
// does, says what the real one says, and fails in all the ways that were seen.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Answer, bare, type Body, failureOf, type NovaRequest, Refusal } from './nova-answers.ts'
import { type Caller, Holdfast, type Login } from './nova-holdfast.ts'
import { type HostSize, NovaHost } from './nova-host.ts'
import { routeOf } from './nova-routes.ts'
import type { Flavor, Migration, Server } from './nova-rows.ts'
import { releaseTree } from './nova-scheduler.ts'

const VERSION_MAX = 93
const PREFIX = '/v2.1'
/** In Nova's service project, with the roles that it needs; for a users file. */
export const NOVA_LOGIN: Login = { user: 'nova', password: 'nova-pw', project: 'service' }

export interface NovaOptions {
  login?: Login
  /** Rows on a page. */
  pageMax?: number
  /** Servers of a project. */
  instancesMax?: number
}

/** What goes wrong with requests: with those of this method and path, so many times, or until `heal`. */
export interface NovaFault {
  /** `lost`: it is done, and the answer is lost. `drop`: nothing is done. */
  kind: 'hang' | 'status' | 'drop' | 'lost'
  method?: string
  path?: RegExp
  /** Of the client; 2.61 is Holdfast's. */
  version?: string
  /** So many pass before it. */
  skip?: number
  times?: number
  /** Of `status`, with this body, or the usual one. */
  status?: number
  body?: unknown
}

export interface SeenRequest {
  method: string
  /** Below /v2.1, with the query. */
  path: string
  body: Body
  version: string | null
  /** 0: there was no answer. */
  status: number
}

export class TestNova {
  readonly flavors = new Map<string, Flavor>()
  readonly servers = new Map<string, Server>()
  readonly migrations: Migration[] = []
  readonly hosts = new Map<string, NovaHost>()
  readonly holdfast: Holdfast
  readonly requests: SeenRequest[] = []
  readonly pageMax: number
  readonly instancesMax: number
  /** What its own work threw; a test that is over should find none. */
  readonly errors: unknown[] = []
  origin = ''
  #faults: NovaFault[] = []
  readonly #work = new Set<Promise<void>>()
  #server: HttpServer | null = null
  #port = 0

  constructor({ login = NOVA_LOGIN, pageMax = 1000, instancesMax = 100 }: NovaOptions = {}) {
    this.holdfast = new Holdfast(login)
    this.pageMax = pageMax
    this.instancesMax = instancesMax
  }

  /** For novaUrl. */
  get url(): string {
    return `${this.origin}${PREFIX}`
  }

  /** Holdfast's address, once it listens. */
  use(origin: string): void {
    this.holdfast.origin = origin
  }

  /** Adds hosts, and says so in Placement as nova-compute does. */
  async addHosts(
    count: number,
    size: HostSize = {},
    prefix = `compute-${randomUUID().slice(0, 8)}`,
  ): Promise<NovaHost[]> {
    const added = Array.from({ length: count }, (_, at) => new NovaHost(`${prefix}-${at + 1}`, size, this.holdfast))
    for (const host of added) {
      this.hosts.set(host.name, host)
      if (!(await host.report())) throw new Error(`${host.name}: ${host.failures.join('; ')}`)
    }
    return added
  }

  host(name: string): NovaHost {
    return this.hosts.get(name)!
  }

  /** All computes that run report. */
  async report(): Promise<void> {
    for (const host of this.hosts.values()) if (host.isRunning && host.isService) await host.report()
  }

  /** A compute that died is back: what was evacuated from it is forgotten there, what it was sent is done. */
  async start(name: string): Promise<void> {
    const host = this.host(name)
    const evacuated = this.migrations.filter(each => each.type === 'evacuation' && each.source === name)
    const uuid = host.uuid
    await host.revive()
    for (const move of evacuated.filter(({ status }) => status === 'done')) {
      if (this.servers.has(move.server.id)) await releaseTree(this.holdfast, move.server.id, uuid)
      move.status = 'completed'
    }
    await this.settled()
  }

  /** Returns the fault, whose `skip` and `times` count down. */
  fail(fault: NovaFault): NovaFault {
    const copy = { ...fault }
    this.#faults.push(copy)
    return copy
  }

  heal(): void {
    this.#faults = []
  }

  /** Connections are refused, until `back`. */
  async away(): Promise<void> {
    const server = this.#server
    this.#server = null
    if (!server) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }

  async back(): Promise<void> {
    if (this.#server) return
    const server = createServer((request, response) => void this.#serve(request, response))
    server.listen(this.#port, '127.0.0.1')
    await once(server, 'listening')
    this.#server = server
    this.#port = (server.address() as AddressInfo).port
    this.origin = `http://127.0.0.1:${this.#port}`
  }

  async stop(): Promise<void> {
    await this.away()
    await this.settled()
  }

  /** Requests of a method, to paths that match. */
  seen(method: string, path = /./): SeenRequest[] {
    return this.requests.filter(each => each.method === method && path.test(each.path))
  }

  /** Work that the caller doesn't wait for. */
  run(work: () => Promise<void>): void {
    const done = Promise.resolve()
      .then(work)
      .catch(error => void this.errors.push(error))
      .finally(() => this.#work.delete(done))
    this.#work.add(done)
  }

  /** Until nothing is under way but what waits for computes that are dead. */
  async settled(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work)
  }

  set(server: Server, change: Partial<Server>): void {
    Object.assign(server, change, { updated: new Date() })
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = (await incoming.toArray()).map(String).join('')
    const url = new URL(incoming.url!, this.origin)
    const seen: SeenRequest = {
      method: incoming.method!,
      path: incoming.url!.replace(PREFIX, ''),
      body: text === '' ? null : JSON.parse(text),
      version: wantedVersion(incoming.headers),
      status: 0,
    }
    this.requests.push(seen)
    const fault = this.#faultOf(seen)
    if (fault?.kind === 'hang') return
    if (fault?.kind === 'drop') return void incoming.socket.destroy()
    const answer = fault?.kind === 'status' ? failureBy(fault) : await this.#answer(seen, url, incoming)
    if (fault?.kind === 'lost') return void incoming.socket.destroy()
    seen.status = answer.status
    const body = answer.body === undefined ? undefined : JSON.stringify(answer.body)
    response.writeHead(answer.status, { ...(body && { 'content-type': 'application/json' }), ...answer.headers })
    response.end(body)
  }

  #faultOf({ method, path, version }: SeenRequest): NovaFault | undefined {
    const fault = this.#faults.find(
      each =>
        (each.method ?? method) === method &&
        (each.version ?? version) === version &&
        (each.path ?? /./).test(path) &&
        (each.times ?? 1) > 0,
    )
    if (!fault) return undefined
    if ((fault.skip ?? 0) > 0) {
      fault.skip!--
      return undefined
    }
    if (fault.times !== undefined) fault.times--
    return fault
  }

  async #answer(seen: SeenRequest, url: URL, { headers }: IncomingMessage): Promise<Answer> {
    if (['/', PREFIX, `${PREFIX}/`].includes(url.pathname)) return this.#versions(url.pathname)
    const path = url.pathname.replace(PREFIX, '')
    const caller = await this.#callerOf(headers['x-auth-token'])
    if ('status' in caller) return caller
    const version = versionIn(seen.version)
    if (typeof version === 'object') return version
    const route = routeOf(seen.method, path)
    if (!route || !url.pathname.startsWith(`${PREFIX}/`)) return bare(404)
    const request: NovaRequest = {
      ...seen,
      path: url.pathname,
      parts: route.parts,
      query: url.searchParams,
      version,
      caller,
    }
    const answer = await this.#do(() => route.handler(this, request))
    const shown = `2.${version}`
    const versions = { 'openstack-api-version': `compute ${shown}`, 'x-openstack-nova-api-version': shown }
    return { ...answer, headers: { ...versions, 'x-compute-request-id': `req-${randomUUID()}`, ...answer.headers } }
  }

  async #do(work: () => Answer | Promise<Answer>): Promise<Answer> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof Refusal) return error.answer
      this.errors.push(error)
      return failureOf(500)
    }
  }

  async #callerOf(token: unknown): Promise<Caller | Answer> {
    if (typeof token !== 'string') return bare(401)
    try {
      return (await this.holdfast.callerOf(token)) ?? bare(401)
    } catch {
      return bare(503)
    }
  }

  #versions(path: string): Answer {
    const links = [{ rel: 'self', href: `${this.url}/` }]
    const version = {
      id: 'v2.1',
      status: 'CURRENT',
      version: `2.${VERSION_MAX}`,
      min_version: '2.1',
      updated: '2013-07-23T11:33:21Z',
      links,
    }
    return path === '/' ? { status: 200, body: { versions: [version] } } : { status: 200, body: { version } }
  }
}

function failureBy({ status = 500, body }: NovaFault): Answer {
  return body === undefined ? failureOf(status) : { status, body }
}

function wantedVersion(headers: IncomingMessage['headers']): string | null {
  const found = /compute\s+(\S+)/.exec(String(headers['openstack-api-version'] ?? ''))
  return found?.[1] ?? (headers['x-openstack-nova-api-version'] as string | undefined) ?? null
}

/** 61 of 2.61, or what is wrong with it. */
function versionIn(wanted: string | null): number | Answer {
  if (wanted === null) return 1
  if (wanted === 'latest') return VERSION_MAX
  const [, major, minor] = /^(\d+)\.(\d+)$/.exec(wanted) ?? []
  if (minor === undefined) {
    return new Refusal(400, `API Version String ${wanted} is of invalid format. Must be of format MajorNum.MinorNum.`)
      .answer
  }
  if (major === '2' && Number(minor) >= 1 && Number(minor) <= VERSION_MAX) return Number(minor)
  const message = `Version ${wanted} is not supported by the API. Minimum is 2.1 and maximum is 2.${VERSION_MAX}.`
  return new Refusal(406, message).answer
}

/** Listens on a free port. `use` says where Holdfast is. */
export async function startNova(options: NovaOptions = {}): Promise<TestNova> {
  const nova = new TestNova(options)
  await nova.back()
  return nova
}
