// Bytes that are no proper HTTP, or only just: refused in Placement's form wherever they break.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { eachStore } from '../support/stores.ts'
import { rawAnswer } from './raw.ts'
import { arrange, stateOf } from './something-to-damage.ts'

const JSON_TYPE = 'content-type: application/json'
const CHUNKED = 'transfer-encoding: chunked'
const POST = 'POST /placement/resource_providers HTTP/1.1'
const PUT = 'PUT /placement/traits/CUSTOM_X HTTP/1.1'

interface Bad {
  what: string
  line: string
  headers?: string[]
  body?: string
  statuses?: number[]
}

const BAD: Bad[] = [
  { what: 'a content-length that is no number', line: PUT, headers: ['content-length: x', JSON_TYPE] },
  { what: 'a negative content-length', line: PUT, headers: ['content-length: -5', JSON_TYPE] },
  { what: 'a NUL in the URL', line: 'GET /placement/traits/A\0B HTTP/1.1' },
  { what: 'an encoded NUL in the path', line: 'GET /placement/traits/A%00 HTTP/1.1' },
  { what: 'an encoded NUL in the query', line: 'GET /placement/resource_providers?name=%00 HTTP/1.1' },
  { what: 'a URL that is not UTF-8', line: 'GET /placement/traits/%ff HTTP/1.1' },
  { what: 'half an escape', line: 'GET /placement/traits/%e HTTP/1.1' },
  { what: 'a header without a name', line: 'GET /placement/traits HTTP/1.1', headers: [': x'] },
  { what: 'a method that nobody knows', line: 'FROB /placement/traits HTTP/1.1', statuses: [400, 405] },
  { what: 'HTTP of no known version', line: 'GET /placement/traits HTTP/9.9' },
  {
    what: 'a chunked body without content-type',
    line: POST,
    headers: [CHUNKED],
    body: '2\r\n{}\r\n0\r\n\r\n',
    statuses: [400, 415],
  },
  { what: 'a broken chunk', line: POST, headers: [CHUNKED, JSON_TYPE], body: 'zz\r\n{}\r\n0\r\n\r\n' },
  {
    what: 'a body with both a length and chunks',
    line: POST,
    headers: [CHUNKED, 'content-length: 2', JSON_TYPE],
    body: '2\r\n{}\r\n0\r\n\r\n',
  },
]

eachStore('on the wire', api => {
  before(() => arrange(api))

  for (const { what, line, headers = [], body = '', statuses = [400] } of BAD) {
    test(`${what} is refused`, async () => {
      const state = await stateOf(api)
      const answer = await rawAnswer(api.origin, { line, headers: [...headers, 'x-auth-token: admin'], body })
      assert.ok(statuses.includes(answer.status), `${answer.status}: ${answer.text}`)
      assert.equal(JSON.parse(answer.text).errors[0].status, answer.status)
      assert.equal(await stateOf(api), state)
    })
  }
})
