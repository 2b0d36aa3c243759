// Webhooks and their deliveries at a moment: which is taken first, whose is whose, and what an answer leaves behind.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemClock } from '../../src/clock/clock.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { narrowWebhooks } from '../../src/webhooks/makers.ts'
import { dropDelivery, lastDeliveries, type Taken, writeAnswer } from '../../src/webhooks/outbox.ts'
import { contenders, take } from '../../src/webhooks/taking.ts'
import { changeWebhook, createWebhook, findWebhook, typesText, type Webhook } from '../../src/webhooks/webhooks.ts'
import { Rows } from '../support/rows.ts'
import { eachDatabase } from '../support/stores.ts'

const NOW = 1_000_000_000
const ALL = { project: null, all: 1 } as const
const clock = { ...systemClock, now: () => NOW }

eachDatabase(
  'webhooks, row by row,',
  databases => {
    let store: Store
    let rows: Rows
    before(async () => {
      store = openStore(await databases.create())
      rows = new Rows(store)
    })
    after(() => store.close())

    const create = async (url = 'https://example.org/', maker = 'u'): Promise<Webhook> => {
      const settings = { name: '', url, types: typesText([]), object: null, only_project: null, only_user: null }
      const by = { user: maker, project: 'p', roles: new Set(['admin', 'member']), systemScope: false }
      return (await store.write(() => createWebhook({ settings, project: 'p', maker: by }, clock))).webhook
    }
    const delivery = (webhook: Webhook, message: string, due_at: number | null) =>
      rows.put('deliveries', {
        webhook_id: webhook.id,
        message,
        due_at,
        status: 'pending',
        subject: message,
        body: '{}',
      })
    const place = ({ id: webhook }: Webhook) => ({ webhook, owner: 'project p', lane: 'first' }) as const
    const shown = async (webhook: Webhook, message: string) =>
      (await store.read(() => lastDeliveries(webhook.id, 100))).find(one => one.message === message)!
    const drop = (id: number, webhook: Webhook) => store.write(() => dropDelivery(String(id), webhook.id, true, NOW))
    const entries = async () => (await store.script(run => run('select * from log'))).length

    void test('what has been due for longest is taken first, and nothing before its time', async () => {
      const webhook = await create()
      await delivery(webhook, 'late', NOW)
      await delivery(webhook, 'soon', NOW + 1)
      await delivery(webhook, 'first', NOW - 5)
      await delivery(webhook, 'never', null)
      const waiting = (await store.read(() => contenders(NOW))).find(one => one.webhook === webhook.id)
      assert.deepEqual([waiting?.due, waiting?.nextAt, waiting?.owner], [2, NOW - 5, 'project p'])
      const taken = async (now: number) =>
        (await store.write(() => take([place(webhook)], now))).map(({ message }) => message.id)
      assert.deepEqual(await taken(NOW), ['first'])
      assert.deepEqual(await taken(NOW), ['late'])
      assert.deepEqual(await taken(NOW), [])
      assert.deepEqual(await taken(NOW + 1), ['soon'])
    })

    void test('a delivery is dropped by its own webhook alone, once, and not when it is done', async () => {
      const [mine, theirs] = [await create(), await create()]
      const id = await delivery(theirs, 'theirs', NOW)
      await assert.rejects(() => drop(id, mine), /could not be found|no delivery|There is no/i)
      assert.equal((await shown(theirs, 'theirs')).status, 'pending')
      assert.equal((await drop(id, theirs)).status, 'dropped')
      await assert.rejects(() => drop(id, theirs))
    })

    void test('an answer counts as a failure only with an error, and only for who has it now', async () => {
      const webhook = await create()
      await delivery(webhook, 'm', NOW)
      const [taken] = await store.write(() => take([place(webhook)], NOW))
      const write = (of: Taken, error: string | null) =>
        store.write(() =>
          writeAnswer(
            of,
            { status: 500, ms: 3, text: 'x', error, retryAfterMs: null },
            { status: 'pending', due_at: NOW },
            NOW,
          ),
        )
      assert.equal(await write({ ...taken!, attempts: 7 }, 'late'), false)
      assert.equal((await shown(webhook, 'm')).failures, 0)
      assert.equal(await write(taken!, 'broken'), true)
      assert.deepEqual([(await shown(webhook, 'm')).failures, (await shown(webhook, 'm')).error], [1, 'broken'])
      const [again] = await store.write(() => take([place(webhook)], NOW))
      assert.equal(again?.failures, 1)
      assert.equal(await write(again, null), true)
      assert.equal((await shown(webhook, 'm')).failures, 1)
    })

    void test('whose maker keeps every role is left alone, others lose what they lost, and the last switches off', async () => {
      const webhook = await create('https://example.org/', 'narrow')
      const roles =
        (...some: string[]) =>
        (user: string) =>
          new Set(user === 'narrow' ? some : ['admin', 'member'])
      const found = () => store.read(() => findWebhook(webhook.uuid, ALL))
      const count = await entries()
      await store.write(() => narrowWebhooks(roles('member', 'admin'), NOW + 1))
      assert.equal((await found()).updated_at, null)
      assert.equal(await entries(), count)
      await store.write(() => narrowWebhooks(roles('member'), NOW + 2))
      assert.deepEqual([(await found()).maker_roles, (await found()).state], ['member', 'active'])
      await store.write(() => narrowWebhooks(roles(), NOW + 3))
      assert.deepEqual([(await found()).maker_roles, (await found()).state], ['', 'disabled'])
    })

    void test('one that writes mail goes on writing mail', async () => {
      const mail = await create('mailto:ops@example.org')
      const change = (of: Webhook, url: string) => store.write(() => changeWebhook(of.uuid, ALL, { url }, clock))
      await assert.rejects(() => change(mail, 'https://example.org/'), /writes mail stays one/)
      assert.equal((await change(mail, 'mailto:noc@example.org')).url, 'mailto:noc@example.org')
      assert.equal((await change(await create(), 'https://example.net/')).url, 'https://example.net/')
    })
  },
  ['sqlite'],
)
