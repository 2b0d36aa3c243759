// holdfast webhook, from create to delete.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Receiver } from '../webhooks/receiver.ts'
import { atShell } from './person.ts'

atShell(
  'holdfast webhook',
  person => {
    const receiver = new Receiver()
    before(() => receiver.open())
    after(() => receiver.close())

    void test('is made, tried, changed, paused, resumed, given a new secret, and gone', async () => {
      const made = await person.readsJson(
        `webhook create ${receiver.url}/a --name ci --type allocation,lease.before_end`,
      )
      assert.deepEqual(made.types, ['allocation', 'lease.before_end'])
      assert.match(made.secret, /^whsec_/)
      assert.equal((await person.readsJson('webhook show ci')).secret, undefined)
      assert.equal(await person.reads('webhook list -f value -c name -c state'), 'ci active')
      assert.deepEqual((await person.readsJson('webhook test ci')).status, 204)
      assert.equal(receiver.at('/a')[0]!.event.type, 'holdfast.webhook.test')
      const changed = await person.readsJson(`webhook set ci --to ${receiver.url}/b --name cd --type lease --pause`)
      assert.deepEqual([changed.name, changed.types, changed.state], ['cd', ['lease'], 'paused'])
      assert.equal(await person.reads('webhook resume cd -f value -c state'), 'active')
      assert.notEqual(await person.reads('webhook secret cd -f value -c secret'), made.secret)
      assert.equal(await person.reads('webhook deliveries cd -f value -c id'), '')
      await person.isRefused('webhook drop cd 1', 3, /no pending delivery 1/)
      receiver.respond = response => void response.writeHead(500).end()
      await person.isRefused('webhook test cd', 1, /not delivered: it answered 500/)
      assert.equal(await person.reads('webhook delete cd'), 'cd is gone')
      await person.isRefused('webhook show cd', 3, /no webhook cd/)
    })

    void test('what is wrong is said', async () => {
      await person.isRefused('webhook create https://169.254.169.254/', 2, /is inside/)
      await person.isRefused(`webhook create ${receiver.url} --type pony`, 2, /no events of the type pony/)
      await person.reads(`webhook create ${receiver.url} --name twin`)
      await person.reads(`webhook create ${receiver.url} --name twin`)
      await person.isRefused('webhook set twin', 2, /say what is to change/)
      await person.isRefused('webhook delete twin', 4, /There are 2 webhooks twin; say the uuid/)
    })
  },
  { webhookAllow: '127.0.0.1' },
)
