// Reminders by mail, through a real SMTP server: who gets them, what they say, and what happens when the server fails.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { callbackify } from 'node:util'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { as } from '../support/callers.ts'
import { Client } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { type Server, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { allocation, tell, until } from './receiver.ts'

const PASSWORD = 'p@ss/word'
const MEMBER = as('member', 'p1')

interface Letter {
  to: string[]
  user: string | undefined
  raw: string
}

eachDatabase('mail', databases => {
  const api = new Client('/holdfast/v1')
  const letters: Letter[] = []
  let refusals = 0
  const take = async (stream: Readable, to: { address: string }[], user: string | undefined) => {
    // Quoted-printable breaks long lines.
    const raw = (await text(stream)).replaceAll('=\r\n', '')
    if (refusals-- > 0) throw Object.assign(new Error('try later'), { responseCode: 451 })
    letters.push({ to: to.map(({ address }) => address), user, raw })
  }
  const smtp = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      password === PASSWORD ? done(null, { user: username ?? '' }) : done(new Error(`not the password: ${password}`)),
    onData: callbackify(async (stream: Readable, { envelope, user }: SMTPServerSession) =>
      take(stream, envelope.rcptTo, user),
    ),
  })
  let server: Server
  let store: Store

  before(async () => {
    await new Promise<void>(resolve => smtp.listen(0, '127.0.0.1', resolve))
    const { port } = smtp.server.address() as AddressInfo
    const database = await databases.create()
    server = await startServer(database, {
      mailSmtp: `smtp://holdfast:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`,
      mailFrom: 'Holdfast <holdfast@lab.example.org>',
      mailToDomains: 'example.org',
      testClock: true,
    })
    api.origins = [server.origin]
    store = openStore(database)
  })
  after(async () => {
    await store.close()
    api.close()
    await server.stop()
    await new Promise<void>(resolve => smtp.close(() => resolve()))
  })

  const subscribe = async (more: object = {}) =>
    expectStatus(await api.post('/webhooks', { url: 'mailto:alice@example.org', ...more }, MEMBER), 201).body
  const header = ({ raw }: Letter, name: string) =>
    new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(raw)?.[1]?.replaceAll(/\r\n\s/g, ' ')

  void test('what ends soon is written in plain words, with the machine, the time and the command that helps', async () => {
    const { uuid, secret, types } = await subscribe()
    assert.equal(secret, null)
    assert.ok(types.includes('lease.before_end') && !types.includes('node'))
    const node = { uuid: randomUUID(), name: 'rack-a01-01' }
    const id = randomUUID()
    await tell(store, { kind: 'node', id: node.uuid, became: 'power_state', whose: { owner: 'p1' } })
    await tell(
      store,
      allocation(id, 'before_end', 'p1', { name: 'job-1', node, expires_at: '2026-11-15T15:39:56.713Z' }),
    )
    await until('the letter', () => letters.length === 1)
    const [letter] = letters as [Letter]
    assert.deepEqual([letter.to, letter.user], [['alice@example.org'], 'holdfast'])
    assert.equal(header(letter, 'Subject'), 'job-1 on rack-a01-01 ends at 2026-11-15 15:39 UTC')
    assert.equal(header(letter, 'From'), 'Holdfast <holdfast@lab.example.org>')
    assert.match(header(letter, 'Message-ID')!, new RegExp(`^<msg_${uuid}_\\d+_0@lab\\.example\\.org>$`))
    assert.match(letter.raw, /holdfast allocation renew job-1 --expires-at 2h/)
    assert.match(letter.raw, new RegExp(`holdfast webhook delete ${uuid}`))
    expectStatus(await api.del(`/webhooks/${uuid}`, MEMBER), 204)
  })

  void test('who was removed is told by whom and why; nobody is told what they did themselves', async () => {
    const { uuid } = await subscribe()
    letters.length = 0
    const data = { name: 'job-2', reason: 'The rack\r\nBcc: eve@example.com\r\n\r\nis emptied.' }
    await tell(store, allocation(randomUUID(), 'ended', 'p1', data))
    await until('the letter', () => letters.length === 1)
    assert.match(
      header(letters[0]!, 'Subject')!,
      /^job-2 has ended by someone: The rack Bcc: eve@example.com is emptied/,
    )
    assert.equal(header(letters[0]!, 'Bcc'), undefined)
    assert.deepEqual(letters[0]!.to, ['alice@example.org'])
    expectStatus(await api.del(`/webhooks/${uuid}`, MEMBER), 204)
    const own = expectStatus(
      await api.post('/webhooks', { url: 'mailto:bob@example.org' }, { ...MEMBER, token: 'someone:p1' }),
      201,
    ).body
    const other = await subscribe({ url: 'mailto:carol@example.org' })
    await tell(store, allocation(randomUUID(), 'ended', 'p1', data))
    await until('the letter to the other', () => letters.length === 2)
    assert.deepEqual(letters[1]!.to, ['carol@example.org'])
    assert.deepEqual(expectStatus(await api.get(`/webhooks/${own.uuid}/deliveries`, MEMBER), 200).body.deliveries, [])
    for (const one of [own, other]) expectStatus(await api.del(`/webhooks/${one.uuid}`, MEMBER), 204)
  })

  void test('a mail server that fails is tried again with the same Message-ID, and no password is shown', async () => {
    const { uuid } = await subscribe()
    letters.length = 0
    refusals = 1
    await tell(store, { kind: 'lease', id: randomUUID(), became: 'started', whose: { project: 'p1' } })
    const last = async () => expectStatus(await api.get(`/webhooks/${uuid}/deliveries`, MEMBER), 200).body.deliveries[0]
    await until('the refusal', async () => (await last())?.answer_status === 451)
    assert.match((await last()).error, /try later/)
    assert.ok(!JSON.stringify(await last()).includes(PASSWORD))
    expectStatus(await api.post('/clock', { advance: 6 }), 200)
    await until('the letter', () => letters.length === 1)
    assert.equal(header(letters[0]!, 'Message-ID'), `<${(await last()).message}@lab.example.org>`)
    const tried = expectStatus(await api.post(`/webhooks/${uuid}/test`, undefined, MEMBER), 200).body
    assert.equal(tried.delivered, true)
    assert.equal(header(letters[1]!, 'Subject'), 'This is a test of your reminders')
    expectStatus(await api.del(`/webhooks/${uuid}`, MEMBER), 204)
  })

  void test("mail is about what is its maker's own, unless all is asked for", async () => {
    const [own, every] = [await subscribe(), await subscribe({ url: 'mailto:team@example.org', only_user: null })]
    letters.length = 0
    const ended = (user: string) => ({ ...allocation(randomUUID(), 'ended', 'p1', {}), whose: { project: 'p1', user } })
    await tell(store, ended('bob'))
    await tell(store, ended('member'))
    await until('three letters', () => letters.length === 3)
    const team = letters.filter(({ to }) => to[0] === 'team@example.org')
    assert.equal(team.length, 2)
    for (const { uuid } of [own, every]) expectStatus(await api.del(`/webhooks/${uuid}`, MEMBER), 204)
  })

  void test('strangers are not written to', async () => {
    for (const url of ['mailto:eve@example.com', 'mailto:eve@example.org,bob@example.org', 'mailto:']) {
      assert.equal(expectStatus(await api.post('/webhooks', { url }, MEMBER), 400).body.error.kind, 'webhook_invalid')
    }
  })
})
