// The server's message is found in the errors of each API.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sentenceIn } from './errors.ts'

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
