// A real PgBouncer before PostgreSQL, set up as docs/DEPLOYING.md says: it works in session mode, and is refused in any
// other.
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Client } from 'pg'
import { inParallel } from '../races/clients.ts'
import { waitFor } from '../support/baremetal.ts'
import { expectStatus, Placement } from '../support/placement.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { runHoldfast, spawnServer } from '../support/server.ts'
import { freePorts } from './patroni.ts'
import { snippet } from './snippets.ts'

const PGBOUNCER = '/usr/sbin/pgbouncer'
const lacking = existsSync(PGBOUNCER) && process.getuid?.() === 0 ? false : `there is no ${PGBOUNCER}, or no root`

describe('PgBouncer', { timeout: 300_000, skip: lacking }, () => {
  let postgres: Postgres
  let folder: string
  const running: ChildProcess[] = []
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-pgbouncer-'))
    execFileSync('chmod', ['777', folder])
    postgres = await startPostgres()
    const client = new Client({ connectionString: postgres.url('postgres') })
    await client.connect()
    await client.query('create role holdfast login')
    await client.query('create database holdfast owner holdfast template template0')
    await client.query(snippet('sql', '**A pooler**'))
    await client.end()
  })
  after(async () => {
    for (const child of running) child.kill('SIGKILL')
    await postgres?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** One in this mode, and the address of the database behind it. */
  async function pooling(mode: string): Promise<string> {
    const [port] = await freePorts(1)
    const config = join(folder, `${mode}.ini`)
    const { sockets } = postgres
    writeFileSync(join(folder, 'users.txt'), '"holdfast" ""\n')
    const lines = [
      '[databases]',
      `holdfast = host=${sockets} dbname=holdfast`,
      '[pgbouncer]',
      `listen_addr = 127.0.0.1`,
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${join(folder, 'users.txt')}`,
      `pool_mode = ${mode}`,
      snippet('ini', '**A pooler**'),
    ]
    writeFileSync(config, `${lines.join('\n')}\n`)
    const child = spawn(PGBOUNCER, ['--user', 'nobody', config], { stdio: 'ignore' })
    running.push(child)
    const url = `postgres://holdfast@127.0.0.1:${port}/holdfast`
    await waitFor('it answers', async () => {
      if (child.exitCode !== null) throw new Error(`pgbouncer exited with ${child.exitCode}`)
      const client = new Client({ connectionString: url })
      return client.connect().then(
        () => client.end().then(() => true),
        () => false,
      )
    })
    return url
  }

  test('in session mode works: nothing is lost, and no request fails', async () => {
    const url = await pooling('session')
    const server = await spawnServer(url)
    const api = new Placement(server.origin)
    try {
      const provider = await api.provider({ VCPU: 1_000 })
      await inParallel(16, 200, async () => {
        expectStatus(await api.claim(randomUUID(), { [provider]: { VCPU: 1 } }), 204)
      })
      assert.deepEqual(await api.usages(provider), { VCPU: 200 })
      await api.fsck()
    } finally {
      api.close()
      await server.stop()
    }
  })

  for (const mode of ['transaction', 'statement']) {
    test(`in ${mode} mode is refused in words`, async () => {
      const url = await pooling(mode)
      for (const args of [['migrate'], ['serve', '--port', '0', '--auth', 'none']]) {
        const { code, stderr } = await runHoldfast([...args, '--database', url]).exit
        assert.equal(code, 1, stderr)
        assert.match(stderr, /^holdfast: .*pooler.*session mode.*\n$/)
      }
    })
  }
})
