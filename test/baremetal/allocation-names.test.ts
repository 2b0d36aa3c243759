// Names of allocations that were taken before names were checked: they can be read and used, and nothing hides them.
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { Baremetal, expectFault, NEWEST, newClass, uuid } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'
import { startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

eachDatabase(
  'old names of allocations',
  databases => {
    const api = new Baremetal()
    let stop: () => Promise<void>
    let file = ''
    before(async () => {
      const address = await databases.create()
      file = address.slice('sqlite:'.length)
      const server = await startServer(address)
      api.origins = api.placement.origins = [server.origin]
      stop = () => server.stop()
    })
    after(async () => {
      api.close()
      await stop()
    })

    /** An allocation with a name that the API refuses today. */
    async function named(name: string): Promise<string> {
      const { uuid: id } = await api.refused({ resource_class: newClass() })
      const database = new DatabaseSync(file)
      database.prepare('update allocations set name = ? where uuid = ?').run(name, id)
      database.close()
      return id
    }
    const patched = (ident: string, path: string, value: unknown) =>
      api.patch(`/v1/allocations/${ident}`, [{ op: 'add', path, value }], NEWEST)

    void test('are found, changed and deleted', async () => {
      const name = uuid()
      const id = await named(name)
      assert.equal((await api.allocation(name)).uuid, id)
      assert.equal(expectStatus(await patched(name, '/extra/a', 1), 200).body.name, name)
      expectFault(await patched(name, '/name', uuid()), 400)
      assert.equal(expectStatus(await patched(name, '/name', 'a-good-name'), 200).body.name, 'a-good-name')
      expectStatus(await api.del('/v1/allocations/a-good-name'), 204)
    })

    void test('are nobody else’s uuid', async () => {
      const name = uuid()
      const id = await named(name)
      const wanted = { resource_class: newClass(), uuid: name }
      expectFault(await api.post('/v1/allocations', wanted, NEWEST), 409, new RegExp(`name ${name} already exists`))
      assert.equal((await api.allocation(name)).uuid, id)
    })
  },
  ['sqlite'],
)
