// The server's message is found in the errors of each API.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, isAway, sentenceIn, Unreachable } from './errors.ts'

const FORMS: Record<string, [unknown, string | null]> = {
  'bare metal, from a handler': [
    { error_message: '{"faultcode":"Client","faultstring":"Node x is held."}' },
    'Node x is held.',
  ],
  'bare metal, from the router': [
    { error_message: '{"code":404,"title":"Not Found","description":"Nothing here."}' },
    'Nothing here.',
  ],
  'bare metal, as an object': [{ error_message: { faultstring: 'Said plainly.' } }, 'Said plainly.'],
  placement: [
    { errors: [{ status: 409, title: 'Conflict', detail: 'Stock sentence.\n\n Our own words.  ' }] },
    'Our own words.',
  ],
  'placement, with nothing of its own': [
    { errors: [{ title: 'Conflict', detail: 'Stock sentence.' }] },
    'Stock sentence.',
  ],
  reservation: [{ error_code: 409, error_message: 'Not enough hosts available.' }, 'Not enough hosts available.'],
  'reservation, with a brace': [{ error_message: '{not JSON' }, '{not JSON'],
  identity: [{ error: { code: 401, title: 'Unauthorized', message: 'Who are you?' } }, 'Who are you?'],
  operator: [{ error: { kind: 'forbidden', message: 'Not for you.', request_id: 'r' } }, 'Not for you.'],
  compute: [{ itemNotFound: { code: 404, message: 'No such server.' } }, 'No such server.'],
  'no form at all': [{}, null],
  'no object': ['gateway timeout', null],
  nothing: [null, null],
}

for (const [form, [body, sentence]] of Object.entries(FORMS)) {
  test(`the sentence in an error: ${form}`, () => assert.equal(sentenceIn(body), sentence))
}

const below = (code: string) => new Unreachable('http://x', code, new TypeError('fetch failed', { cause: { code } }))
const AWAY: Record<string, [unknown, boolean]> = {
  'nothing listens there': [below('ECONNREFUSED'), true],
  'no such host now': [below('EAI_AGAIN'), true],
  'a connection that was reset': [below('ECONNRESET'), true],
  'a connection that was closed': [below('UND_ERR_SOCKET'), true],
  'a silence': [new Unreachable('http://x', 'late', new DOMException('late', 'TimeoutError')), true],
  'a proxy without a server': [new ApiError(502, ''), true],
  'a server that stops': [new ApiError(503, ''), true],
  'a crowd': [new ApiError(429, '', { retryAfterMs: 1_000 }), true],
  'a limit for good': [new ApiError(429, ''), false],
  'a certificate that nobody trusts': [below('DEPTH_ZERO_SELF_SIGNED_CERT'), false],
  'no answer, in a browser': [new Unreachable('http://x', 'gone', new TypeError('Failed to fetch')), true],
  'a port that fetch refuses': [new Unreachable('http://x', 'bad port', new TypeError('fetch failed')), false],
  'a refusal': [new ApiError(409, ''), false],
  'a bug of the server': [new ApiError(500, ''), false],
  'a bug of ours': [new TypeError('oops'), false],
}

for (const [what, [error, expected]] of Object.entries(AWAY)) {
  test(`whether the server is away for a while: ${what}`, () => assert.equal(isAway(error), expected))
}
