// How the test Nova talks to Holdfast: it logs in, asks whose a token is, and speaks Placement.
import type { Body } from './nova-answers.ts'

export interface Caller {
  token: string
  user: string
  project: string
  roles: string[]
  isAdmin: boolean
}

export interface Login {
  user: string
  password: string
  project: string
}

export interface Heard {
  status: number
  body: Body
}

export type Resources = Record<string, number>
export type Allocations = Record<string, { resources: Resources }>
export interface Consumer {
  allocations: Allocations
  /** Absent when there is no such consumer. */
  consumer_generation?: number
  project_id: string
  user_id: string
}

export class Holdfast {
  origin = ''
  readonly #login: Login
  #token: Promise<string> | null = null

  constructor(login: Login) {
    this.#login = login
  }

  /** With a token of Nova's own, which is renewed once when it is refused. */
  async request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Heard> {
    for (let attempt = 0; ; attempt++) {
      const token = await (this.#token ??= this.#kept(this.#logIn()))
      const heard = await this.#send(method, path, body, { 'x-auth-token': token, ...headers })
      if (heard.status !== 401 || attempt > 0) return heard
      this.#token = null
    }
  }

  /** A login that failed, as before Holdfast listens, is tried again. */
  #kept(login: Promise<string>): Promise<string> {
    login.catch(() => (this.#token = null))
    return login
  }

  placement(method: string, path: string, version: string, body?: unknown): Promise<Heard> {
    return this.request(method, `/placement${path}`, body, { 'openstack-api-version': `placement ${version}` })
  }

  /** null: the token isn't valid. */
  async callerOf(token: string): Promise<Caller | null> {
    const { status, body } = await this.request('GET', '/identity/v3/auth/tokens', undefined, {
      'x-subject-token': token,
    })
    if (status === 404) return null
    if (status !== 200) throw new Error(`Identity answered ${status}`)
    const roles: string[] = (body.token.roles ?? []).map(({ name }: Body) => name)
    const { user, project } = body.token
    return { token, user: user.id, project: project?.id ?? '', roles, isAdmin: roles.includes('admin') }
  }

  /** Identity that refuses or fails counts as yes. */
  async hasProject(id: string): Promise<boolean> {
    return (await this.request('GET', `/identity/v3/projects/${encodeURIComponent(id)}`)).status !== 404
  }

  async consumer(uuid: string): Promise<Consumer> {
    const { status, body } = await this.placement('GET', `/allocations/${uuid}`, '1.28')
    if (status !== 200) throw new Error(`Placement answered ${status}: ${JSON.stringify(body)}`)
    return body
  }

  async #logIn(): Promise<string> {
    const { user: name, password, project } = this.#login
    const domain = { id: 'default' }
    const identity = { methods: ['password'], password: { user: { name, password, domain } } }
    const auth = { identity, scope: { project: { name: project, domain } } }
    const response = await fetch(`${this.origin}/identity/v3/auth/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ auth }),
    })
    await response.arrayBuffer()
    if (response.status !== 201) {
      this.#token = null
      throw new Error(`Identity refused the login of ${name} with ${response.status}`)
    }
    return response.headers.get('x-subject-token')!
  }

  async #send(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Heard> {
    const response = await fetch(`${this.origin}${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  }
}
