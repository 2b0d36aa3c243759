// Machines with a BMC between conductors: one is killed or paused in the middle of its work, and another goes on.
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { Baremetal, spawnConductor, waitFor } from '../support/baremetal.ts'
import { startBmc, type TestBmc } from '../support/bmc.ts'
import { expectStatus } from '../support/placement.ts'
import { migrated, type Server, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

const ISO = 'http://images.example/boot.iso'
const BOUND = ['--take-over-ms', '2000', '--power-sync-seconds', '0']
const LONG = 90_000

eachDatabase(
  'redfish between conductors',
  ({ create }) => {
    describe('', () => {
      const api = new Baremetal()
      const open: { stop(): Promise<unknown> }[] = []
      let database = ''
      let server: Server
      before(async () => {
        database = await migrated(await create())
        server = await startServer(database, { takeOverMs: 2_000 }, 'api')
        api.origins = api.placement.origins = [server.origin]
      })
      after(async () => {
        await api.fsck()
        api.close()
        await Promise.all(open.map(one => one.stop()))
        await server.stop()
      })

      async function available() {
        const bmc = await startBmc()
        open.push(bmc)
        const node = await api.node({ driver: 'redfish', driver_info: bmc.driverInfo() }, 'available')
        const patch = [{ op: 'add', path: '/instance_info', value: { boot_iso: ISO } }]
        expectStatus(await api.patch(`/v1/nodes/${node}`, patch), 200)
        bmc.requests.length = bmc.machine.resets.length = 0
        return { bmc, node, machine: bmc.machine }
      }
      const toPower = async (node: string, target: string) =>
        expectStatus(await api.put(`/v1/nodes/${node}/states/power`, { target }), 202)
      interface Held {
        asked: () => Promise<unknown>
        answer: () => void
      }
      /** The BMC keeps its next answer to this back. */
      function holding(bmc: TestBmc, method: string, path: RegExp): Held {
        const seen = () => bmc.requests.filter(request => request.method === method && path.test(request.path)).length
        const before = seen()
        const { promise, resolve } = Promise.withResolvers<void>()
        bmc.fail({ kind: 'slow', until: promise, method, path, times: 1 })
        return { asked: () => waitFor('the BMC is asked', async () => seen() > before, LONG), answer: resolve }
      }
      /** With a first conductor, and a second one when it is wanted. */
      async function between(work: (first: ChildProcess, second: () => Promise<ChildProcess>) => Promise<void>) {
        const all: ChildProcess[] = []
        const employ = async (name: string) => {
          const { child } = await spawnConductor(database, name, BOUND)
          all.push(child)
          return child
        }
        try {
          await work(await employ('first'), () => employ('second'))
        } finally {
          for (const child of all) child.kill('SIGKILL')
        }
      }

      test('what was found before a conductor died is known after it', () =>
        between(async (first, second) => {
          const { bmc, node, machine } = await available()
          machine.boot['BootSourceOverrideEnabled@Redfish.AllowableValues'] = ['Once', 'Disabled']
          bmc.fail({ kind: 'hang', method: 'POST', path: /Reset$/, times: 1 })
          expectStatus(await api.provision(node, 'active'), 202)
          await waitFor('it is told to go on', async () => bmc.seen('POST', 'Reset').length > 0, LONG)
          await second()
          first.kill('SIGKILL')
          const shown = await api.until(node, 'active', LONG)
          assert.equal(shown.driver_internal_info.redfish_boot_once, 'cdrom')
          assert.deepEqual(machine.resets, ['On'])
          assert.equal(bmc.seen('POST', 'InsertMedia').length, 1)
        }))

      test('a reboot is not done twice', () =>
        between(async (first, second) => {
          const { node, machine } = await available()
          machine.power = 'On'
          await toPower(node, 'rebooting')
          await waitFor('it is told to go on', async () => machine.resets.includes('On'), LONG)
          first.kill('SIGKILL')
          await second()
          await api.until(node, 'available', LONG)
          assert.deepEqual([machine.resets, machine.power], [['ForceOff', 'On'], 'On'])
        }))

      test('a conductor that was paused and given up touches the machine no more', () =>
        between(async (first, second) => {
          const { bmc, node, machine } = await available()
          const held = holding(bmc, 'GET', /Systems\/1$/)
          await toPower(node, 'power on')
          await held.asked()
          first.kill('SIGSTOP')
          const other = await second()
          await api.until(node, 'available', LONG)
          await toPower(node, 'power off')
          await api.until(node, 'available', LONG)
          // It reads that the machine is off, as it was when it was told to switch it on.
          held.answer()
          const isThere = async () => (await api.get('/v1/conductors/first')).body.alive === true
          assert.ok(!(await isThere()))
          first.kill('SIGCONT')
          await waitFor('it is back', isThere, LONG)
          // It takes this node again only when it is done with its old task.
          other.kill('SIGKILL')
          await toPower(node, 'power off')
          await api.until(node, 'available', LONG)
          assert.deepEqual(machine.resets, ['On', 'ForceOff'])
        }))

      test('a machine that goes on by itself during a deployment boots what it was given', () =>
        between(async () => {
          const { bmc, node, machine } = await available()
          const held = holding(bmc, 'POST', /InsertMedia$/)
          expectStatus(await api.provision(node, 'active'), 202)
          await held.asked()
          machine.reset('On')
          held.answer()
          await api.until(node, 'active', LONG)
          assert.deepEqual(machine.boots.at(-1), { target: 'Cd', image: ISO, httpBootUri: null })
          assert.deepEqual(machine.resets, ['On', 'ForceOff', 'On'])
        }))
    })
  },
  ['postgres'],
)
