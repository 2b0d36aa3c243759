// BMCs that speak Redfish, for tests: one HTTP server with one BMC or a thousand, and all the ways in which they fail.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Json } from '../../src/shared/json.ts'
import { actionOf, type Answer, refused } from './bmc-actions.ts'
import { TestMachine } from './bmc-machine.ts'
import { linkTo, type MachineOptions, type Resources, resourcesOf } from './bmc-resources.ts'

export interface BmcOptions {
  /** One machine unless given. */
  machines?: readonly MachineOptions[]
  username?: string
  password?: string
  /** `none`: asks for no login. */
  auth?: 'both' | 'session' | 'basic' | 'none'
  /** After so many sessions a login is refused, as Dell's BMC does. */
  sessionsMax?: number
  /** `strict` wants If-Match, and takes the right one only; `weak` sends weak ones and takes only their strong form. */
  etags?: 'none' | 'strong' | 'strict' | 'weak'
  /** Actions and changes answer 202 with a monitor, which is asked so often until it is done. */
  taskPolls?: number
  mediaOn?: 'System' | 'Manager'
  /** Downloads media that are inserted, and refuses those that it can't. */
  downloads?: boolean
  tls?: { key: string; cert: string }
  /** Any free one unless given. */
  port?: number
}

/** What goes wrong with requests: with those of this method and path, so many times, or until `heal`. */
export interface Fault {
  kind: 'hang' | 'slow' | 'busy' | 'status' | 'drop' | 'drop answer' | 'garbage' | 'huge' | 'redirect'
  method?: string
  path?: RegExp
  times?: number
  /** Of `slow`: so long, or until then. */
  ms?: number
  until?: Promise<unknown>
  /** Of `busy`: seconds in Retry-After. */
  retryAfter?: number
  /** Of `status`, with this body; text that isn't JSON too. */
  status?: number
  body?: Json | string
  /** Of `redirect`. */
  to?: string
}

export interface SeenRequest {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: Json | null
}

export class TestBmc {
  /** For redfish_address. */
  readonly address: string
  /** /redfish/v1, with what stands in front of it. */
  readonly root: string
  readonly machines: readonly TestMachine[]
  readonly resources: Resources
  readonly requests: SeenRequest[] = []
  readonly sessions = new Map<string, string>()
  readonly downloads: string[] = []
  readonly options: BmcOptions
  username: string
  password: string
  #faults: Fault[] = []
  readonly #tasks = new Map<string, { polls: number; answer: Answer }>()
  #count = 0

  constructor(options: BmcOptions, { origin, prefix }: { origin: string; prefix: string }) {
    const { machines = [{}], auth = 'both', mediaOn = 'System' } = options
    this.options = options
    this.username = options.username ?? 'admin'
    this.password = options.password ?? 'secret-word'
    this.root = `${prefix}/redfish/v1`
    this.address = prefix === '' ? origin : `${origin}${this.root}`
    const hasSessions = auth === 'both' || auth === 'session'
    this.resources = resourcesOf({ prefix, mediaOn, hasSessions, machines })
    const members = this.resources.get(`${this.root}/Systems`)!['Members'] as { '@odata.id': string }[]
    this.machines = members.map(member => new TestMachine(member['@odata.id'], this.resources))
  }

  /** Of the first machine, or of another. */
  driverInfo(machine?: TestMachine): Json {
    return {
      redfish_address: this.address,
      ...(machine ? { redfish_system_id: machine.path } : {}),
      ...(this.options.auth === 'none' ? {} : { redfish_username: this.username, redfish_password: this.password }),
    }
  }

  get machine(): TestMachine {
    return this.machines[0]!
  }

  /** By its path below /redfish/v1. */
  resource(path: string): Json {
    return this.resources.get(`${this.root}/${path}`)!
  }

  fail(fault: Fault): void {
    this.#faults.push(fault)
  }

  heal(): void {
    this.#faults = []
  }

  /** As after a restart of the BMC: tokens that it gave out are refused. */
  forgetSessions(): void {
    this.sessions.clear()
  }

