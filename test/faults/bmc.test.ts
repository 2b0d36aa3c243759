// BMCs that hang under load: everything else goes on, and their machines come to rest when they answer again.
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inParallel } from '../races/clients.ts'
import { Baremetal, waitFor } from '../support/baremetal.ts'
import { startBmc } from '../support/bmc.ts'
import { expectStatus } from '../support/placement.ts'
import { startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { nothingIsLost } from './load.ts'

const HANGING = 6
const HANG_MS = 3_000

eachDatabase('BMCs that hang', ({ create }) => {
  test('hold up nobody else, and their machines go on when they answer', async t => {
    const server = await startServer(await create(), { testClock: true })
    t.after(() => server.stop())
    const api = new Baremetal(server.origin)
    t.after(() => api.close())
    const bmcs = await inParallel(HANGING, HANGING, () => startBmc())
    t.after(() => Promise.all(bmcs.map(bmc => bmc.stop())))
    const nodes: string[] = []
    for (const bmc of bmcs)
      nodes.push(await api.node({ driver: 'redfish', driver_info: bmc.driverInfo() }, 'manageable'))
    await nothingIsLost(t, [server], async () => {
      for (const bmc of bmcs) bmc.fail({ kind: 'hang' })
      const power = (node: string) => api.put(`/v1/nodes/${node}/states/power`, { target: 'power on' })
      for (const [index, node] of nodes.entries()) {
        expectStatus(await (index % 2 ? power(node) : api.provision(node, 'provide')), 202)
      }
      await sleep(HANG_MS)
      for (const bmc of bmcs) bmc.heal()
    })
    for (const node of nodes) {
      await waitFor(`${node} is at rest`, async () => {
        const { provision_state: state, reservation, target_power_state: wanted } = await api.show(node)
        return ['manageable', 'available', 'clean failed'].includes(state) && reservation === null && wanted === null
      })
    }
    await api.fsck()
  })
})
