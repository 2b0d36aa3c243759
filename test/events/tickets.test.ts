// Who may open a stream, for how long, and with a ticket where a header can't be sent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordAll } from '../../src/audit/record.ts'
import { openStore } from '../../src/store/open.ts'
import { allocation, entryOf, listen, noStreamsAt, page } from '../support/events.ts'
import { eachIdentity, inProject } from '../support/identity.ts'

const PATH = '/holdfast/v1/events/tickets'

eachIdentity('a stream of someone who is known', ({ api, database, start, databases }) => {
  const ticketFor = async (headers: Record<string, string>, origin = api.origin) => {
    const response = await fetch(`${origin}${PATH}`, { method: 'POST', headers })
    return { status: response.status, body: (await response.json()) as { ticket: string; expires_at: string } }
  }
  const tell = async (...subjects: Parameters<typeof entryOf>[0]) => {
    const store = openStore(database())
    await store.write(() => recordAll([entryOf(subjects)]))
    await store.close()
  }
  const projectOf = async (token: string) => (await api.validate(token)).body.token.project.id as string

  test('ends with a word when the token is revoked', async t => {
    await noStreamsAt(api.origin)
    t.mock.timers.enable({ apis: ['setInterval'] })
    const token = await api.token('bob')
    const stream = await listen(api.origin, '', { 'x-auth-token': token })
    t.mock.timers.tick(15_000)
    await stream.until(({ comments }) => comments.includes('still here'), 'a sign of life')
    await api.del('/v3/auth/tokens', { token, headers: { 'x-subject-token': token } })
    t.mock.timers.tick(15_000)
    const { comments } = await stream.end()
    assert.equal(comments.at(-1), 'the token is no longer valid; log in again')
  })

  test('a ticket opens a stream as the caller who got it, here and in every other process', async () => {
    const token = await api.token('bob')
    const { status, body } = await ticketFor({ 'x-auth-token': token })
    assert.equal(status, 201)
    assert.ok(!body.ticket.includes(token.slice(0, 20)))
    const origins = [api.origin]
    if (databases.kind === 'postgres') origins.push((await start(database())).origin)
    const project = await projectOf(token)
    for (const origin of origins) {
      const stream = await listen(origin, `?ticket=${body.ticket}`, {})
      await tell(allocation('others', 'created', 'others'), allocation('mine', 'created', project))
      assert.equal((await stream.events(1))[0]!.data.subject, 'allocation/mine')
      stream.hangUp()
    }
  })

  test('a stream with a ticket ends when the token behind it is revoked', async t => {
    await noStreamsAt(api.origin)
    t.mock.timers.enable({ apis: ['setInterval'] })
    const token = await api.token('carol', inProject('lab'))
    const { body } = await ticketFor({ 'x-auth-token': token })
    const stream = await listen(api.origin, `?ticket=${body.ticket}`, {})
    await api.del('/v3/auth/tokens', { token, headers: { 'x-subject-token': token } })
    t.mock.timers.tick(15_000)
    assert.equal((await stream.end()).comments.at(-1), 'the token is no longer valid; log in again')
    assert.equal((await page(api.origin, `?ticket=${body.ticket}`, {})).status, 401)
  })

  test('a ticket is of no use after a minute, changed, as a token, or for anything but events', async t => {
    const token = await api.token('bob')
    const { ticket } = (await ticketFor({ 'x-auth-token': token })).body
    assert.equal((await page(api.origin, `?ticket=${ticket}`, {})).status, 200)
    const bytes = Buffer.from(ticket, 'base64url')
    bytes[20]! ^= 1
    for (const wrong of [bytes.toString('base64url'), 'x', '', token]) {
      assert.equal((await page(api.origin, `?ticket=${wrong}`, {})).status, 401, wrong)
    }
    assert.equal((await page(api.origin, '', { 'x-auth-token': ticket })).status, 401)
    const other = await fetch(`${api.origin}/holdfast/v1/quotas/lab?ticket=${ticket}`)
    assert.equal(other.status, 401)
    // On PostgreSQL a process counts on from the database's time and doesn't look at its own clock.
    const before = performance.now.bind(performance)
    t.mock.method(performance, 'now', () => before() + 61_000)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 61_000 })
    assert.equal((await page(api.origin, `?ticket=${ticket}`, {})).status, 401)
  })

  test('there is none for a password, nor for nobody', async () => {
    const authorization = `Basic ${Buffer.from('bob:bob-pw').toString('base64')}`
    const { status, body } = await ticketFor({ authorization })
    assert.equal(status, 400)
    assert.match(JSON.stringify(body), /log in for one/)
    assert.equal((await ticketFor({})).status, 401)
    const basic = await listen(api.origin, '', { authorization })
    basic.hangUp()
  })
})