  /** Requests of a method, to paths that end so. */
  seen(method: string, ending = ''): SeenRequest[] {
    return this.requests.filter(request => request.method === method && request.path.endsWith(ending))
  }

  /** A task that ends with this answer once it was asked for often enough. */
  #task(answer: Answer, polls: number): Answer {
    const monitor = `${this.root}/TaskService/TaskMonitors/${++this.#count}`
    this.#tasks.set(monitor, { polls, answer })
    return { status: 202, headers: { location: monitor }, body: { '@odata.type': '#Message.v1_0_0.Message' } }
  }

  /** Null: no answer, and the connection is closed. */
  async answer(request: SeenRequest): Promise<Answer | null | 'never'> {
    this.requests.push(request)
    const fault = this.#faultOf(request)
    if (fault?.kind === 'slow') await (fault.until ?? new Promise(resolve => setTimeout(resolve, fault.ms ?? 100)))
    else if (fault?.kind === 'drop answer') return (await this.#work(request), null)
    else if (fault) return faulty(fault)
    return this.#work(request)
  }

  #faultOf({ method, path }: SeenRequest): Fault | undefined {
    const at = this.#faults.findIndex(
      fault => (fault.method ?? method) === method && (fault.path ?? /./).test(path) && (fault.times ?? 1) > 0,
    )
    const fault = this.#faults[at]
    if (fault?.times !== undefined) fault.times--
    return fault
  }

  async #work(request: SeenRequest): Promise<Answer> {
    const path = request.path.replace(/\?.*$/, '').replace(/\/+$/, '')
    if (path === this.root && request.method === 'GET') return { status: 200, body: this.resources.get(path)! }
    if (path === `${this.root}/SessionService/Sessions` && request.method === 'POST') return this.#login(request)
    if (!this.#isAllowed(request)) return refused(401, 'NoValidSession', 'There is no valid session.')
    const task = this.#tasks.get(path)
    if (task) return --task.polls > 0 ? { status: 202, headers: { 'retry-after': '0' } } : task.answer
    if (request.method === 'DELETE' && path.startsWith(`${this.root}/SessionService/Sessions/`))
      return this.#logout(path)
    if (request.method === 'GET') return this.#read(path)
    const resource = this.resources.get(path)
    if (resource && request.method === 'PATCH') {
      const wrong = this.#precondition(request, resource)
      if (wrong) return wrong
    }
    const answer = await actionOf(this, { ...request, path })
    const { taskPolls = 0 } = this.options
    return taskPolls > 0 && answer.status < 300 ? this.#task(answer, taskPolls) : answer
  }

  #read(path: string): Answer {
    const body = this.resources.get(path)
    if (!body) return refused(404, 'ResourceMissingAtURI', `There is no ${path}.`)
    const { etags = 'none' } = this.options
    const tag = etagOf(body)
    return { status: 200, body, headers: etags === 'none' ? {} : { etag: etags === 'weak' ? `W/${tag}` : tag } }
  }

  #precondition({ headers }: SeenRequest, resource: Json): Answer | null {
    const { etags = 'none' } = this.options
    const given = headers['if-match']
    if (etags === 'none') return null
    if (given === undefined) {
      return etags === 'strong' ? null : refused(428, 'PreconditionRequired', 'If-Match is required.')
    }
    return given === etagOf(resource) || given === '*'
      ? null
      : refused(412, 'PreconditionFailed', 'The ETag is another.')
  }

  #login({ body }: SeenRequest): Answer {
    const { auth = 'both', sessionsMax = 100 } = this.options
    if (auth === 'basic' || auth === 'none')
      return refused(auth === 'basic' ? 401 : 404, 'GeneralError', 'No sessions.')
    if (body?.['UserName'] !== this.username || body['Password'] !== this.password) {
      return refused(401, 'ResourceAtUriUnauthorized', 'Unable to log in.')
    }
    if (this.sessions.size >= sessionsMax) {
      return refused(503, 'RAC0218', 'The maximum number of user sessions is reached.')
    }
    const [path, token] = [`${this.root}/SessionService/Sessions/${++this.#count}`, `token-${this.#count}`]
    this.sessions.set(token, path)
    return { status: 201, body: linkTo(path), headers: { 'x-auth-token': token, location: path } }
  }

  #logout(path: string): Answer {
    const found = [...this.sessions].find(([, session]) => session === path)
    if (!found) return refused(404, 'ResourceMissingAtURI', 'No such session.')
    this.sessions.delete(found[0])
    return { status: 204 }
  }

  #isAllowed({ headers }: SeenRequest): boolean {
    const { auth = 'both' } = this.options
    const token = headers['x-auth-token']
    if (auth === 'none') return true
    if (typeof token === 'string') return auth !== 'basic' && this.sessions.has(token)
    const basic = `Basic ${Buffer.from(`${this.username}:${this.password}`).toString('base64')}`
    return auth !== 'session' && headers.authorization === basic
  }
}

