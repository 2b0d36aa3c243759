// What fsck must see: promises about nodes that are broken in the database itself.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkInvariants } from '../../src/ledger/fsck.ts'
import { metalInvariants } from '../../src/metal/fsck.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { Baremetal } from '../support/baremetal.ts'
import { startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

eachDatabase('fsck', ({ create }) => {
  let store: Store
  let nodes: string[]

  // The server makes the nodes and goes: it would mend some of what is damaged here.
  before(async () => {
    const database = await create()
    const server = await startServer(database)
    const api = new Baremetal(server.origin)
    nodes = await api.nodes(2, { resource_class: 'damaged' })
    api.close()
    await server.stop()
    store = openStore(database)
  })
  after(() => store.close())

  const damage = (sql: string) => store.script(run => run(sql))
  const broken = async () =>
    (await store.read(() => checkInvariants(metalInvariants)))
      .filter(({ violations }) => violations > 0)
      .map(({ invariant }) => invariant)

  void test('sees a lock whose conductor is long gone though another could have taken over', async () => {
    const invariant = 'a lock is a conductor’s that is there, or was until a moment ago'
    const lock = (who: string) =>
      damage(`update nodes set power_state = 'power on', transition = '{"kind":"power","target":"power on","args":{}}',
        due_at = 0, reservation = '${who}', lock_incarnation = '${who}' where uuid = '${nodes[0]}'`)
    await lock('gone')
    // With nobody there nobody could.
    assert.deepEqual(await broken(), [])
    await damage('update conductors set online = 1')
    // Whoever is there has only just come, and may not have looked yet.
    assert.deepEqual(await broken(), [])
    await damage('update conductors set registered_at = 0')
    assert.deepEqual(await broken(), [invariant])
    await damage(`insert into conductors
      (hostname, incarnation, conductor_group, drivers, online, registered_at, heartbeat_at)
      select 'dead', 'dead', '', '[]', 0, 0, heartbeat_at from conductors`)
    await lock('dead')
    assert.deepEqual(await broken(), [])
    await damage(`update conductors set heartbeat_at = 0 where hostname = 'dead'`)
    assert.deepEqual(await broken(), [invariant])
    await damage(`update nodes set reservation = null, lock_incarnation = null, transition = null, due_at = null`)
    assert.deepEqual(await broken(), [])
  })
})
