// How many streams a process holds, and that they take no places of requests.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachLog, listen, noStreamsAt, page } from '../support/events.ts'

const LIMITS = { streamsMax: 4, requestShare: 25, requestsMax: 2 }

eachLog(
  'many streams',
  ({ origin }) => {
    test('are bounded in all and for each caller, and requests are answered beside them', async () => {
      const as = (user: string) => ({ 'x-auth-token': `${user}:lab` })
      const asked = (user: string) => page(origin(), '', { ...as(user), accept: 'text/event-stream' })
      const streams = [await listen(origin(), '', as('a')), await listen(origin(), '', as('a'))]
      const more = await asked('a')
      assert.deepEqual([more.status, more.headers.get('retry-after')], [429, '1'])
      for (const user of ['b', 'c']) streams.push(await listen(origin(), '', as(user)))
      const beyond = await asked('d')
      assert.deepEqual([beyond.status, beyond.headers.get('retry-after')], [503, '1'])
      assert.match(beyond.body.error.message, /too many streams/)
      const headers = { 'x-auth-token': 'admin' }
      assert.equal((await fetch(`${origin()}/baremetal/v1/nodes`, { headers })).status, 200)
      for (const stream of streams) stream.hangUp()
      await noStreamsAt(origin())
      const again = await listen(origin(), '', as('d'))
      again.hangUp()
    })
  },
  LIMITS,
  ['sqlite'],
)
