// GET /holdfast/v1/events as a stream: its form, where it begins, who hears what, and how it ends.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { allocation, CALLER, eachLog, listen, noStreamsAt, page, streamsAt } from '../support/events.ts'
import { until } from '../support/identity.ts'
import { startServer } from '../support/server.ts'

eachLog('a stream of events', ({ origin, tell, another, kind, databases }) => {
  test('tells in the form of server-sent events, each as a CloudEvent, and says where it is', async () => {
    const stream = await listen(origin())
    const { headers } = stream.response
    assert.equal(headers.get('content-type'), 'text/event-stream')
    assert.equal(headers.get('cache-control'), 'no-cache, no-transform')
    assert.equal(headers.get('x-accel-buffering'), 'no')
    assert.equal(stream.parser.retryMs, 2_000)
    const id = randomUUID()
    await tell(allocation(id, 'created', 'lab', { text: 'two\nlines, ü, \u2028' }), allocation(id, 'active'))
    const [first, second] = await stream.events(2)
    const { sequence } = first!.data
    assert.deepEqual([first!.id, second!.id], [sequence, `${sequence}.1`])
    assert.equal(first!.type, 'holdfast.allocation.created')
    assert.deepEqual(first!.data, {
      specversion: '1.0',
      id: first!.id,
      source: '/holdfast',
      type: 'holdfast.allocation.created',
      subject: `allocation/${id}`,
      time: '2030-01-01T00:00:00.000Z',
      datacontenttype: 'application/json',
      sequence,
      projectid: 'lab',
      data: {
        name: id,
        text: 'two\nlines, ü, \u2028',
        by: { user: 'alice', project: 'lab', request: first!.data.data.by.request },
      },
    })
    stream.hangUp()
  })

  test('HEAD is answered at once, and takes no place', async () => {
    const signal = AbortSignal.timeout(30_000)
    const headers = { accept: 'text/event-stream', ...CALLER }
    const response = await fetch(`${origin()}/holdfast/v1/events`, { method: 'HEAD', headers, signal })
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'text/event-stream'])
    await noStreamsAt(origin())
  })

  test('begins now, and goes on after the id that a client brings back', async () => {
    const ids = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
    await tell(allocation(ids[0]!, 'created'))
    const first = await listen(origin())
    await tell(allocation(ids[1]!, 'created'), allocation(ids[1]!, 'active'))
    const [heard] = await first.events(1)
    first.hangUp()
    assert.equal(heard!.data.subject, `allocation/${ids[1]}`)
    await tell(allocation(ids[2]!, 'created'))
    // The header wins: a browser repeats the URL of its first time.
    const again = await listen(origin(), '?after=0', { ...CALLER, 'last-event-id': heard!.id })
    await tell(allocation(ids[3]!, 'created'))
    const events = await again.events(3)
    assert.deepEqual(
      events.map(({ data }) => data.subject),
      [1, 2, 3].map(i => `allocation/${ids[i]}`),
    )
    again.hangUp()
  })

  test('whoever hears nothing at all comes back to where it was', async () => {
    const stream = await listen(origin(), '?kind=webhook')
    const { lastEventId } = stream.parser
    stream.hangUp()
    const id = randomUUID()
    await tell(allocation(id, 'created'))
    const again = await listen(origin(), '', { ...CALLER, 'last-event-id': lastEventId })
    assert.equal((await again.events(1))[0]!.data.subject, `allocation/${id}`)
    again.hangUp()
  })

  test('what one process commits is heard in another', { skip: kind === 'sqlite' }, async () => {
    const streams = [await listen(origin()), await listen((await another()).origin)]
    const id = randomUUID()
    await tell(allocation(id, 'active'))
    for (const stream of streams) {
      assert.equal((await stream.events(1))[0]!.data.subject, `allocation/${id}`)
      stream.hangUp()
    }
  })

  test('ends with a word and a time to come back when the service stops', async () => {
    const server = await startServer(await databases.create())
    const stream = await listen(server.origin)
    const waiting = page(server.origin, '?wait=50s&kind=webhook')
    // Once this is answered, the poll before it waits.
    await until(
      async () => streamsAt(server.origin),
      count => count === 2,
    )
    const stopped = server.stop()
    const { comments, retryMs } = await stream.end()
    assert.deepEqual(comments, ['the service is stopping; come back'])
    assert.equal(retryMs, 2_000)
    assert.equal((await waiting).body.events.length, 0)
    await stopped
  })

  test('says now and then that it lives, and where it is', async t => {
    await noStreamsAt(origin())
    t.mock.timers.enable({ apis: ['setInterval'] })
    const stream = await listen(origin(), '?kind=webhook')
    const before = stream.parser.lastEventId
    await tell(allocation(randomUUID(), 'created'))
    const { comments, events } = await stream.until(({ lastEventId }) => {
      t.mock.timers.tick(15_000)
      return lastEventId !== before
    }, 'a sign of life')
    assert.equal(comments[0], 'still here')
    assert.deepEqual(events, [])
    stream.hangUp()
    await noStreamsAt(origin())
  })

  test(
    'a reader that takes nothing is told so and dropped, and keeps no other from hearing',
    { skip: kind === 'postgres' },
    async t => {
      // Those of the tests before are gone.
      await noStreamsAt(origin())
      t.mock.timers.enable({ apis: ['setInterval'] })
      const { hostname, port } = new URL(origin())
      const socket = connect(Number(port), hostname)
      let heard = ''
      socket.setEncoding('utf8').pause()
      socket.write(
        'GET /holdfast/v1/events HTTP/1.1\r\nhost: localhost\r\nx-auth-token: admin\r\naccept: text/event-stream\r\n\r\n',
      )
      await until(
        async () => streamsAt(origin()),
        count => count === 1,
      )
      const stream = await listen(origin())
      // More than the system keeps for a connection.
      for (let i = 0; i < 45; i++)
        await tell(allocation(randomUUID(), 'active', 'lab', { text: 'x'.repeat(1_000_000) }))
      assert.equal((await stream.events(45)).length, 45)
      const read = until(
        async () => {
          t.mock.timers.tick(15_000)
          return streamsAt(origin())
        },
        count => count === 1,
      )
      assert.equal(await read, 1)
      socket.on('data', text => (heard += text)).resume()
      await once(socket, 'close')
      assert.ok(heard.split('event: holdfast.').length < 45)
      stream.hangUp()
      await noStreamsAt(origin())
    },
  )
})
