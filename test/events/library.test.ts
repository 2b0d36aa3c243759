// The library's events(), wait() and cursor(): they come back, go on where they were, and say when something was missed.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { connect, EventsGone, holdfastAt } from '../../src/client/index.ts'
import { recordAll } from '../../src/audit/record.ts'
import { rotateSigningKeys } from '../../src/identity/signing-keys.ts'
import { openStore } from '../../src/store/open.ts'
import { allocation, eachLog, entryOf, noStreamsAt, streamsAt } from '../support/events.ts'
import { eachIdentity, until } from '../support/identity.ts'
import { startProxy } from '../support/proxy.ts'

const at = (origin: string) =>
  holdfastAt({ url: origin, headers: { 'x-auth-token': 'admin' }, user: null, project: null, who: null })

eachLog('the library', ({ origin, tell, forget }) => {
  test('hears events as they happen, of the kinds and objects that it asks for', async () => {
    const server = at(origin())
    const after = await server.cursor()
    const id = randomUUID()
    await tell(allocation(id, 'created'), allocation(randomUUID(), 'active'), allocation(id, 'active'))
    const heard: string[] = []
    for await (const event of server.events({ after, kinds: ['allocation'], objects: [id] })) {
      heard.push(event.type)
      if (heard.length === 2) break
    }
    assert.deepEqual(heard, ['holdfast.allocation.created', 'holdfast.allocation.active'])
    // Whoever wants no more has hung up.
    assert.equal(
      await until(
        () => streamsAt(origin()),
        count => count === 0,
      ),
      0,
    )
  })

  test('waits until an object has become something, or the time is over, or it is told to stop', async () => {
    const server = at(origin())
    const id = randomUUID()
    const ended = server.wait({ object: `allocation/${id}`, became: ['ending', 'ended'] })
    await until(
      () => streamsAt(origin()),
      count => count === 1,
    )
    await tell(allocation(id, 'active'))
    await tell(allocation(id, 'ending', 'lab', { until: 'soon' }))
    assert.equal((await ended)?.data['until'], 'soon')
    assert.equal(await server.wait({ object: id, became: ['ended'], timeoutMs: 50 }), null)
    const stop = new AbortController()
    const stopped = server.wait({ object: id, became: ['ended'], signal: stop.signal })
    stop.abort()
    await assert.rejects(stopped, { name: 'AbortError' })
  })

  test('comes back after the connection was cut, and misses nothing', async () => {
    const proxy = await startProxy(origin())
    const server = at(proxy.url.replace(/\/$/, ''))
    const ids = Array.from({ length: 6 }, () => randomUUID())
    const after = await server.cursor()
    const heard: string[] = []
    const listening = (async () => {
      for await (const { subject } of server.events({ after, kinds: ['allocation'] })) {
        heard.push(subject.split('/')[1]!)
        if (heard.length === ids.length) return
      }
    })()
    for (const [i, id] of ids.entries()) {
      await tell(allocation(id, 'created'))
      if (i % 2 === 0) {
        await until(
          async () => heard.length,
          count => count > i,
        )
        proxy.cut()
      }
    }
    await listening
    assert.deepEqual(heard, ids)
    await proxy.stop()
  })

  test('fails at once when there is no server, or when it refuses', async () => {
    const first = (server: ReturnType<typeof at>, kinds?: string[]) => server.events({ kinds }).next()
    await assert.rejects(first(at('http://127.0.0.1:1')), /no answer/)
    await assert.rejects(first(at(origin()), ['machine']), { status: 400 })
  })

  test('says when something was missed, or begins afresh if it may', async () => {
    const server = at(origin())
    await tell(allocation('gone', 'created'))
    await forget()
    await tell(allocation('kept', 'created'))
    await assert.rejects(server.events({ after: '1' }).next(), (error: unknown) => {
      assert.ok(error instanceof EventsGone)
      assert.ok(Number(error.oldest) > 1)
      return true
    })
    const afresh = server.events({ after: '1', beginAfresh: true, objects: ['kept'] })
    assert.equal((await afresh.next()).value?.subject, 'allocation/kept')
    await afresh.return()
  })
})

eachIdentity('the library of someone who is known', ({ api, database }) => {
  test('logs in again when its token has ended', async t => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const env = { OS_AUTH_URL: `${api.origin}/identity/v3`, OS_USERNAME: 'alice', OS_PASSWORD: 'alice-pw' }
    const server = await connect({ url: api.origin, env: { ...env, OS_PROJECT_NAME: 'lab' } })
    const events = server.events({ after: await server.cursor(), objects: ['a', 'b'] })
    const tell = async (id: string) => {
      const store = openStore(database())
      await store.write(() => recordAll([entryOf([allocation(id, 'created')])]))
      await store.close()
    }
    await tell('a')
    assert.equal((await events.next()).value?.subject, 'allocation/a')
    const next = events.next()
    // Everyone's tokens end with the key that signed them.
    const store = openStore(database())
    await store.write(() =>
      rotateSigningKeys({ fresh: randomBytes(32), now: Date.now(), lifeMs: 1_000, forgetAll: true }),
    )
    await store.close()
    await until(
      async () => {
        t.mock.timers.tick(15_000)
        return streamsAt(api.origin)
      },
      count => count === 0,
    )
    await tell('b')
    assert.equal((await next).value?.subject, 'allocation/b')
    await events.return()
    await noStreamsAt(api.origin)
  })
})
