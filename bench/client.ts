// A lean HTTP/1.1 load client: keep-alive connections over node:net, one request at a time on each, every answer checked.
// A general client would use more CPU than the server it measures, on the same cores.
import { connect, type Socket } from 'node:net'
import { percentile } from './statistics.ts'

export interface Request {
  /** The whole request, head and body, in ASCII. */
  text: string
  /** How many claims an expected answer stands for. */
  claims: number
  onAnswer?: () => void
}

export interface Load {
  port: number
  connections: number
  /** Without it the load runs until `next` returns undefined. */
  seconds?: number
  /** Answers of the first moments are checked but not counted. */
  warmUpSeconds?: number
  expect: number
  next: () => Request | undefined
}

export interface Measure {
  claims: number
  requests: number
  claimsPerSecond: number
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  /** Answers with another status than expected, by status. */
  unexpected: Record<string, number>
  firstUnexpected?: string
}

const ANSWER_TIMEOUT_MS = 30_000
const WARM_UP_SECONDS_MAX = 10

export async function drive(load: Load): Promise<Measure> {
  const { port, connections, seconds = Infinity, warmUpSeconds = 0, expect, next } = load
  const tookMs: number[] = []
  const unexpected: Record<string, number> = {}
  let firstUnexpected: string | undefined
  let claims = 0
  const countFrom = performance.now() + warmUpSeconds * 1000
  const until = countFrom + seconds * 1000
  let lastAnswer = countFrom

  const account = (request: Request, sentAt: number, status: number, answer: string) => {
    const now = performance.now()
    if (status === expect) request.onAnswer?.()
    else {
      unexpected[status] = (unexpected[status] ?? 0) + 1
      firstUnexpected ??= answer.slice(0, 1000)
    }
    // Counted by the time of the answer, so that the window has only complete answers.
    if (now < countFrom || now > until) return
    lastAnswer = now
    if (status === expect) claims += request.claims
    tookMs.push(now - sentAt)
  }
  let ranDry = false
  const ask = () => {
    if (performance.now() >= until) return undefined
    const request = next()
    ranDry ||= request === undefined
    return request
  }
  const one = () => converse(port, account, ask)
  await Promise.all(Array.from({ length: connections }, one))

  // If `next` has run out, the load ended with the last answer.
  const elapsed = (ranDry ? (lastAnswer - countFrom) / 1000 : seconds) || 1
  tookMs.sort((a, b) => a - b)
  return {
    claims,
    requests: tookMs.length,
    claimsPerSecond: claims / elapsed,
    requestsPerSecond: tookMs.length / elapsed,
    p50Ms: percentile(tookMs, 0.5),
    p99Ms: percentile(tookMs, 0.99),
    unexpected,
    ...(firstUnexpected === undefined ? {} : { firstUnexpected }),
  }
}

/** Loads a fresh server until its code is compiled: a bare fastify takes 3 times the CPU in its first thousands. */
export async function warmUp(load: Load, requests: number): Promise<void> {
  let left = requests
  await drive({ ...load, seconds: WARM_UP_SECONDS_MAX, next: () => (left-- > 0 ? load.next() : undefined) })
}

type Account = (request: Request, sentAt: number, status: number, answer: string) => void

/** One connection, from its first request to its last. */
function converse(port: number, account: Account, next: () => Request | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let current: Request | undefined
  let sentAt = 0
  let pending = ''
  const buffer = Buffer.alloc(65_536)

  const send = () => {
    current = next()
    if (current === undefined) {
      socket.end()
      resolve()
      return
    }
    sentAt = performance.now()
    socket.write(current.text, 'latin1')
  }
  const receive = (size: number) => {
    pending += buffer.toString('latin1', 0, size)
    if (current === undefined || !isWhole(pending)) return true
    const answer = pending
    pending = ''
    account(current, sentAt, Number(answer.slice(9, 12)), answer)
    send()
    return true
  }
  const socket: Socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    // One buffer for every answer: no allocation and no stream machinery per read.
    onread: { buffer, callback: receive },
  })
  socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy(new Error(`no answer in ${ANSWER_TIMEOUT_MS} ms`)))
  socket.once('connect', send)
  socket.once('error', reject)
  socket.once('close', () => reject(new Error('the server closed the connection')))
  return promise
}

/** Whether an answer has come in full; servers here send either a content-length or no body at all. */
function isWhole(answer: string): boolean {
  const headEnd = answer.indexOf('\r\n\r\n')
  if (headEnd < 0) return false
  if (answer.startsWith('204', 9)) return true
  const length = /\r\ncontent-length: *(\d+)/i.exec(answer.slice(0, headEnd))
  if (length !== null) return answer.length >= headEnd + 4 + Number(length[1])
  return answer.endsWith('0\r\n\r\n')
}
