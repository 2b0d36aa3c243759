// A commit whose answer is lost on the wire: the client hears 503, but what the database kept must count all the same.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server as NetServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { expectStatus, Placement } from '../support/placement.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { type Server, startServer } from '../support/server.ts'
import { candidates, eventually, newClass, providersIn } from './questions.ts'

describe('a commit whose answer is lost', () => {
  const api = new Placement()
  const wire = { cutsNextCommit: false }
  let postgres: Awaited<ReturnType<typeof sharedPostgres>>
  let proxy: NetServer
  let server: Server

  before(async () => {
    postgres = await sharedPostgres()
    const database = new URL(await postgres.createDatabase())
    const socket = `${decodeURIComponent(database.hostname)}/.s.PGSQL.5432`
    proxy = createServer(near => {
      const far = connect(socket)
      let writes = false
      near.on('data', chunk => {
        // The statement that tells the others goes out together with the commit of every write.
        writes ||= chunk.includes('\0feed\0')
        far.write(chunk)
      })
      far.on('data', chunk => {
        if (wire.cutsNextCommit && writes && chunk.includes('COMMIT\0')) {
          wire.cutsNextCommit = false
          near.destroy()
          far.destroy()
        } else near.write(chunk)
        if (chunk.includes('COMMIT\0')) writes = false
      })
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        one.on('error', () => other.destroy())
        one.on('close', () => other.destroy())
      }
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { port } = proxy.address() as AddressInfo
    server = await startServer(`postgres://postgres@127.0.0.1:${port}${database.pathname}`)
    api.origins = [server.origin]
  })
  after(async () => {
    api.close()
    await server?.stop()
    proxy?.close()
    await postgres?.stop()
  })

  test('counts in the answers of the process that made it', async () => {
    const name = await newClass(api)
    for (let round = 0; round < 5; round++) {
      const provider = await api.provider({ [name]: 1 })
      const consumer = randomUUID()
      wire.cutsNextCommit = true
      const answer = await api.claim(consumer, { [provider]: { [name]: 1 } })
      expectStatus(answer, 503)
      assert.deepEqual(await api.claims(consumer), { [provider]: { [name]: 1 } }, 'the database kept it')
      await eventually(
        async () => providersIn(await candidates(api, `resources=${name}:1&in_tree=${provider}`)),
        found => found.length === 0,
      )
    }
  })
})
