// A lean client for answers of any size: one keep-alive connection that counts the bytes, and keeps them on request.
import { connect, type Socket } from 'node:net'
import { percentile } from './statistics.ts'

export interface Answer {
  status: number
  bytes: number
  incomplete: boolean
  /** Empty unless it was asked for. */
  text: string
}

const ANSWER_TIMEOUT_MS = 60_000
const EMPTY = Buffer.alloc(0)

export class Connection {
  readonly #socket: Socket
  #answer: { status: number; incomplete: boolean; bytes: number; missing: number } | null = null
  #head: Buffer = EMPTY
  #parts: Buffer[] = []
  #keeps = false
  #waiting: PromiseWithResolvers<Answer> | null = null

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#socket.on('error', error => this.#waiting?.reject(error))
    this.#socket.on('close', () => this.#waiting?.reject(new Error('the server closed the connection')))
    this.#socket.setTimeout(ANSWER_TIMEOUT_MS, () => this.#socket.destroy(new Error('no answer in time')))
  }

  send(request: string, keeps = false): Promise<Answer> {
    this.#keeps = keeps
    this.#waiting = Promise.withResolvers()
    this.#socket.write(request, 'latin1')
    return this.#waiting.promise
  }

  close(): void {
    this.#waiting = null
    this.#socket.destroy()
  }

  #receive(chunk: Buffer): void {
    let body = chunk
    if (this.#answer === null) {
      const all = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk])
      const end = all.indexOf('\r\n\r\n')
      if (end < 0) {
        this.#head = all
        return
      }
      this.#head = EMPTY
      const head = all.toString('latin1', 0, end)
      const bytes = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
      const incomplete = /\r\nholdfast-search:/i.test(head)
      this.#answer = { status: Number(head.slice(9, 12)), incomplete, bytes, missing: bytes }
      body = all.subarray(end + 4)
    }
    this.#answer.missing -= body.length
    if (this.#keeps) this.#parts.push(body)
    if (this.#answer.missing > 0) return
    const { status, bytes, incomplete } = this.#answer
    const text = this.#keeps ? Buffer.concat(this.#parts).toString() : ''
    this.#answer = null
    this.#parts = []
    this.#waiting?.resolve({ status, bytes, incomplete, text })
  }
}

export interface Rate {
  count: number
  perSecond: number
  p50Ms: number
  p99Ms: number
}

/** Repeats an act on several connections for some seconds. Returns the rate and the latencies. */
export async function repeat(
  at: { port: number; connections: number; seconds: number },
  act: (connection: Connection) => Promise<void>,
  goesOn: () => boolean = () => true,
): Promise<Rate> {
  const tookMs: number[] = []
  const start = performance.now()
  const until = start + at.seconds * 1000
  const one = async () => {
    const connection = new Connection(at.port)
    try {
      for (let now = performance.now(); now < until && goesOn();) {
        await act(connection)
        const after = performance.now()
        tookMs.push(after - now)
        now = after
      }
    } finally {
      connection.close()
    }
  }
  await Promise.all(Array.from({ length: at.connections }, one))
  const elapsed = (performance.now() - start) / 1000
  tookMs.sort((a, b) => a - b)
  const count = tookMs.length
  return { count, perSecond: count / elapsed, p50Ms: percentile(tookMs, 0.5), p99Ms: percentile(tookMs, 0.99) }
}

export function getText(path: string): string {
  return (
    `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-auth-token: admin\r\n` +
    'openstack-api-version: placement 1.39\r\n\r\n'
  )
}

export const candidatesText = (query: string) => getText(`/placement/allocation_candidates?${query}`)
