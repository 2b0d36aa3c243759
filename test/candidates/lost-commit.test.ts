// A commit whose answer is lost on the wire: what the database kept counts, whatever the client could be told.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { append } from '../../src/store/log.ts'
import { expectStatus, Placement } from '../support/placement.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { type Proxy, startProxy } from '../support/proxy.ts'
import { type Server, startServer } from '../support/server.ts'
import { candidates, eventually, newClass, providersIn } from './questions.ts'

// The statement that writes the log goes out together with the commit of every claim.
const CLAIM = `\0h${append({ rows: [] }).compiled.postgres.id}\0`

describe('a commit whose answer is lost', () => {
  const api = new Placement()
  let postgres: Awaited<ReturnType<typeof sharedPostgres>>
  let proxy: Proxy
  let server: Server

  before(async () => {
    postgres = await sharedPostgres()
    proxy = await startProxy(await postgres.createDatabase())
    server = await startServer(proxy.url)
    api.origins = [server.origin]
  })
  after(async () => {
    api.close()
    await server?.stop()
    await proxy?.stop()
    await postgres?.stop()
  })

  const offered = async (name: string, provider: string) =>
    providersIn(await candidates(api, `resources=${name}:1&in_tree=${provider}`))

  test('is told as done, since another connection can say so', async () => {
    const name = await newClass(api)
    for (let round = 0; round < 5; round++) {
      const provider = await api.provider({ [name]: 1 })
      const consumer = randomUUID()
      const swallowed = proxy.swallowAnswerTo(CLAIM)
      expectStatus(await api.claim(consumer, { [provider]: { [name]: 1 } }), 204)
      await swallowed
      assert.deepEqual(await api.claims(consumer), { [provider]: { [name]: 1 } })
      assert.deepEqual(await offered(name, provider), [])
    }
    await api.fsck()
  })

  test('counts in the answers of the process that made it, also when nobody could say so', async () => {
    const name = await newClass(api)
    for (let round = 0; round < 3; round++) {
      const provider = await api.provider({ [name]: 1 })
      const consumer = randomUUID()
      const swallowed = proxy.swallowAnswerTo(CLAIM).then(() => proxy.refuse())
      expectStatus(await api.claim(consumer, { [provider]: { [name]: 1 } }), 503)
      await swallowed
      proxy.pass()
      assert.deepEqual(await api.claims(consumer), { [provider]: { [name]: 1 } }, 'the database kept it')
      await eventually(
        () => offered(name, provider),
        found => found.length === 0,
      )
    }
    await api.fsck()
  })
})
