// The oldest PostgreSQL that is promised does what the newest does.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { catalogueAt } from '../../scripts/catalogue.ts'
import { expectedOf } from '../../src/store/catalogue/expected.ts'
import { PostgresStore } from '../../src/store/postgres.ts'
import { clients } from '../races/clients.ts'
import { expectStatus, Placement } from '../support/placement.ts'
import { OLDEST, type Postgres, startPostgres } from '../support/postgres.ts'
import { type Server, startServer } from '../support/server.ts'
import { storeSuite } from './suite.ts'

describe('on the oldest PostgreSQL', { skip: OLDEST === null && 'npm has none for this machine' }, () => {
  let postgres: Postgres
  before(async () => {
    postgres = await startPostgres({ native: OLDEST!, settings: { deadlock_timeout: '50ms' } })
  })
  after(() => postgres?.stop())

  describe('the store', () => {
    storeSuite(async () => new PostgresStore(await postgres.createDatabase()))
  })

  test('the migrations make what they make on the newest', async () => {
    const made = await catalogueAt(await postgres.createDatabase())
    assert.deepEqual(made, expectedOf('postgres').parts)
  })

  describe('a server', () => {
    const api = new Placement()
    let server: Server
    before(async () => {
      server = await startServer(await postgres.createDatabase('served'))
      api.origins = [server.origin]
    })
    after(async () => {
      api.close()
      await server?.stop()
    })

    test('says that it is version 13, and that it takes writes', async () => {
      const store = new PostgresStore(postgres.url('served'))
      const [row] = await store.script(run => run('show server_version'))
      await store.close()
      assert.match(String(row!['server_version']), /^13\./)
      assert.equal((await fetch(`${server.origin}/readyz`)).status, 200)
    })

    test('grants claims at once up to what there is, and not one more', async () => {
      const provider = await api.provider({ VCPU: 20 })
      const answers: number[] = []
      await clients(8, async () => {
        for (let i = 0; i < 5; i++) {
          const { status } = await api.claim(crypto.randomUUID(), { [provider]: { VCPU: 1 } })
          answers.push(status)
        }
      })
      assert.deepEqual(
        [204, 409].map(status => answers.filter(one => one === status).length),
        [20, 20],
      )
      assert.deepEqual(await api.usages(provider), { VCPU: 20 })
      const found = expectStatus(await api.get('/allocation_candidates?resources=VCPU:1'), 200)
      assert.deepEqual(found.body.allocation_requests, [])
      await api.fsck()
    })
  })
})
