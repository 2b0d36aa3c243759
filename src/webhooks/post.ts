// Sends one message to a URL, and says what came back. It never throws.
import { Agent as PlainAgent, type IncomingMessage, request as plain } from 'node:http'
import { Agent as SecureAgent, request as secure } from 'node:https'
import { isIP } from 'node:net'
import { limits } from '../shared/limits.ts'
import { plainText } from '../shared/plain-text.ts'
import { VERSION } from '../shared/version.ts'
import { hostOf, Inside, isOpenTo, lookupFor, type TargetRules } from './targets.ts'
import { INTERRUPTED, type Reply, retryAfterIn } from './verdict.ts'

// Agents of our own: those of Node may go through a proxy that the environment names, and that would connect anywhere.
const AGENTS = { 'http:': new PlainAgent(), 'https:': new SecureAgent() }

interface Posting {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly rules: TargetRules
  readonly now: number
  /** Aborted when this process stops. */
  readonly stopping: AbortSignal
}

export async function post(posting: Posting): Promise<Reply> {
  const { stopping, now } = posting
  const late = AbortSignal.timeout(limits.deliveryMsMax)
  const began = performance.now()
  const reply = (status: number | null, text: string, error: string | null, retryAfterMs: number | null = null) => ({
    status,
    ms: Math.round(performance.now() - began),
    text,
    error,
    retryAfterMs,
  })
  try {
    const answer = await answerTo(posting, AbortSignal.any([late, stopping]))
    const text = await beginningOf(answer)
    const status = answer.statusCode!
    return reply(status, text, wrongWith(status), retryAfterIn(answer.headers['retry-after'], now))
  } catch (error) {
    if (stopping.aborted) return reply(null, '', INTERRUPTED)
    return reply(null, '', late.aborted ? `no answer in ${limits.deliveryMsMax / 1_000} s` : reasonOf(error))
  }
}

function wrongWith(status: number): string | null {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400
    ? `it answered ${status}, and redirects are not followed`
    : `it answered ${status}`
}

function answerTo({ url, headers, body, rules }: Posting, signal: AbortSignal): Promise<IncomingMessage> {
  const host = hostOf(url)
  // Node looks up names only, so an address must be checked here.
  if (isIP(host) !== 0 && !isOpenTo(host, url, rules)) throw new Inside(`${host} is inside, and not allowed`)
  const isPlain = url.protocol === 'http:'
  return new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      agent: isPlain ? AGENTS['http:'] : AGENTS['https:'],
      lookup: lookupFor(url, rules),
      signal,
      headers: {
        'content-type': 'application/cloudevents+json; charset=utf-8',
        'content-length': Buffer.byteLength(body),
        'user-agent': `holdfast/${VERSION}`,
        ...headers,
      },
    }
    const outgoing = isPlain ? plain(url, options, resolve) : secure(url, options, resolve)
    outgoing.on('error', reject)
    // Node says nothing else of an answer that wants another protocol.
    outgoing.on('close', () => reject(new Error('the connection was closed without an answer')))
    outgoing.end(body)
  })
}

/** The status counts, so a body that is too long, too slow or cut off is no failure. */
async function beginningOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      if (bytes < limits.deliveryAnswerCharsKept) chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= limits.deliveryAnswerBytesMax) break
    }
  } catch {
    // What came until then is shown.
  } finally {
    answer.destroy()
  }
  return keptOf(Buffer.concat(chunks).toString('utf8'))
}

const keptOf = (text: string) => plainText(text.slice(0, limits.deliveryAnswerCharsKept))

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name could not be looked up',
  ECONNRESET: 'the connection was closed without an answer',
}

function reasonOf(error: unknown): string {
  const { code, message, errors } = error as NodeJS.ErrnoException & { errors?: Error[] }
  // Some of these words are the receiver's: a certificate's names are told.
  return keptOf(WORDS[code ?? ''] ?? (message || errors?.[0]?.message || code || 'it failed'))
}
