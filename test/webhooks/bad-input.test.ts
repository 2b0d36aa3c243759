// What is wrong with a webhook is said in one clear line, and changes nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { as } from '../support/callers.ts'
import { type Answer, Client } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

const MEMBER = as('member', 'p1')
const GOOD = { url: 'https://8.8.8.8/hook', types: ['conductor'] }

const WRONG: [string, unknown, RegExp][] = [
  ['an address inside', { ...GOOD, url: 'https://127.0.0.1/' }, /is inside/],
  ['the metadata of a cloud', { ...GOOD, url: 'https://169.254.169.254/' }, /is inside/],
  ['a name that leads inside', { ...GOOD, url: 'https://localhost/' }, /is inside/],
  ['no TLS', { ...GOOD, url: 'http://8.8.8.8/' }, /must be https/],
  ['a password', { ...GOOD, url: 'https://a:b@8.8.8.8/' }, /no password/],
  ['mail without a mail server', { ...GOOD, url: 'mailto:a@example.org' }, /sends no mail/],
  ['no URL', { url: 'no url' }, /must be an https/],
  ['nothing', {}, /'url' is a required property/],
  ['an unknown type', { ...GOOD, types: ['lease.pony'] }, /no events of the type lease\.pony/],
  ['types that are no list', { ...GOOD, types: 'lease' }, /is not of type/],
  ['too many types', { ...GOOD, types: Array.from({ length: 51 }, () => 'lease') }, /too long|Failed validating/],
  ['an unknown member', { ...GOOD, secret: 'whsec_AAAA' }, /'secret' was unexpected/],
  ['NUL', { ...GOOD, name: 'a\0b' }, /NUL|character/i],
]

eachDatabase('webhooks that are wrong', databases => {
  void test('are refused, and nothing is changed', async () => {
    await using opened = new AsyncDisposableStack()
    const server = await startServer(await databases.create())
    opened.defer(() => server.stop())
    const api = new Client('/holdfast/v1', server.origin)
    opened.defer(() => api.close())
    const list = async () => expectStatus(await api.get('/webhooks', MEMBER), 200).body.webhooks
    const { uuid } = expectStatus(await api.post('/webhooks', GOOD, MEMBER), 201).body
    const before = await list()
    const said = (answer: Answer) => expectStatus(answer, 400).body.error.message as string
    for (const [what, body, message] of WRONG) {
      assert.match(said(await api.post('/webhooks', body, MEMBER)), message, what)
      if (what !== 'nothing')
        assert.match(said(await api.request('PATCH', `/webhooks/${uuid}`, body, MEMBER)), message, what)
    }
    for (const body of ['', '{', '[]', 'null']) expectStatus(await api.post('/webhooks', body, MEMBER), 400)
    assert.match(said(await api.request('PATCH', `/webhooks/${uuid}`, { state: 'active' }, MEMBER)), /is not one of/)
    for (const project of [null, 'p2']) expectStatus(await api.post('/webhooks', { ...GOOD, project }, MEMBER), 403)
    for (const id of ['x', '0', '99999999999999999999', '-1', '1e3']) {
      expectStatus(await api.del(`/webhooks/${uuid}/deliveries/${id}`, MEMBER), 404)
    }
    expectStatus(await api.get('/webhooks/no-such', MEMBER), 404)
    expectStatus(await api.get(`/webhooks/${uuid.toUpperCase()}`, MEMBER), 200)
    assert.deepEqual(await list(), before)
    const more = await Promise.all(Array.from({ length: 40 }, () => api.post('/webhooks', GOOD, MEMBER)))
    assert.equal(more.filter(({ status }) => status === 201).length, 19)
    assert.equal(expectStatus(await api.post('/webhooks', GOOD, MEMBER), 409).body.error.kind, 'webhook_too_many')
    expectStatus(await api.post('/webhooks', GOOD, as('member', 'p2')), 201)
  })

  void test('nobody is flooded with tests, whichever webhook of a project they are of', async () => {
    await using opened = new AsyncDisposableStack()
    // Nothing listens there.
    const server = await startServer(await databases.create(), { webhookAllow: '127.0.0.1' })
    opened.defer(() => server.stop())
    const api = new Client('/holdfast/v1', server.origin)
    opened.defer(() => api.close())
    const create = async (caller = MEMBER) =>
      expectStatus(await api.post('/webhooks', { ...GOOD, url: 'http://127.0.0.1:1024/' }, caller), 201).body.uuid
    const test = async (caller = MEMBER) => api.post(`/webhooks/${await create(caller)}/test`, undefined, caller)
    const answers = await Promise.all(Array.from({ length: 12 }, () => test()))
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [...Array(10).fill(200), 429, 429],
    )
    const { headers, body } = answers.find(({ status }) => status === 429)!
    assert.equal(body.error.kind, 'webhook_tests_too_many')
    assert.match(String(new Headers(headers as Record<string, string>).get('retry-after')), /^[1-6]?[0-9]$/)
    expectStatus(await test(as('member', 'p2')), 200)
  })
})
