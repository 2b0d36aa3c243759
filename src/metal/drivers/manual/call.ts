// Makes a hook that is a call: a signed POST to a service of the operator's.
import { limits } from '../../../shared/limits.ts'
import { plainText } from '../../../shared/plain-text.ts'
import { VERSION } from '../../../shared/version.ts'
import { type Call, deadlineMs } from './hooks.ts'
import { type End, lastLine, type Ran } from './verdict.ts'

/** The headers that prove who calls. */
export type Sign = (message: { id: string; body: string; secret: string }) => Record<string, string>

interface Calling {
  call: Call
  id: string
  body: string
  sign: Sign
  signal: AbortSignal
}

export async function makeCall({ call, id, body, sign, signal }: Calling): Promise<Ran> {
  const ms = deadlineMs(call)
  const late = AbortSignal.timeout(ms)
  const ends = (end: End, text = ''): Ran => ({ end, output: text, said: lastLine(text) })
  try {
    const { request } = await import('undici')
    const answer = await request(call.url, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': `holdfast/${VERSION}`,
        ...sign({ id, body, secret: call.secret }),
      },
      signal: AbortSignal.any([late, signal]),
      // The deadline counts: those of the library are shorter.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const text = await beginningOf(answer.body)
    const retryAfterMs = secondsIn(answer.headers['retry-after'])
    return ends({ kind: 'answer', status: answer.statusCode, retryAfterMs }, text)
  } catch (error) {
    return ends(late.aborted ? { kind: 'late', ms } : { kind: 'broken', why: whyBroken(error) })
  }
}

/** The status counts, so a body that is cut off is no failure. */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true })
      if (text.length >= limits.hookOutputCharsMax) break
    }
  } catch {
    // What came until then is shown.
  }
  return plainText(text.slice(0, limits.hookOutputCharsMax))
}

function secondsIn(header: string | string[] | undefined): number | null {
  return typeof header === 'string' && /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : null
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name could not be looked up',
  UND_ERR_SOCKET: 'the connection was closed without an answer',
  UND_ERR_CONNECT_TIMEOUT: 'nobody answers there',
}

function whyBroken(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return `got no answer: ${lastLine(WORDS[code ?? ''] ?? (message || code || 'it failed'))}`
}
