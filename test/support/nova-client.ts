// A client of the Compute API, of our own or of a Nova: both speak the same.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, Client, type Options } from './client.ts'
import { expectStatus } from './placement.ts'

const DEADLINE_MS = 30_000

// oxlint-disable-next-line typescript/no-explicit-any -- as answers are, or null: a test says what it expects
type Shown = any

export class ComputeClient extends Client {
  readonly version: string

  /** The path in front of /servers, and the version of requests. */
  constructor(prefix: string, version: string, ...origins: string[]) {
    super(prefix, ...origins)
    this.version = version
  }

  override request(method: string, path: string, body?: unknown, options: Options = {}): Promise<Answer> {
    const { version, headers = {}, ...rest } = options
    const own = { 'x-openstack-nova-api-version': version ?? this.version }
    return super.request(method, path, body, { ...rest, version: null, headers: { ...own, ...headers } })
  }

  action(server: string, name: string, given: unknown = null, options?: Options): Promise<Answer> {
    return this.post(`/servers/${server}/action`, { [name]: given }, options)
  }

  /** null when there is none. */
  async show(server: string, options?: Options): Promise<Shown> {
    const answer = expectStatus(await this.get(`/servers/${server}`, options), 200, 404)
    return answer.status === 404 ? null : answer.body.server
  }

  /** Waits until the server is as wanted. */
  async until(server: string, isThere: (shown: Shown) => boolean, options?: Options): Promise<Shown> {
    const deadline = performance.now() + DEADLINE_MS
    for (;;) {
      const shown = await this.show(server, options)
      if (isThere(shown)) return shown
      if (performance.now() > deadline) return assert.fail(`server ${server} is ${JSON.stringify(shown)}`)
      await sleep(20)
    }
  }

  untilStatus = (server: string, status: string, options?: Options) =>
    this.until(server, shown => shown?.status === status && shown['OS-EXT-STS:task_state'] === null, options)

  untilGone = (server: string, options?: Options) => this.until(server, shown => shown === null, options)

  /** Waits until it is ACTIVE or in ERROR. */
  built = (server: string, options?: Options) =>
    this.until(server, shown => shown !== null && shown.status !== 'BUILD', options)
}
