// Disks that fail a server on SQLite, under load: slow, gone read-only, broken, and with a page that is damaged.
// What a full disk does is in test/full-disk.test.ts.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitFor } from '../support/baremetal.ts'
import { expectStatus, Placement } from '../support/placement.ts'
import { runHoldfast } from '../support/server.ts'
import { buildLayer, ERRNO, type Layer, noLayer } from './layer.ts'
import { nothingIsLost } from './load.ts'
import { type FaultyProcess, startServing } from './processes.ts'

const FAULT_MS = 3_000

describe('a disk', { skip: noLayer }, () => {
  let layer: Layer
  let server: FaultyProcess
  let file = ''
  before(async () => {
    layer = buildLayer()
    file = join(layer.folder, 'holdfast.db')
    server = await startServing('serve', `sqlite:${file}`, { environment: layer.environment })
  })
  // Nobody reads the journal here.
  beforeEach(() => rmSync(layer.journal, { force: true }))
  after(async () => {
    await server?.end()
    layer?.remove()
  })

  const ready = async () => (await fetch(`${server.origin}/readyz`)).status

  test('that takes 200 ms for each sync only takes longer', t =>
    nothingIsLost(t, [server], async () => {
      layer.set('syncDelayMs', 200)
      await sleep(FAULT_MS)
      layer.set('syncDelayMs', 0)
    }))

  for (const [name, errno] of [
    ['that went read-only', ERRNO.readOnly],
    ['whose writes fail', ERRNO.io],
  ] as const) {
    test(`${name} is 503 until it is well again`, t =>
      nothingIsLost(t, [server], async () => {
        layer.set('writeErrno', errno)
        await waitFor('it says so', async () => (await ready()) === 503)
        await sleep(FAULT_MS / 2)
        layer.set('writeErrno', 0)
      }))
  }

  test('with a page that is damaged is 503 where it is needed, and the rest is served', async () => {
    const api = new Placement(server.origin)
    const claims = { [await api.provider({ VCPU: 1 })]: { VCPU: 1 } }
    await server.end()
    const mended = damage(file, 'claims')
    await server.revive()
    const refused = expectStatus(await api.claim(randomUUID(), claims), 503)
    assert.match(JSON.stringify(refused.body), /the database file is damaged/)
    assert.match(String(refused.headers['retry-after']), /^\d+$/)
    expectStatus(await api.get('/resource_providers'), 200)
    const found = await runHoldfast(['fsck', '--database', `sqlite:${file}`]).exit
    assert.equal(found.code, 1)
    assert.match(found.stdout, /[1-9]\d* {2}the database file is whole/)
    await server.end()
    mended()
    await server.revive()
    expectStatus(await api.claim(randomUUID(), claims), 204)
    await api.fsck()
    api.close()
  })
})

/** Overwrites the first page of a table; the function that it answers puts it back. */
function damage(file: string, table: string): () => void {
  const database = new DatabaseSync(file)
  const { rootpage } = database.prepare('select rootpage from sqlite_master where name = ?').get(table)!
  const { page_size: size } = database.prepare('pragma page_size').get()!
  database.close()
  const at = (Number(rootpage) - 1) * Number(size)
  const good = readFileSync(file).subarray(at, at + Number(size))
  const write = (bytes: Buffer) => {
    const opened = openSync(file, 'r+')
    writeSync(opened, bytes, 0, bytes.length, at)
    closeSync(opened)
  }
  write(Buffer.alloc(Number(size), 0xff))
  return () => write(good)
}
