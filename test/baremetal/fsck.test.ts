// What fsck must see: promises about nodes that are broken in the database itself.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { checkEverything } from '../../src/measure/fsck.ts'
import { metalInvariants } from '../../src/metal/fsck.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { Baremetal } from '../support/baremetal.ts'
import { startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

eachDatabase('fsck', ({ create }) => {
  let store: Store
  let nodes: string[]
  let kept: string

  // The server makes the nodes and goes: it would mend some of what is damaged here.
  before(async () => {
    const database = await create()
    const server = await startServer(database)
    const api = new Baremetal(server.origin)
    nodes = await api.nodes(2, { resource_class: 'damaged' })
    kept = await api.node({ resource_class: 'damaged' }, 'available')
    api.close()
    await server.stop()
    store = openStore(database)
  })
  after(() => store.close())

  const damage = (sql: string) => store.script(run => run(sql))
  const broken = async () =>
    (await checkEverything(store))
      .filter(({ invariant, violations }) => violations > 0 && invariant in metalInvariants)
      .map(({ invariant }) => invariant)

  void test('sees questions to machines that nobody swept, and answers that are none', async () => {
    const swept = 'a question to a machine is gone soon after its time'
    const one = 'an answer is one answer, or one failure'
    await damage(`insert into calls (node_id, question, args, expires_at)
      select id, 'sensors', '{}', 0 from nodes where uuid = '${nodes[0]}'`)
    // With nobody there nobody could.
    assert.deepEqual(await broken(), [])
    await damage('update conductors set online = 1, registered_at = 0')
    assert.deepEqual(await broken(), [swept])
    await damage('update calls set answered_at = 1')
    assert.deepEqual(new Set(await broken()), new Set([swept, one]))
    await damage(`update calls set failure = 'x'`)
    assert.deepEqual(await broken(), [swept])
    await damage('delete from calls')
    await damage(`update conductors set online = 0, registered_at = heartbeat_at`)
    assert.deepEqual(await broken(), [])
  })

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

  void test('sees a retired node that can be had', async () => {
    const invariant = 'a node is blocked unless it is available, not in maintenance and not retired'
    await damage(`update nodes set retired = 1 where uuid = '${nodes[0]}'`)
    assert.deepEqual(await broken(), [invariant])
    await damage(`update nodes set retired = 0 where uuid = '${nodes[0]}'`)
    assert.deepEqual(await broken(), [])
  })

  void test('sees an instance that has two nodes, or has one while another is held for it', async () => {
    const invariant = 'an instance has one node, or one that is held for it'
    const [instance, hold] = [randomUUID(), randomUUID()]
    const claim = (node: string) => `insert into claims (consumer_id, provider_id, class_id, used, created_at)
      select k.id, i.provider_id, i.class_id, 1, 0 from consumers k, inventories i join nodes n
      on n.provider_id = i.provider_id where k.uuid = '${instance}' and n.uuid = '${node}'`
    await damage(`insert into consumers (uuid, project_id, user_id, type, generation, managed_by, created_at, updated_at)
      values ('${instance}', 'p', 'u', 'INSTANCE', 1, 'baremetal', 0, 0)`)
    await damage(claim(nodes[0]!))
    await damage(`update nodes set instance_uuid = '${instance}' where uuid = '${nodes[0]}'`)
    assert.deepEqual(await broken(), [])
    await damage(claim(nodes[1]!))
    assert.deepEqual(await broken(), [invariant])
    await damage(`delete from claims where provider_id = (select provider_id from nodes where uuid = '${nodes[1]}')`)
    await damage(`insert into consumers (uuid, project_id, user_id, type, generation, created_at, updated_at)
      values ('${hold}', 'p', 'u', 'RESERVATION', 1, 0, 0)`)
    await damage(`insert into reservations (uuid, node_id, instance_uuid, expires_at, created_at)
      select '${hold}', id, '${instance}', 1, 0 from nodes where uuid = '${nodes[1]}'`)
    assert.ok((await broken()).includes(invariant))
  })

  void test('sees a kept node that someone else has claimed, and a keeper without a proof', async () => {
    const [held, other] = [randomUUID(), randomUUID()]
    for (const uuid of [held, other]) {
      await damage(`insert into consumers (uuid, project_id, user_id, type, generation, managed_by, created_at, updated_at)
        values ('${uuid}', 'p', 'u', 'ALLOCATION', 1, 'baremetal', 0, 0)`)
    }
    const claim = (consumer: string) => `insert into claims (consumer_id, provider_id, class_id, used, created_at)
      select k.id, i.provider_id, i.class_id, 1, 0 from consumers k, inventories i join nodes n
      on n.provider_id = i.provider_id where k.uuid = '${consumer}' and n.uuid = '${kept}'`
    await damage(`update nodes set instance_uuid = '${held}' where uuid = '${kept}'`)
    await damage(`insert into allocations (uuid, node_id, resource_class, traits, candidate_nodes, extra, project_id, user_id,
        state, conductor_affinity, expires_at, created_at, keeper)
      select '${held}', id, 'damaged', '[]', '[]', '{}', 'p', 'u', 'active', '', 1, 0, 'alice/0123456789abcdef'
      from nodes where uuid = '${kept}'`)
    await damage(claim(held))
    const before = await broken()
    await damage(`update allocations set keeper = 'alice/' where uuid = '${held}'`)
    const isNew = async () => (await broken()).filter(invariant => !before.includes(invariant))
    assert.deepEqual(await isNew(), [
      'a keeper has a name, a proof and a time, and only a kept allocation is being ended by someone',
    ])
    await damage(`update allocations set keeper = 'alice/0123456789abcdef' where uuid = '${held}'`)
    assert.deepEqual(await isNew(), [])
    await damage(claim(other))
    assert.ok((await isNew()).includes('a kept allocation alone has claimed its node'))
  })
})
