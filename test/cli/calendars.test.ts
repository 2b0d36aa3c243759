// holdfast calendar.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as ask } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { connect } from '../../src/client/index.ts'
import { fetched, shownAt } from '../calendars/program.ts'
import { atLogin, atShell, Person } from './person.ts'

atShell('holdfast calendar', person => {
  test('a calendar is made, subscribed to, listed and deleted', async () => {
    await person.node('c1', 'gpu')
    await person.reads('allocation create --resource-class gpu --name job-17 --expires-at 2h --wait')
    const made = await person.readsJson('calendar create --node c1')
    assert.deepEqual(
      (await shownAt(made.url)).map(({ summary }) => summary),
      ['job-17: c1'],
    )
    const own = await person.readsJson('calendar create')
    assert.deepEqual(
      (await shownAt(own.url)).map(({ summary }) => summary),
      ['job-17: c1'],
    )
    const listed = await person.readsJson('calendar list')
    assert.deepEqual(
      listed.map(({ id }: { id: string }) => id),
      [made.id, own.id],
    )
    assert.ok(!JSON.stringify(listed).includes('.ics'))
    assert.equal(await person.reads(`calendar delete ${made.id}`), `${made.id} is gone`)
    assert.equal((await fetched(made.url)).status, 404)
    await person.isRefused(`calendar delete ${made.id} ${own.id}`, 3, /could not be found/)
    assert.equal((await fetched(own.url)).status, 404)
  })

  test('the URL can be copied from any terminal', async () => {
    const { stdout } = await person.looksAt('calendar create', 60)
    const url = stdout
      .split('\n')
      .find(line => line.includes('.ics'))!
      .trim()
    assert.match(url, /http:\S+\.ics$/)
  })

  test('it is of one thing, and says which project it can not know', async () => {
    await person.isRefused('calendar create --node c1 --user me', 2, /cannot be used with/)
    await person.isRefused('calendar create --project', 2, /say which project/)
    await person.isRefused('calendar create --node nobody', 3, /could not be found/)
  })
})

atShell('the URL of a calendar', person => {
  test('begins as the client reaches the server, also through a proxy that calls it by another name', async () => {
    const proxy = createServer((given, answer) => {
      const headers = { ...given.headers, host: 'localhost' }
      const onward = ask(`${person.origin}${given.url}`, { method: given.method!, headers }, answered => {
        answer.writeHead(answered.statusCode!, answered.headers)
        answered.pipe(answer)
      })
      given.pipe(onward)
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    try {
      const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
      const { calendars } = await connect({ url, env: {} })
      const made = await calendars.create()
      assert.ok(made.url.startsWith(`${url}/holdfast/v1/calendar/`), made.url)
      await shownAt(made.url)
    } finally {
      proxy.closeAllConnections()
      proxy.close()
    }
  })
})

atLogin('holdfast calendar and who is logged in', ({ api }) => {
  const person = new Person(() => api.origin)
  const as = (name: string) => ({ OS_USERNAME: name, OS_PASSWORD: `${name}-pw`, OS_PROJECT_NAME: 'lab' })

  test('without a name it is of the user, or of the project, that is logged in', async () => {
    const names: Record<string, RegExp> = {
      'calendar create -f value -c url': /^X-WR-CALNAME:Holdfast: user bob\r$/m,
      'calendar create --project -f value -c url': /^X-WR-CALNAME:Holdfast: project lab\r$/m,
    }
    for (const [line, name] of Object.entries(names)) {
      const { code, stdout, stderr } = await person.types(line, as('bob'))
      assert.equal(code, 0, stderr)
      assert.match((await fetched(stdout.trim())).text, name)
    }
    const { code, stderr } = await person.types('calendar create', as('carol'))
    assert.equal(code, 5)
    assert.match(stderr, /holdfast:calendars:create/)
  })
})
