// One request to a BMC and its answer: connections, certificates, time limits, sizes and redirects.
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Agent, Dispatcher } from 'undici'
import { limits } from '../../../shared/limits.ts'
import { VERSION } from '../../../shared/version.ts'
import { HardwareFailure, type Json } from '../port.ts'
import { BmcAway } from './bmc.ts'
import type { Access } from './settings.ts'
import { abortedBy, type Answered, away, hostOf, late } from './words.ts'

export type Method = 'GET' | 'PATCH' | 'POST' | 'DELETE'

export interface Asked {
  readonly method: Method
  /** A path, or a URL of the same host. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Json | null
  readonly signal: AbortSignal
  /** For this one try. */
  readonly ms: number
  /** With the tries before it: what a message tells. */
  readonly toldMs?: number
}

export interface Reply extends Answered {
  readonly method: Method
  header(name: string): string | null
}

const unzipped = promisify(gunzip)
const REDIRECTS = new Set([301, 302, 303, 307, 308])

export class Wire {
  readonly #access: Access
  readonly #connectMs: number
  #agents: Promise<Record<'reading' | 'changing', Agent>> | null = null
  /** Without compression ETags stay strong. Some BMCs refuse the header that says so. */
  #identity = true

  constructor(access: Access, connectMs: number) {
    this.#access = access
    this.#connectMs = connectMs
  }

  /** Any answer is an answer. Throws BmcAway when there is none, and the signal's reason when it is aborted. */
  async ask(asked: Asked): Promise<Reply> {
    let [url, method] = [this.#urlOf(asked.path, this.#access.origin), asked.method]
    for (let hops = 0; hops <= limits.redfishRedirectsMax; hops++) {
      const reply = await this.#exchange({ ...asked, method }, url)
      const location = reply.header('location')
      if (!REDIRECTS.has(reply.status) || location === null) return reply
      url = this.#urlOf(location, url.href)
      // All others keep their method and body.
      if (reply.status === 303) method = 'GET'
    }
    throw new BmcAway(`The BMC at ${hostOf(this.#access)} redirects ${asked.method} ${asked.path} without end.`)
  }

  /** Whoever asks after this opens new connections. */
  async close(): Promise<void> {
    const opened = this.#agents
    this.#agents = null
    const agents = await opened?.catch(() => null)
    await Promise.all(Object.values(agents ?? {}).map(agent => agent.destroy()))
  }

  /** Only to the same host, and never from TLS to plain HTTP: there it would hand out the password. */
  #urlOf(path: string, base: string): URL {
    const [url, home] = [URL.parse(path, base), new URL(this.#access.origin)]
    const isHome = url?.origin === home.origin || (url?.hostname === home.hostname && url.protocol === 'https:')
    if (url && isHome && url.username + url.password === '') return url
    throw new HardwareFailure(
      `The BMC at ${hostOf(this.#access)} leads elsewhere: ${path.slice(0, limits.redfishWordsMax)}`,
    )
  }

  async #exchange(asked: Asked, url: URL): Promise<Reply> {
    const reply = await this.#once(asked, url)
    if (reply.status !== 406 || asked.method !== 'GET' || !this.#identity) return reply
    this.#identity = false
    return this.#once(asked, url)
  }

  async #once({ method, path, headers = {}, body = null, signal, ms, toldMs = ms }: Asked, url: URL): Promise<Reply> {
    const agents = await (this.#agents ??= this.#connect())
    const deadline = AbortSignal.timeout(ms)
    try {
      const answer = await agents[method === 'GET' ? 'reading' : 'changing'].request({
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers: { ...this.#headers(body !== null), ...headers },
        body: body === null ? null : JSON.stringify(body),
        signal: AbortSignal.any([signal, deadline]),
      })
      return await replyOf(answer, { method, path })
    } catch (error) {
      if (signal.aborted) throw abortedBy(signal, this.#access, `${method} ${path}`)
      if (deadline.aborted) throw late(this.#access, `${method} ${path}`, toldMs)
      throw away(this.#access, { asked: `${method} ${path}`, error, connectMs: this.#connectMs })
    }
  }

  #headers(hasBody: boolean): Record<string, string> {
    return {
      accept: 'application/json',
      'odata-version': '4.0',
      'user-agent': `holdfast/${VERSION}`,
      ...(this.#identity ? { 'accept-encoding': 'identity' } : {}),
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
    }
  }

  async #connect() {
    const { verifyCa, tlsMinimum, tlsCiphers } = this.#access
    const undici = await import('undici')
    const options: Agent.Options = {
      connections: limits.redfishConnections,
      maxResponseSize: limits.redfishAnswerBytesMax,
      // The deadline of each request counts.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        timeout: this.#connectMs,
        rejectUnauthorized: verifyCa !== false,
        ...(typeof verifyCa === 'string' ? { ca: await this.#certificates(verifyCa) } : {}),
        ...(tlsMinimum === null ? {} : { minVersion: tlsMinimum }),
        ...(tlsCiphers === null ? {} : { ciphers: tlsCiphers }),
      },
    }
    // A change gets a connection of its own. One that was kept may be closed by the BMC just then, and nobody would
    // know whether the change was made.
    return { reading: new undici.Agent(options), changing: new undici.Agent({ ...options, pipelining: 0 }) }
  }

  async #certificates(file: string): Promise<string> {
    try {
      return await readFile(file, 'utf8')
    } catch (error) {
      this.#agents = null
      const reason = (error as NodeJS.ErrnoException).code
      throw new HardwareFailure(`redfish_verify_ca names ${file}, and this file can't be read here (${reason}).`, {
        cause: error,
      })
    }
  }
}

async function replyOf(answer: Dispatcher.ResponseData, asked: { method: Method; path: string }): Promise<Reply> {
  const bytes = await bytesOf(answer)
  const header = (name: string) => [answer.headers[name]].flat()[0] ?? null
  const isZipped = header('content-encoding') === 'gzip' && bytes.length > 0
  const plain = isZipped ? await unzipped(bytes, { maxOutputLength: limits.redfishAnswerBytesMax }) : bytes
  const text = plain.toString('utf8')
  return { ...asked, status: answer.statusCode, header, text, body: parsed(text) }
}

/** Some BMCs announce a body with a 204 and then send it or not. A 204 has none, and what was asked is done. */
async function bytesOf({ statusCode, body }: Dispatcher.ResponseData): Promise<Buffer> {
  if (statusCode !== 204) return Buffer.from(await body.arrayBuffer())
  await body.dump().catch(() => null)
  return Buffer.alloc(0)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
