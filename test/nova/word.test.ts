// The word of --compute changes while leases are there.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startNova } from '../support/nova.ts'
import { expectStatus } from '../support/placement.ts'
import { classOf, instances, Reservation } from '../support/reservation.ts'
import { type Server, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { soon } from './lab.ts'

eachDatabase('leases and the word of --compute', databases => {
  test('leases from before are brought to a Nova; what it has is compared when the word is nova again', async () => {
    const database = await databases.create()
    const nova = await startNova()
    // It believes all tokens.
    nova.holdfast.callerOf = token =>
      Promise.resolve({ token, user: 'u', project: 'p', roles: ['admin'], isAdmin: true })
    nova.holdfast.hasProject = () => Promise.resolve(true)
    const api = new Reservation()
    let server: Server | null = null
    const restart = async (compute: 'own' | 'nova') => {
      await server?.stop()
      server = await startServer(database, { compute, novaUrl: nova.url, testClock: true })
      api.at(server.origin)
    }
    try {
      await restart('own')
      await api.host('first')
      const [kept, ended] = [await api.lease([instances()]), await api.lease([instances()])]
      const [keptId, endedId] = [kept, ended].map(lease => lease.reservations[0].id) as [string, string]
      const used = await api.lease([instances()], { from: 0, to: 60 })
      await api.until(used.id, 'ACTIVE')
      assert.equal((await api.server(used.reservations[0].id)).status, 'ACTIVE')
      assert.equal(nova.flavors.size, 0)
      await restart('nova')
      await soon(() => {
        for (const id of [keptId, endedId]) assert.ok(nova.flavors.get(id)?.specs[`resources:${classOf(id)}`])
      })
      await soon(async () => {
        const { due } = expectStatus(await api.operate('GET', '/nova'), 200).body.nova
        assert.equal(due, 0)
      })
      // Nova knows nothing of a server of ours from before.
      await api.end(used.id)
      await soon(async () =>
        expectStatus(await api.placement.get(`/resource_classes/${classOf(used.reservations[0].id)}`), 404),
      )
      await restart('own')
      await api.end(ended.id)
      await api.fsck()
      assert.ok(nova.flavors.has(endedId))
      await restart('nova')
      await soon(() => assert.deepEqual([...nova.flavors.keys()], [keptId]))
      await api.fsck()
      await api.end(kept.id)
      await soon(() => assert.equal(nova.flavors.size, 0))
      await api.fsck()
    } finally {
      api.close()
      await (server as Server | null)?.stop()
      await nova.stop()
    }
  })
})
