// Someone who calls Nova's and Holdfast's APIs with a token, as clients do.

export interface Answer {
  status: number
  body: Loose
}
// oxlint-disable-next-line typescript/no-explicit-any -- a scenario says what it expects, and fails when it isn't there
export type Loose = any

interface Login {
  auth_url: string
  username: string
  password: string
  project_name: string
}

const VERSIONS = {
  'openstack-api-version': 'compute 2.90, placement 1.39',
  'x-openstack-nova-api-version': '2.90',
  'x-openstack-ironic-api-version': '1.83',
}
const TIMEOUT_MS = 120_000

export class Caller {
  readonly #login: Login
  readonly #urls: { nova: string; holdfast: string }
  #token: string | null = null
  project = ''

  constructor(login: Login, urls: { nova: string; holdfast: string }) {
    this.#login = login
    this.#urls = urls
  }

  nova(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.#ask(this.#urls.nova, method, path, body)
  }

  /** A path of Holdfast, such as /placement/resource_providers. */
  holdfast(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.#ask(this.#urls.holdfast, method, path, body)
  }

  /** The body of an answer that must be a success. */
  async get(path: string): Promise<Loose> {
    return good(await this.nova('GET', path), `GET ${path}`)
  }

  async #ask(base: string, method: string, path: string, body: unknown): Promise<Answer> {
    const first = await this.#once(base, method, path, body)
    if (first.status !== 401) return first
    this.#token = null
    return this.#once(base, method, path, body)
  }

  async #once(base: string, method: string, path: string, body: unknown): Promise<Answer> {
    const kind = path.startsWith('/placement') ? 'placement 1.39' : 'compute 2.90'
    const answer = await fetch(base + path, {
      method,
      headers: {
        ...VERSIONS,
        'openstack-api-version': kind,
        'x-auth-token': (this.#token ??= await this.#enter()),
        'content-type': 'application/json',
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const text = await answer.text()
    return { status: answer.status, body: parsed(text) }
  }

  async #enter(): Promise<string> {
    const { username: name, password, project_name } = this.#login
    const domain = { name: 'Default' }
    const auth = {
      identity: { methods: ['password'], password: { user: { name, domain, password } } },
      scope: { project: { name: project_name, domain } },
    }
    const answer = await fetch(`${this.#urls.holdfast}/identity/v3/auth/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ auth }),
    })
    const { token } = (await answer.json()) as { token: { project: { id: string } } }
    if (!answer.ok) throw new Error(`${name} can't log in: ${answer.status}`)
    this.project = token.project.id
    return answer.headers.get('x-subject-token')!
  }
}

function parsed(text: string): Loose {
  try {
    return text === '' ? null : JSON.parse(text)
  } catch {
    return text
  }
}

/** The body, if the answer is a success. */
export function good({ status, body }: Answer, what: string): Loose {
  if (status >= 200 && status < 300) return body
  throw new Error(`${what}: ${status} ${JSON.stringify(body).slice(0, 600)}`)
}
