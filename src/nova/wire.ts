// One request to a Nova and its answer: our login, the version, time limits and sizes.
import type { Agent } from 'undici'
import { limits } from '../shared/limits.ts'
import { VERSION } from '../shared/version.ts'
import { NovaAway, NovaRefusal } from './port.ts'
import { messageIn, whyBroken } from './words.ts'

/** Enough for all that is asked of it: uuids of hypervisors (2.53), of migrations (2.59), extra specs in flavors (2.61). */
const MICROVERSION = '2.61'

/** Our login: the same token until it ends or is refused. */
interface NovaLogin {
  token(): Promise<string>
  refused(): void
}

type Method = 'GET' | 'POST' | 'DELETE'

interface Reply {
  readonly status: number
  /** null when it isn't JSON. */
  readonly body: unknown
}

interface WireOptions {
  /** Such as http://controller:8774/v2.1 */
  url: string
  login: NovaLogin
}

export class Wire {
  readonly #url: URL
  readonly #login: NovaLogin
  readonly #stopping = new AbortController()
  #agent: Promise<Agent> | null = null

  constructor({ url, login }: WireOptions) {
    const base = url.replace(/\/+$/, '')
    this.#url = new URL(/\/v2(\.\d+)?$/.test(base) ? base : `${base}/v2.1`)
    this.#login = login
  }

  /**
   * Any answer below 500 is an answer, except a token that is refused twice: then Nova can't reach who checks it, or
   * doesn't know us yet. Throws NovaAway.
   */
  async ask(method: Method, path: string, body: object | null = null): Promise<Reply> {
    const first = await this.#once(method, path, body)
    if (first.status !== 401) return first
    this.#login.refused()
    const second = await this.#once(method, path, body)
    if (second.status === 401) throw new NovaAway(`Nova refuses our token${said(second)}.`)
    return second
  }

  /** Like `ask`, and throws a NovaRefusal unless the status is a 2xx or among these. */
  async request(method: Method, path: string, body: object | null, known: readonly number[] = []): Promise<Reply> {
    const reply = await this.ask(method, path, body)
    if ((reply.status >= 200 && reply.status < 300) || known.includes(reply.status)) return reply
    const text = messageIn(reply.body) ?? 'no reason was given'
    throw new NovaRefusal(reply.status, `Nova answered ${reply.status} to ${method} ${shortOf(path)}: ${text}`)
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await (await this.#agent)?.destroy()
  }

  async #once(method: Method, path: string, body: object | null): Promise<Reply> {
    const token = await this.#token()
    const late = AbortSignal.timeout(limits.novaAnswerMsMax)
    const asked = `${method} ${shortOf(path)}`
    let reply: Reply
    try {
      const answer = await (
        await this.#connected()
      ).request({
        origin: this.#url.origin,
        path: this.#url.pathname.replace(/\/+$/, '') + path,
        method,
        headers: {
          accept: 'application/json',
          'user-agent': `holdfast/${VERSION}`,
          'x-auth-token': token,
          'openstack-api-version': `compute ${MICROVERSION}`,
          ...(body === null ? {} : { 'content-type': 'application/json' }),
        },
        body: body === null ? null : JSON.stringify(body),
        signal: AbortSignal.any([late, this.#stopping.signal]),
      })
      const text = Buffer.from(await answer.body.arrayBuffer()).toString('utf8')
      // What Nova says may be kept and shown, and must not repeat our token.
      reply = { status: answer.statusCode, body: parsed(text.replaceAll(token, '******')) }
    } catch (error) {
      const seconds = limits.novaAnswerMsMax / 1_000
      const why = late.aborted ? `did not answer in ${seconds} s` : `can't be reached: ${whyBroken(error)}`
      throw new NovaAway(`Nova ${why} (${asked}).`, { cause: error })
    }
    if (reply.status < 500 && reply.status !== 408 && reply.status !== 429) return reply
    throw new NovaAway(`Nova answered ${reply.status} to ${asked}${said(reply)}.`)
  }

  async #token(): Promise<string> {
    try {
      return await this.#login.token()
    } catch (error) {
      throw new NovaAway(`Our own login for Nova fails: ${whyBroken(error)}.`, { cause: error })
    }
  }

  #connected(): Promise<Agent> {
    return (this.#agent ??= connect())
  }
}

async function connect(): Promise<Agent> {
  const undici = await import('undici')
  return new undici.Agent({
    connections: limits.novaConnections,
    maxResponseSize: limits.novaAnswerBytesMax,
    // The deadline of each request counts.
    headersTimeout: 0,
    bodyTimeout: 0,
    // All requests may be repeated, but one that meets a connection which Nova closes just then would fail for nothing.
    keepAliveTimeout: limits.novaKeepAliveMs,
  })
}

const said = ({ body }: Reply) => {
  const text = messageIn(body)
  return text === null ? '' : `: ${text}`
}

/** Without the query, which says little to people. */
const shortOf = (path: string) => path.replace(/\?.*$/, '')

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
