// A commit whose answer is lost on the wire: what the database kept counts, whatever the client could be told.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { Client } from 'pg'
import { append } from '../../src/store/log.ts'
import { expectStatus, Placement } from '../support/placement.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { type Proxy, startProxy } from '../support/proxy.ts'
import { type Server, startServer } from '../support/server.ts'
import { candidates, eventually, newClass, providersIn } from './questions.ts'

// The statement that writes the log goes out together with the commit.
const LOG = `\0h${append({ rows: [] }).compiled.postgres.id}\0`

/** What a claim sends last, and how its answer ends. */
const WAYS = [
  { name: 'of a new consumer', asked: (consumer: string) => consumer, answer: 'SELECT 1\0' },
  { name: 'of a consumer that has claims', asked: () => LOG, answer: 'COMMIT\0' },
]

describe('a commit whose answer is lost', () => {
  const api = new Placement()
  let postgres: Awaited<ReturnType<typeof sharedPostgres>>
  let proxy: Proxy
  let server: Server

  before(async () => {
    postgres = await sharedPostgres()
    const url = await postgres.createDatabase()
    proxy = await startProxy(url)
    server = await startServer(proxy.url)
    await dawdle(url)
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

  for (const { name: whose, asked, answer } of WAYS) {
    /** A claim of all that a new provider has, whose answer will be lost. */
    async function losing() {
      const name = await newClass(api)
      const [provider, consumer] = [await api.provider({ [name]: 2 }), randomUUID()]
      const isNew = asked(consumer) === consumer
      if (!isNew) expectStatus(await api.claim(consumer, { [provider]: { [name]: 1 } }), 204)
      const swallowed = proxy.swallowAnswerTo(asked(consumer), { answer })
      const claim = () => api.claim(consumer, { [provider]: { [name]: 2 } }, isNew ? null : 1)
      return { name, provider, consumer, swallowed, claim }
    }

    test(`${whose} is told as done, since another connection can say so`, async () => {
      for (let round = 0; round < 5; round++) {
        const { name, provider, consumer, swallowed, claim } = await losing()
        expectStatus(await claim(), 204)
        await swallowed
        assert.deepEqual(await api.claims(consumer), { [provider]: { [name]: 2 } })
        assert.deepEqual(await offered(name, provider), [])
      }
      await api.fsck()
    })

    test(`${whose} counts in the answers of the process that made it, also when nobody could say so`, async () => {
      for (let round = 0; round < 3; round++) {
        const { name, provider, consumer, swallowed, claim } = await losing()
        const refused = swallowed.then(() => proxy.refuse())
        expectStatus(await claim(), 503)
        await refused
        proxy.pass()
        assert.deepEqual(await api.claims(consumer), { [provider]: { [name]: 2 } }, 'the database kept it')
        await eventually(
          () => offered(name, provider),
          found => found.length === 0,
        )
      }
      await api.fsck()
    })
  }
})

/** A call says its transaction's number before it writes. With a pause between, that isn't lost with the answer. */
async function dawdle(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(`
    create function dawdle() returns trigger language plpgsql as 'begin perform pg_sleep(0.1); return null; end';
    create trigger log_dawdles after insert on log execute function dawdle()`)
  await client.end()
}
