// A proxy in front of Holdfast's API processes: passes every request on to one after the other, and writes it down.
import { createWriteStream } from 'node:fs'
import { Agent, createServer, type IncomingMessage, request as ask, type ServerResponse } from 'node:http'
import { once } from 'node:events'

export interface Recorded {
  at: string
  ms: number
  agent: string
  method: string
  url: string
  version: string | undefined
  /** 0 if no API process answered. */
  status: number
  request: string
  answer: string
}

export interface Proxy {
  readonly requests: Recorded[]
  stop(): Promise<void>
}

const KEPT = 4_000
const SECRET = '/identity'

/** Holdfast may be down when a request comes: then the connection ends without an answer. */
export async function startProxy(port: number, targets: readonly number[], file: string): Promise<Proxy> {
  const requests: Recorded[] = []
  const out = createWriteStream(file, { flags: 'a' })
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  let turn = 0
  const server = createServer((near, answer) => {
    void (async () => {
      const recorded = await pass(near, answer, targets[turn++ % targets.length]!, agent)
      requests.push(recorded)
      out.write(`${JSON.stringify(recorded)}\n`)
    })()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    requests,
    stop: async () => {
      agent.destroy()
      server.closeAllConnections()
      server.close()
      out.end()
    },
  }
}

async function pass(near: IncomingMessage, answer: ServerResponse, port: number, agent: Agent): Promise<Recorded> {
  const began = performance.now()
  const at = new Date().toISOString()
  const { method = '', url = '', headers } = near
  const body = await whole(near)
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const far = ask({ host: '127.0.0.1', port, method, path: url, headers, agent }, resolve)
  far.on('error', reject).end(body)
  let status = 0
  let text = Buffer.alloc(0)
  try {
    const got = await promise
    text = await whole(got)
    status = got.statusCode ?? 0
    const { 'transfer-encoding': _, ...rest } = got.headers
    const length = method === 'HEAD' || status === 204 ? {} : { 'content-length': text.length }
    answer.writeHead(status, { ...rest, ...length }).end(text)
  } catch (error) {
    text = Buffer.from(String(error))
    answer.destroy()
  }
  const isSecret = url.startsWith(SECRET)
  const version = headers['openstack-api-version'] ?? headers['x-openstack-ironic-api-version']
  return {
    at,
    ms: Math.round(performance.now() - began),
    agent: headers['user-agent'] ?? '',
    method,
    url,
    version: version === undefined ? undefined : String(version),
    status,
    request: isSecret ? '' : body.toString().slice(0, KEPT),
    answer: isSecret && status < 400 ? '' : text.toString().slice(0, KEPT),
  }
}

async function whole(stream: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
