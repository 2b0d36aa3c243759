// Clocks that jump by an hour, forth and back, under load: that of a machine with its SQLite, that of PostgreSQL, and those
// of processes on it.
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Baremetal, waitFor } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { migrateDatabase } from '../support/templates.ts'
import { buildLayer, type Layer, noLayer } from './layer.ts'
import { nothingIsLost } from './load.ts'
import { type FaultyProcess, startConducting, startServing } from './processes.ts'

const HOUR_MS = 3_600_000
const STAY_MS = 1_500
/** Where the clock that jumps is the one that counts, it must not reach them. */
const LATER = { from: 90, to: 150 }

/** Without a journal of files. */
const clockOf = ({ environment: { LD_PRELOAD = '', FAULTS_CONTROL = '' } }: Layer) => ({ LD_PRELOAD, FAULTS_CONTROL })

/** An hour ahead, back, an hour behind, and back. */
async function jump(layer: Layer): Promise<void> {
  for (const ahead of [HOUR_MS, 0, -HOUR_MS, 0]) {
    layer.set('clockAheadMs', ahead)
    await sleep(STAY_MS)
  }
}

describe('a clock that jumps by an hour, forth and back', { skip: noLayer }, () => {
  test('is that of a machine with SQLite', async t => {
    const layer = buildLayer()
    t.after(() => layer.remove())
    const database = `sqlite:${join(layer.folder, 'holdfast.db')}`
    const server = await startServing('serve', database, { environment: clockOf(layer) })
    t.after(() => server.end())
    await nothingIsLost(t, [server], () => jump(layer), LATER)
  })

  describe('on PostgreSQL', () => {
    let [server, mine]: (Layer | null)[] = [null, null]
    let postgres: Postgres
    let database = ''
    const processes: FaultyProcess[] = []
    const apis = () => processes.filter(({ origin }) => origin !== '')
    before(async () => {
      ;[server, mine] = [buildLayer(), buildLayer()]
      postgres = await startPostgres({ environment: clockOf(server) })
      database = await postgres.createDatabase('ledger')
      await migrateDatabase(database)
      processes.push(
        await startServing('serve', database, { environment: clockOf(mine), args: ['--conductor-name', 'one'] }),
      )
      processes.push(await startConducting(database, 'two'))
    })
    after(async () => {
      for (const one of processes) await one.end()
      await postgres?.stop()
      for (const layer of [server, mine]) layer?.remove()
    })

    test('is that of PostgreSQL', t => nothingIsLost(t, apis(), () => jump(server!), LATER))

    test('is that of a process', t => nothingIsLost(t, apis(), () => jump(mine!)))

    test('does not keep the work of a conductor that died before it from the others', async t => {
      const api = new Baremetal(apis()[0]!.origin)
      t.after(() => api.close())
      t.after(() => server!.set('clockAheadMs', 0))
      const slow = { driver_info: { fake_delay: { tearDown: 1, clean: 1 } } }
      const isWithTwo = ({ reservation }: { reservation: string | null }) => reservation === 'two'
      let nodes: string[] = []
      // The first conductor may be quicker with all of them: then there are new ones.
      for (let isTaken = false; !isTaken;) {
        nodes = await Promise.all(Array.from({ length: 8 }, () => api.node(slow, 'active')))
        for (const node of nodes) expectStatus(await api.provision(node, 'deleted'), 202)
        const seen = await waitFor('the second conductor has work, or none is left', async () => {
          const shown = await Promise.all(nodes.map(node => api.show(node)))
          const isOver = shown.every(({ provision_state: state }) => state === 'available')
          return (isOver || shown.some(isWithTwo)) && shown
        })
        isTaken = seen.some(isWithTwo)
      }
      await processes[1]!.kill9()
      server!.set('clockAheadMs', -HOUR_MS)
      for (const node of nodes) await api.until(node, 'available', 30_000)
      await processes[1]!.revive()
      await api.fsck()
    })
  })
})
