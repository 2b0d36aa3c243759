// What actors are, and how they talk to the service.
import type { Answer, Chance, Finding, Request, Service } from '../port.ts'

/** A client of the service: acts until it is done, and tells what it finds wrong. */
export type Actor = (service: Service, chance: Chance, told: (finding: Finding) => void) => Promise<void>

/** A refusal left no trace; without an answer it may be done, now or later, or not. */
export type Outcome = 'done' | 'refused' | 'unknown'

export interface Reply {
  outcome: Outcome
  status: number | null
  // oxlint-disable-next-line typescript/no-explicit-any -- actors read what they know to be there
  body: any
}

/** Who asks: as noauth2 has it. */
export type Who = Readonly<Record<string, string>>

export const ADMIN: Who = { 'x-auth-token': 'admin' }

/** Someone of a project, without a right beyond it. */
export const memberOf = (project: string): Who => ({
  'x-auth-token': `user-of-${project}:${project}`,
  'x-roles': 'member,reader',
})

const VERSIONS: readonly [prefix: string, header: string, version: string][] = [
  ['/placement', 'openstack-api-version', 'placement 1.39'],
  ['/baremetal', 'x-openstack-ironic-api-version', '1.83'],
]

export class Client {
  readonly service: Service
  readonly #told: (finding: Finding) => void
  readonly #who: Who

  constructor(service: Service, told: (finding: Finding) => void, who: Who = ADMIN) {
    this.service = service
    this.#told = told
    this.#who = who
  }

  get = (url: string) => this.ask('GET', url)
  put = (url: string, body?: unknown) => this.ask('PUT', url, body)
  post = (url: string, body?: unknown) => this.ask('POST', url, body)
  patch = (url: string, body?: unknown) => this.ask('PATCH', url, body)
  del = (url: string) => this.ask('DELETE', url)

  found(check: string, text: string): void {
    this.#told({ check, text })
  }

  async ask(method: Request['method'], url: string, body?: unknown): Promise<Reply> {
    const version = VERSIONS.find(([prefix]) => url.startsWith(prefix))
    const headers = { ...this.#who, ...(version && { [version[1]]: version[2] }) }
    const answer = await this.service.send({ method, url, headers, ...(body !== undefined && { body }) })
    if (answer === null) return { outcome: 'unknown', status: null, body: null }
    this.#look(method, url, answer)
    const { status } = answer
    const outcome = status >= 500 ? 'unknown' : status >= 400 ? 'refused' : 'done'
    return { outcome, status, body: answer.body }
  }

  /** Whatever fails, clients are told when to come again. */
  #look(method: string, url: string, { status, headers, body }: Answer): void {
    const isHonest = status < 500 || (status === 503 && headers['retry-after'] !== undefined)
    if (!isHonest)
      this.found('answers', `${method} ${url} was answered ${status}: ${JSON.stringify(body)?.slice(0, 300)}`)
  }
}

/** Whole seconds, as all APIs read and show them. */
export const instant = (ms: number): string => `${new Date(Math.ceil(ms / 1_000) * 1_000).toISOString().slice(0, 19)}Z`
export const wholeSecond = (ms: number): number => Math.ceil(ms / 1_000) * 1_000
