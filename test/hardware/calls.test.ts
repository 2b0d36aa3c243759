// Questions to machines between processes: an API without a conductor, conductors that die, conductors with other drivers.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { Baremetal, employConductor, expectFault, spawnConductor, waitFor } from '../support/baremetal.ts'
import type { Answer } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { migrated, type Server, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

const TAKE_OVER_MS = 2_000
const BOUND = ['--take-over-ms', String(TAKE_OVER_MS)]
/** Nobody is given up because this machine is busy. */
const PATIENT = { takeOverMs: 120_000 }
const HOUR = 3_600

eachDatabase(
  'calls between processes',
  ({ create }) => {
    describe('', () => {
      const api = new Baremetal()
      let database = ''
      let server: Server
      let store: Store
      before(async () => {
        database = await migrated(await create())
        server = await startServer(database, { takeOverMs: TAKE_OVER_MS }, 'api')
        api.origins = api.placement.origins = [server.origin]
        store = openStore(database)
      })
      after(async () => {
        api.close()
        await store.close()
        await server.stop()
      })

      const bootDevice = (node: string) => `/v1/nodes/${node}/management/boot_device`
      const rows = (sql: string) => store.script(run => run(sql))
      const until = (what: string, sql: string) => waitFor(what, async () => (await rows(sql)).length > 0)

      async function nodesMadeBy(...infos: object[]): Promise<string[]> {
        const conductor = await employConductor(database, 'maker', PATIENT)
        const made = await Promise.all(infos.map(driver_info => api.node({ driver_info })))
        await conductor.stop()
        return made
      }

      test('without a conductor nobody is asked, and the answer says so', async () => {
        const [node] = await nodesMadeBy({})
        expectFault(await api.get(bootDevice(node!)), 400, /No conductor service registered/)
        expectFault(await api.put(bootDevice(node!), { boot_device: 'disk' }), 400, /No conductor service registered/)
        const { power } = expectStatus(await api.get(`/v1/nodes/${node}/validate`), 200).body
        assert.match(power.reason, /No conductor service registered/)
        assert.deepEqual(await rows('select * from calls where answered_at is null'), [])
      })

      test('an API asks through the conductor of another process', async () => {
        const [node] = await nodesMadeBy({})
        const conductor = await employConductor(database, 'one', PATIENT)
        try {
          assert.equal((await api.get(bootDevice(node!))).body.boot_device, 'pxe')
          expectStatus(await api.put(bootDevice(node!), { boot_device: 'cdrom' }), 204)
          assert.equal((await api.get(bootDevice(node!))).body.boot_device, 'cdrom')
        } finally {
          await conductor.stop()
        }
        await api.fsck()
      })

      test('a conductor that dies while it asks: another one answers, once', async () => {
        const [read, set, nmi] = await nodesMadeBy(
          { fake_delay: { boot_device: HOUR } },
          { fake_delay: { set_boot_device: 1 } },
          { fake_delay: { inject_nmi: HOUR } },
        )
        const dying = await spawnConductor(database, 'dying', BOUND)
        const asked: Promise<Answer>[] = [
          api.get(bootDevice(read!)),
          api.put(bootDevice(set!), { boot_device: 'disk' }),
          api.put(`/v1/nodes/${nmi}/management/inject_nmi`, {}),
        ]
        await until('it has the question', 'select 1 from calls where answered_at is null and incarnation is not null')
        for (const node of [set, nmi]) {
          await until('it has the lock', `select 1 from nodes where uuid = '${node}' and lock_incarnation is not null`)
        }
        dying.child.kill('SIGKILL')
        await dying.exit
        expectStatus(await api.change(read!, 'driver_info', {}), 200)
        const other = await employConductor(database, 'other', { takeOverMs: TAKE_OVER_MS })
        try {
          const [reading, setting, interrupting] = await Promise.all(asked)
          assert.equal(expectStatus(reading!, 200).body.boot_device, 'pxe')
          expectStatus(setting!, 204)
          expectFault(interrupting!, 400, /died at "inject nmi"; nobody knows whether it was done/)
          assert.equal((await api.get(bootDevice(set!))).body.boot_device, 'disk')
          assert.deepEqual(await rows('select 1 from calls where answered_at is null'), [])
          for (const node of [read, set, nmi]) assert.equal((await api.show(node!)).reservation, null)
          await api.fsck()
        } finally {
          await other.stop()
        }
      })

      test('when all conductors are silent, whoever asks is told at once', async () => {
        const [node] = await nodesMadeBy({})
        const dying = await spawnConductor(database, 'silent', BOUND)
        dying.child.kill('SIGKILL')
        await dying.exit
        const silent = `select 1 from conductors where hostname = 'silent'
          and heartbeat_at < extract(epoch from clock_timestamp()) * 1000 - ${TAKE_OVER_MS}`
        await until('it counts as silent', silent)
        const answer = await api.get(bootDevice(node!))
        expectFault(answer, 503, /Conductor silent, which has driver fake-hardware, is not heard of/)
        await rows("update conductors set online = 0 where hostname = 'silent'")
      })

      test('each conductor takes only nodes whose driver it has', async () => {
        const driverInfo = { redfish_address: 'http://127.0.0.1:9' }
        const fake = await employConductor(database, 'fake', { ...PATIENT, enabledDrivers: 'fake-hardware' })
        const redfish = await employConductor(database, 'redfish', { ...PATIENT, enabledDrivers: 'redfish' })
        try {
          const hosts = async () =>
            Object.fromEntries(
              expectStatus(await api.get('/v1/drivers'), 200).body.drivers.map(
                (driver: { name: string; hosts: string[] }) => [driver.name, driver.hosts],
              ),
            )
          assert.deepEqual(await hosts(), { 'fake-hardware': ['fake'], redfish: ['redfish'] })
          const node = await api.node()
          const body = { driver: 'redfish', driver_info: driverInfo }
          const other = expectStatus(await api.post('/v1/nodes', body), 201).body.uuid
          assert.equal((await api.get(bootDevice(node))).body.boot_device, 'pxe')
          await api.go(node, 'manage', 'manageable')
          assert.equal((await api.show(node)).conductor, 'fake')

          await redfish.stop()
          assert.deepEqual(await hosts(), { 'fake-hardware': ['fake'] })
          expectFault(await api.get('/v1/drivers/redfish'), 404)
          expectFault(await api.post('/v1/nodes', body), 400, /No conductor service registered which supports driver/)
          expectFault(await api.provision(other, 'manage'), 400, /No conductor service registered/)
          const { power } = expectStatus(await api.get(`/v1/nodes/${other}/validate`), 200).body
          assert.match(power.reason, /No conductor service registered which supports driver redfish/)
          assert.equal((await api.show(other)).provision_state, 'enroll')
        } finally {
          await fake.stop()
        }
        await api.fsck()
      })
    })
  },
  ['postgres'],
)
