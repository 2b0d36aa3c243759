// A power cut under load on SQLite, at many moments: the disk has what was synced, and of the rest nothing, or any sectors.
// One run is recorded by the layer (layer.c); each cut is played from its journal, and a server is started on what is left.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../src/shared/limits.ts'
import { chance } from '../races/clients.ts'
import { rounds } from '../support/rounds.ts'
import { startServer } from '../support/server.ts'
import { buildLayer, type Layer, noLayer } from './layer.ts'
import { Load } from './load.ts'
import { afterCut, filesIn, type Journal, readJournal, type Unsynced } from './power-cut.ts'
import { startServing } from './processes.ts'

const CUTS = rounds(8, 60)
const SECOND_NS = 1_000_000_000n

describe('a power cut', { skip: noLayer }, () => {
  const disks = mkdtempSync(join(tmpdir(), 'holdfast-cut-'))
  let layer: Layer
  before(() => void (layer = buildLayer()))
  after(() => {
    layer?.remove()
    rmSync(disks, { recursive: true, force: true })
  })

  test(`loses nothing that was answered, at any of ${CUTS} moments`, async t => {
    const name = 'holdfast.db'
    const server = await startServing('serve', `sqlite:${join(layer.folder, name)}`, { environment: layer.environment })
    t.after(() => server.end())
    const load = await Load.on([server])
    t.after(() => load.close())
    const beganNs = process.hrtime.bigint()
    // Long enough for the log to be merged into the file while clients go on.
    await load.during(() => sleep(limits.walIdleCheckpointMs * 1.5))
    const endedNs = process.hrtime.bigint()
    await server.kill9()
    const journal = readJournal(layer.journal, new Map())
    expectMerging(journal, join(layer.folder, name), beganNs)
    const below = chance(11)
    for (let cut = 0; cut < CUTS; cut++) {
      const cutNs = beganNs + ((endedNs - beganNs) * BigInt(below(1_000_000))) / 1_000_000n
      const disk = join(disks, String(cut))
      mkdirSync(disk)
      const unsynced: Unsynced = cut % 3 === 0 ? 'lost' : below
      afterCut(journal, cutNs, unsynced, disk)
      const again = await startServer(`sqlite:${join(disk, name)}`, { testClock: true })
      try {
        load.at(again.origin)
        await load.expectKept(cutNs)
      } finally {
        await again.stop()
      }
    }
    t.diagnostic(`${CUTS} cuts; ${load.summary}`)
  })

  test('would be seen: a file that is not synced loses what was committed', () => {
    const [file, journal] = [join(layer.folder, 'careless.db'), join(disks, 'careless.journal')]
    const script = `
      const { DatabaseSync } = require('node:sqlite')
      const database = new DatabaseSync(process.argv[1])
      database.exec('pragma journal_mode = wal; pragma synchronous = ' + process.argv[2] + '; create table t (n)')
      for (let n = 0; n < 100; n++) database.exec('insert into t values (' + n + ')')
      process.kill(process.pid, 'SIGKILL')`
    const rows = (synchronous: 'off' | 'full') => {
      rmSync(journal, { force: true })
      for (const ending of ['', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true })
      const env = { ...process.env, ...layer.environment, FAULTS_JOURNAL: journal }
      spawnSync(process.execPath, ['-e', script, file, synchronous], { env })
      const disk = join(disks, synchronous)
      mkdirSync(disk)
      afterCut(readJournal(journal, new Map()), process.hrtime.bigint() + SECOND_NS, 'lost', disk)
      return filesIn(disk).has(join(disk, 'careless.db')) ? countIn(join(disk, 'careless.db')) : 0
    }
    assert.equal(rows('full'), 100)
    assert.equal(rows('off'), 0)
  })
})

/** The load must have met the dangerous moment, or nothing was tested: pages on their way from the log into the file. */
function expectMerging({ steps }: Journal, file: string, sinceNs: bigint): void {
  const later = steps.filter(({ atNs }) => atNs > sinceNs)
  assert.ok(
    later.some(step => step.file === file && step.kind === 'written'),
    'the log was never merged into the file',
  )
  assert.ok(
    later.some(step => step.file === `${file}-wal` && step.kind === 'synced'),
    'nothing was synced',
  )
}

function countIn(file: string): number {
  const database = new DatabaseSync(file)
  try {
    return Number(database.prepare('select count(*) as n from t').get()!['n'])
  } catch {
    return 0
  } finally {
    database.close()
  }
}
