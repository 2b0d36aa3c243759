// Webhooks over HTTP: what is delivered, to whom, signed how, in which order, and what becomes of failures.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { limits } from '../../src/shared/limits.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { as } from '../support/callers.ts'
import { Client, type Options } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { type Server, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { allocation, Receiver, tell, until } from './receiver.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects
type Shown = any

const MEMBER = as('member', 'p1')
const OTHER = as('member', 'p2')
const ADMIN = as('admin', 'p1')

eachDatabase('webhooks', databases => {
  const api = new Client('/holdfast/v1')
  const receiver = new Receiver()
  let server: Server
  let store: Store
  let paths = 0

  before(async () => {
    const database = await databases.create()
    server = await startServer(database, { webhookAllow: '127.0.0.1', testClock: true })
    api.origins = [server.origin]
    store = openStore(database)
    await receiver.open()
  })
  after(async () => {
    await store.close()
    api.close()
    await server.stop()
    receiver.close()
  })

  const advance = async (seconds: number) => expectStatus(await api.post('/clock', { advance: seconds }), 200)
  const create = async (more: object = {}, options: Options = MEMBER): Promise<Shown> => {
    const path = `/hook-${++paths}`
    const body = { url: `${receiver.url}${path}`, ...more }
    return { path, ...expectStatus(await api.post('/webhooks', body, options), 201).body }
  }
  const show = async (uuid: string): Promise<Shown> =>
    expectStatus(await api.get(`/webhooks/${uuid}`, MEMBER), 200).body
  const deliveries = async (uuid: string): Promise<Shown[]> =>
    expectStatus(await api.get(`/webhooks/${uuid}/deliveries`, MEMBER), 200).body.deliveries
  const remove = async (uuid: string) => expectStatus(await api.del(`/webhooks/${uuid}`, ADMIN), 204)
  const typesAt = (path: string) => receiver.at(path).map(({ event }) => event.type)

  void test('an event arrives as a CloudEvent that a Standard Webhooks library verifies', async () => {
    const { path, secret, uuid } = await create({ name: 'mine' })
    const id = randomUUID()
    await tell(store, allocation(id, 'active', 'p1', { name: 'job-1' }))
    await until('the event', () => receiver.at(path).length > 0)
    const [{ headers, body, event }] = receiver.at(path) as [Shown]
    const now = Number(headers['webhook-timestamp'])
    assert.ok(Number.isInteger(now))
    assert.deepEqual(new Webhook(secret).verify(body, headers), event)
    assert.throws(() => new Webhook(secret).verify(`${body} `, headers))
    assert.equal(event.type, 'holdfast.allocation.active')
    assert.equal(event.subject, `allocation/${id}`)
    assert.equal(event.data.name, 'job-1')
    assert.match(headers['content-type'], /^application\/cloudevents\+json/)
    await until('the answer', async () => (await deliveries(uuid))[0]?.status === 'delivered')
    const [delivery] = await deliveries(uuid)
    assert.deepEqual([delivery.answer_status, delivery.attempts, delivery.error], [204, 1, null])
    assert.equal(delivery.message, headers['webhook-id'])
    await remove(uuid)
  })

  void test('a project is told of its own, by the types and the object that it asked for; admins of all', async () => {
    const [one, two] = [randomUUID(), randomUUID()]
    const own = await create()
    const others = await create({}, OTHER)
    const ended = await create({ types: ['allocation.ended'] })
    const about = await create({ object: two })
    const every = await create({ project: null }, ADMIN)
    const filtered = await create({ project: null, only_project: 'p2' }, ADMIN)
    await tell(store, allocation(one, 'active'))
    await tell(store, allocation(one, 'ended'), allocation(two, 'active', 'p2'), {
      kind: 'conductor',
      id: 'c',
      became: 'joined',
    })
    await tell(store, allocation(two, 'ended', 'p2'), allocation(one, 'created'))
    await until('the last for all', () => typesAt(every.path).length === 6)
    await until('the last of p1', () => typesAt(own.path).length === 3)
    assert.deepEqual(
      new Set(typesAt(own.path)),
      new Set(['active', 'created', 'ended'].map(word => `holdfast.allocation.${word}`)),
    )
    await until('the last of p2', () => typesAt(others.path).length === 2 && typesAt(filtered.path).length === 2)
    for (const { path } of [others, filtered]) {
      assert.deepEqual(
        receiver.at(path).map(({ event }) => [event.type, event.projectid]),
        [
          ['holdfast.allocation.active', 'p2'],
          ['holdfast.allocation.ended', 'p2'],
        ],
      )
    }
    await until('what ended', () => typesAt(ended.path).length === 1)
    assert.equal(typesAt(about.path).length, 0, 'an object of another project')
    for (const { uuid } of [own, others, ended, about, every, filtered]) await remove(uuid)
  })

  void test('about one object all comes in order, though tries fail; other objects do not wait for it', async () => {
    const { path, uuid } = await create()
    const [slow, quick] = [randomUUID(), randomUUID()]
    let refusals = 0
    receiver.respond = (response, { event }) => {
      const isRefused = event.subject.endsWith(slow) && refusals < 2
      if (isRefused) refusals++
      response.writeHead(isRefused ? 500 : 200).end('not now')
    }
    await tell(store, allocation(slow, 'created'), allocation(slow, 'active'), allocation(quick, 'created'))
    await tell(store, allocation(slow, 'ended'), allocation(quick, 'ended'))
    const about = (id: string) => receiver.at(path).filter(({ event }) => event.subject.endsWith(id))
    await until('the other object', () => about(quick).length === 2)
    await until('the first failure', async () =>
      (await deliveries(uuid)).some(({ error }) => error === 'it answered 500'),
    )
    assert.ok(about(slow).every(({ event }) => event.type.endsWith('created')))
    await advance(6)
    await until('the second try', () => about(slow).length >= 2)
    await until('its failure', () => refusals === 2)
    await until('its pause', async () => {
      const first = (await deliveries(uuid)).find(
        ({ subject, type }) => subject.endsWith(slow) && type.endsWith('created'),
      )
      return first.attempts >= 2 && first.answer_text === 'not now'
    })
    await advance(301)
    await until('the rest', () => about(slow).length === 5)
    assert.deepEqual(
      about(slow).map(({ event }) => event.type.split('.')[2]),
      ['created', 'created', 'created', 'active', 'ended'],
    )
    const tries = about(slow).slice(0, 3)
    assert.equal(new Set(tries.map(({ id }) => id)).size, 1, 'one message')
    assert.equal(new Set(tries.map(({ body }) => body)).size, 1, 'the same bytes')
    receiver.respond = response => response.writeHead(204).end()
    await remove(uuid)
  })

  void test('what fails for a day pauses the webhook, others are told, and resume goes on with nothing lost', async () => {
    const witness = await create({ types: ['webhook'] })
    const { path, uuid } = await create({ name: 'broken', types: ['allocation'] })
    const id = randomUUID()
    receiver.respond = (response, received) => response.writeHead(received.path === path ? 500 : 204).end()
    await tell(store, allocation(id, 'created'), allocation(id, 'active'))
    for (let tries = 1; (await show(uuid)).state === 'active'; tries++) {
      await until('a try', async () =>
        (await deliveries(uuid)).some(({ attempts, error }) => attempts >= tries && error),
      )
      assert.ok(tries < 12, 'it goes on for ever')
      await advance(10 * 3_600)
    }
    const paused = await show(uuid)
    assert.equal(paused.state, 'paused')
    assert.match(paused.reason, /failed for a day; the last time: it answered 500/)
    await until('the event', () => receiver.at(witness.path).length === 1)
    const [told] = receiver.at(witness.path)
    assert.equal(told!.event.type, 'holdfast.webhook.disabled')
    assert.equal(told!.event.data.name, 'broken')
    await tell(store, allocation(id, 'ended'))
    receiver.respond = response => response.writeHead(204).end()
    const before = receiver.at(path).length
    expectStatus(await api.post(`/webhooks/${uuid}/resume`, undefined, MEMBER), 200)
    await until('all', () => receiver.at(path).length === before + 3)
    assert.deepEqual(
      typesAt(path).slice(before),
      ['created', 'active', 'ended'].map(word => `holdfast.allocation.${word}`),
    )
    await remove(uuid)
    await remove(witness.uuid)
  })

  void test('410 switches it off; resume begins with what happens then', async () => {
    const { path, uuid } = await create()
    receiver.respond = response => response.writeHead(410).end()
    await tell(store, allocation(randomUUID(), 'created'), allocation(randomUUID(), 'created'))
    await until('the end', async () => (await show(uuid)).state === 'disabled')
    await tell(store, allocation(randomUUID(), 'created'))
    receiver.respond = response => response.writeHead(204).end()
    expectStatus(await api.post(`/webhooks/${uuid}/resume`, undefined, MEMBER), 200)
    const before = receiver.at(path).length
    await tell(store, allocation(randomUUID(), 'ended'))
    await until('the new one', () => receiver.at(path).length > before)
    assert.deepEqual(typesAt(path).slice(before), ['holdfast.allocation.ended'])
    assert.ok((await deliveries(uuid)).some(({ status }) => status === 'dropped'))
    await remove(uuid)
  })

  void test('a receiver that asks for rest gets it, from all that is sent there', async () => {
    const { path, uuid } = await create()
    receiver.respond = response => response.writeHead(429, { 'retry-after': '1800' }).end()
    await tell(store, allocation(randomUUID(), 'created'))
    await until('the refusal', async () => (await deliveries(uuid))[0]?.answer_status === 429)
    receiver.respond = response => response.writeHead(204).end()
    const { next_at, answered_at } = (await deliveries(uuid))[0]
    assert.equal(Date.parse(next_at) - Date.parse(answered_at), 1_800_000)
    await advance(900)
    assert.equal(receiver.at(path).length, 1)
    await advance(901)
    await until('the second try', () => receiver.at(path).length === 2)
    await remove(uuid)
  })

  void test('redirects are not followed, huge answers are cut off, and hanging receivers hold up nobody else', async () => {
    const [moved, huge, hanging, well] = [await create(), await create(), await create(), await create({}, OTHER)]
    const open = new Set<ServerResponse>()
    let most = 0
    receiver.respond = (response, { path }) => {
      const pour = () => {
        while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
        if (!response.destroyed) response.once('drain', pour)
      }
      const hold = () => {
        open.add(response.on('close', () => open.delete(response)))
        most = Math.max(most, open.size)
      }
      if (path === moved.path) response.writeHead(302, { location: `${receiver.url}/elsewhere` }).end()
      else if (path === well.path) response.writeHead(204).end()
      else if (path === hanging.path) hold()
      else pour()
    }
    const some = (project: string) => Array.from({ length: 40 }, () => allocation(randomUUID(), 'created', project))
    await tell(store, ...some('p1'), ...some('p2'))
    await until('all of the others', () => receiver.at(well.path).length === 40)
    const allAre = async (uuid: string, isSo: (delivery: Shown) => boolean) => {
      const found = await deliveries(uuid)
      return found.length === 40 && found.every(isSo)
    }
    await until('the huge answers', () => allAre(huge.uuid, ({ status }) => status === 'delivered'))
    assert.equal((await deliveries(huge.uuid))[0].answer_text.length, 1_024)
    await until('the redirects', () => allAre(moved.uuid, ({ error }) => error !== null))
    assert.match((await deliveries(moved.uuid))[0].error, /302, and redirects are not followed/)
    assert.equal(receiver.at('/elsewhere').length, 0)
    assert.ok(most > 0 && most <= 8, `a bounded number at once, not ${most}`)
    for (const { uuid } of [moved, huge, hanging, well]) await remove(uuid)
    for (const response of open) response.end()
    receiver.respond = response => response.writeHead(204).end()
  })

  void test('two receivers that stall do not starve a third of their project, at first nor at each retry', async () => {
    const stalled = [await create(), await create()]
    const well = await create()
    const open = new Map(stalled.map(({ path }) => [path, new Set<ServerResponse>()]))
    receiver.respond = (response, { path }) => {
      if (path === well.path) response.writeHead(204).end()
      else open.get(path)?.add(response.on('close', () => open.get(path)!.delete(response)))
    }
    const tries = () => stalled.reduce((sum, { path }) => sum + receiver.at(path).length, 0)
    const some = () => tell(store, ...Array.from({ length: 30 }, () => allocation(randomUUID(), 'created')))
    await some()
    await until('all of the third', () => receiver.at(well.path).length === 30)
    assert.ok(tries() < limits.deliveryLanes.first.ofOwner, `the two have ${tries()} places, and left some`)
    await until('places of both', () => stalled.every(({ path }) => receiver.at(path).length > 1))
    // What was under way fails, and from then on each has one place.
    const before = new Map(stalled.map(({ path }) => [path, receiver.at(path).length]))
    for (const responses of open.values()) for (const response of responses) response.destroy()
    for (const { path, uuid } of stalled) {
      const failed = async () => (await deliveries(uuid)).filter(({ error }) => error).length
      await until('the failures', async () => (await failed()) >= before.get(path)!)
    }
    for (let round = 2; round <= 3; round++) {
      await some()
      await until('all of the third again', () => receiver.at(well.path).length === 30 * round)
      for (const { path } of stalled) await until('a retry', () => open.get(path)!.size === 1)
      await advance(6)
    }
    for (const { uuid } of [...stalled, well]) await remove(uuid)
    for (const responses of open.values()) for (const response of responses) response.destroy()
    receiver.respond = response => response.writeHead(204).end()
  })

  void test('a new secret and the old one both sign for a day', async () => {
    const { path, uuid, secret: first } = await create()
    const answer = await api.post(`/webhooks/${uuid}/secret`, undefined, MEMBER)
    const { secret: second } = expectStatus(answer, 200).body
    assert.notEqual(first, second)
    await tell(store, allocation(randomUUID(), 'created'))
    await until('both', () => receiver.at(path).length === 1)
    const signatures = () => String(receiver.at(path).at(-1)!.headers['webhook-signature']).split(' ')
    assert.equal(signatures().length, 2)
    await advance(25 * 3_600)
    await tell(store, allocation(randomUUID(), 'created'))
    await until('one', () => receiver.at(path).length === 2)
    assert.equal(signatures().length, 1)
    const { id, headers, body } = receiver.at(path).at(-1)!
    const now = new Date(Number(headers['webhook-timestamp']) * 1_000)
    assert.equal(signatures()[0], new Webhook(second).sign(id, now, body))
    const shown = JSON.stringify([await show(uuid), await api.get('/webhooks', ADMIN), await api.get('/audit', ADMIN)])
    for (const secret of [first, second]) assert.ok(!shown.includes(secret), 'a secret is shown')
    await remove(uuid)
  })

  void test('a delivery that can not be taken is given up, and those behind it go', async () => {
    const { path, uuid } = await create()
    const id = randomUUID()
    receiver.respond = (response, { event }) => response.writeHead(event.type.endsWith('created') ? 400 : 204).end()
    await tell(store, allocation(id, 'created'), allocation(id, 'ended'))
    await until('the refusal', async () => (await deliveries(uuid)).some(({ error }) => error))
    const poison = (await deliveries(uuid)).find(({ error }) => error)
    expectStatus(await api.del(`/webhooks/${uuid}/deliveries/${poison.id}`, MEMBER), 204)
    await until('the next', () => typesAt(path).at(-1) === 'holdfast.allocation.ended')
    expectStatus(await api.del(`/webhooks/${uuid}/deliveries/${poison.id}`, MEMBER), 404)
    receiver.respond = response => response.writeHead(204).end()
    await remove(uuid)
  })

  void test('paused by hand it keeps its place; a test is sent at once and shows the answer', async () => {
    const { path, uuid } = await create()
    expectStatus(await api.request('PATCH', `/webhooks/${uuid}`, { state: 'paused' }, MEMBER), 200)
    await tell(store, allocation(randomUUID(), 'created'))
    receiver.respond = response => response.writeHead(202).end('hello')
    const tried = expectStatus(await api.post(`/webhooks/${uuid}/test`, undefined, MEMBER), 200).body
    assert.deepEqual([tried.delivered, tried.status, tried.text], [true, 202, 'hello'])
    assert.deepEqual(typesAt(path), ['holdfast.webhook.test'])
    receiver.respond = response => response.writeHead(204).end()
    expectStatus(await api.post(`/webhooks/${uuid}/resume`, undefined, MEMBER), 200)
    await until('what happened meanwhile', () => typesAt(path).at(-1) === 'holdfast.allocation.created')
    await remove(uuid)
  })

  void test('nothing is left over, and fsck finds nothing', async () => {
    assert.deepEqual(expectStatus(await api.get('/webhooks', ADMIN), 200).body.webhooks, [])
    const { violations, invariants } = expectStatus(await api.get('/fsck', ADMIN), 200).body
    assert.equal(violations, 0, JSON.stringify(invariants.filter((one: Shown) => one.violations > 0)))
  })
})
