// As much of a Keystone as validating tokens needs: it counts, it can be slow, it can be away, it can forget.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

export interface FakeToken {
  user: string
  /** The name, if it isn't the user. */
  userName?: string
  project?: string
  roles: string[]
  system?: boolean
  /** For a domain instead of a project. */
  domain?: string
  expiresInMs?: number
}

export class FakeKeystone {
  readonly password = 's3rvice'
  /** Tokens that users came with, by their text. */
  readonly tokens = new Map<string, FakeToken>()
  /** The passwords of users who log in here. */
  readonly passwords = new Map<string, string>()
  /** The bodies of their logins. */
  readonly entered: { auth: { identity: Record<string, unknown>; scope?: unknown } }[] = []
  logins = 0
  validations = 0
  delayMs = 0
  /** Made up tokens are answered when this is over. */
  junkHeldUp: Promise<void> = Promise.resolve()
  /** Answers everything with this status, when set. */
  broken: number | null = null
  /** Who there is; null if the service may not know. */
  directory: Record<'users' | 'projects', { id: string; name: string }[]> | null = null
  #ownToken = ''
  readonly #server = createServer((request, response) => void this.#answer(request, response))

  async start(port = 0): Promise<void> {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** The service's own token is no good any more. */
  forgetService(): void {
    this.#ownToken = ''
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    await sleep(this.delayMs)
    const send = (status: number, content: object, headers: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(JSON.stringify(content))
    }
    if (this.broken !== null) return send(this.broken, { error: { code: this.broken, message: 'broken' } })
    const url = new URL(request.url!, this.url)
    const [, kind, id] = /^\/v3\/(users|projects)(?:\/(.*))?$/.exec(url.pathname) ?? []
    if (kind !== undefined) {
      if (!this.directory) return send(403, {})
      const name = url.searchParams.get('name')
      const found = this.directory[kind as 'users'].filter(one => one.id === id || one.name === name)
      if (id === undefined) return send(200, { [kind]: found })
      return found[0] ? send(200, { [kind.slice(0, -1)]: found[0] }) : send(404, {})
    }
    const bearer = String(request.headers['x-auth-token'])
    if (url.pathname === '/v3/auth/projects') {
      const known = this.tokens.get(bearer)
      return known ? send(200, { projects: [{ id: 'id-of-lab', name: 'lab' }] }) : send(401, {})
    }
    if (!request.url!.startsWith('/v3/auth/tokens')) return send(404, {})
    if (request.method === 'DELETE') {
      const isOwn = bearer === request.headers['x-subject-token'] && this.tokens.delete(bearer)
      response.writeHead(isOwn ? 204 : 401).end()
      return
    }
    if (request.method === 'POST' && !body.includes('"name":"holdfast"')) return this.#enter(JSON.parse(body), send)
    if (request.method === 'POST') {
      this.logins++
      const { user } = JSON.parse(body).auth.identity.password
      if (user.password !== this.password || user.name !== 'holdfast') return send(401, {})
      this.#ownToken = `own-${this.logins}`
      return send(201, this.#shown({ user: 'holdfast', project: 'service', roles: ['service'] }), {
        'x-subject-token': this.#ownToken,
      })
    }
    if (this.#ownToken === '' || request.headers['x-auth-token'] !== this.#ownToken) return send(401, {})
    this.validations++
    const found = this.tokens.get(String(request.headers['x-subject-token']))
    if (!found) await this.junkHeldUp
    return found ? send(200, this.#shown(found)) : send(404, { error: { code: 404 } })
  }

  #enter(
    body: (typeof this.entered)[number],
    send: (status: number, content: object, headers?: Record<string, string>) => void,
  ) {
    this.entered.push(body)
    const { user } = (body.auth.identity['password'] ?? {}) as { user?: { name: string; password: string } }
    if (!user || this.passwords.get(user.name) !== user.password) return send(401, { error: { message: 'no' } })
    const token = `token-of-${user.name}-${this.entered.length}`
    this.tokens.set(token, {
      user: user.name,
      ...(body.auth.scope !== undefined && { project: 'lab' }),
      roles: ['member'],
    })
    return send(201, this.#shown(this.tokens.get(token)!), { 'x-subject-token': token })
  }

  #shown({ user, userName = user, project, roles, system, domain, expiresInMs = 3_600_000 }: FakeToken): object {
    return {
      token: {
        methods: ['password'],
        expires_at: Number.isNaN(expiresInMs) ? null : new Date(Date.now() + expiresInMs).toISOString(),
        user: { id: `id-of-${user}`, name: userName, domain: { id: 'default', name: 'Default' } },
        ...(project && { project: { id: `id-of-${project}`, name: project, domain: { id: 'default' } } }),
        ...(system && { system: { all: true } }),
        ...(domain && { domain: { id: `id-of-${domain}`, name: domain } }),
        roles: roles.map(name => ({ id: name, name })),
      },
    }
  }
}