function faulty(fault: Fault): Answer | null | 'never' {
  switch (fault.kind) {
    case 'hang':
      return 'never'
    case 'busy': {
      const headers: Record<string, string> =
        fault.retryAfter === undefined ? {} : { 'retry-after': `${fault.retryAfter}` }
      return { ...refused(503, 'ServiceTemporarilyUnavailable', 'The service is busy.'), headers }
    }
    case 'status':
      return { status: fault.status ?? 500, body: fault.body ?? {} }
    case 'garbage':
      return { status: 200, body: '<html><body>It works!</body></html>' }
    case 'huge':
      return { status: 200, body: { Name: 'x'.repeat(20 * 1024 * 1024) } }
    case 'redirect':
      return { status: 307, body: '<html>moved</html>', headers: { location: fault.to! } }
    default:
      return null
  }
}

/** Of what is in it, so that tests may change it in place. */
function etagOf(body: Json): string {
  let hash = 0
  for (const character of JSON.stringify(body)) hash = (Math.imul(hash, 31) + character.codePointAt(0)!) | 0
  return `"${(hash >>> 0).toString(16)}"`
}

export interface BmcFarm {
  readonly bmcs: readonly TestBmc[]
  stop(): Promise<void>
}

/** One BMC with a server of its own. */
export async function startBmc(options: BmcOptions = {}): Promise<TestBmc & { stop(): Promise<void> }> {
  const farm = await start(options, [''])
  return Object.assign(farm.bmcs[0]!, { stop: () => farm.stop() })
}

/** Many BMCs behind one server, each below a path of its own. */
export function startBmcs(count: number, options: BmcOptions = {}): Promise<BmcFarm> {
  return start(
    options,
    Array.from({ length: count }, (_, at) => `/bmc${at}`),
  )
}

async function start(options: BmcOptions, prefixes: readonly string[]): Promise<BmcFarm> {
  const byPrefix = new Map<string, TestBmc>()
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const bmc = byPrefix.get(/^(\/bmc\d+)?/.exec(request.url!)![0])
    if (bmc) void serve(bmc, request, response)
    else response.writeHead(404).end()
  }
  const server = options.tls ? createSecureServer(options.tls, onRequest) : createServer(onRequest)
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `${options.tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const prefix of prefixes) byPrefix.set(prefix, new TestBmc(options, { origin, prefix }))
  const stop = async () => {
    for (const { machines } of byPrefix.values()) for (const machine of machines) machine.stop()
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return { bmcs: [...byPrefix.values()], stop }
}

async function serve(bmc: TestBmc, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = (await request.toArray()).map(String).join('')
  const body = text === '' ? null : (JSON.parse(text) as Json)
  const seen = { method: request.method!, path: request.url!, headers: request.headers, body }
  const answer = await bmc.answer(seen)
  if (answer === 'never') return
  if (answer === null) {
    request.socket.destroy()
    return
  }
  const type = typeof answer.body === 'string' ? 'text/html' : 'application/json'
  response.writeHead(answer.status, { 'content-type': type, ...answer.headers })
  response.end(typeof answer.body === 'string' ? answer.body : answer.body && JSON.stringify(answer.body))
}
