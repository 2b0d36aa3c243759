// A disk that is full: what can't be written is 503, what can be read is read, and with room the service goes on by itself.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { limits } from '../src/shared/limits.ts'
import { clients } from './races/clients.ts'
import { Baremetal } from './support/baremetal.ts'
import { expectStatus, Placement } from './support/placement.ts'
import { runHoldfast, type ServerProcess, spawnServer } from './support/server.ts'

const CLIENTS = 8
const PATIENCE_MS = 30_000
const TEST_TIMEOUT_MS = 90_000
const BIN = fileURLToPath(new URL('../bin/holdfast', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'holdfast-full-'))
const disk = join(folder, 'disk')
const crashed = join(folder, 'crashed')

/** A small disk of its own can really be full, but only root may mount one; no process may be kept from limiting its children. */
const ways = [
  {
    name: 'a disk',
    missing: mountDisk(disk),
    file: join(disk, 'holdfast.db'),
    // Once it is quiet the log gives its room back, and there is some.
    isStill: false,
    fill: () => fillDisk(disk),
    free: () => freeDisk(disk),
  },
  {
    name: 'a quota',
    missing: null,
    file: join(folder, 'holdfast.db'),
    isStill: true,
    fill: ({ pid }: ServerProcess) => execFileSync('prlimit', ['--pid', String(pid), '--fsize=0:']),
    free: ({ pid }: ServerProcess) => execFileSync('prlimit', ['--pid', String(pid), '--fsize=unlimited:']),
  },
]

const noSecond = mountDisk(crashed)

after(() => {
  if (ways[0]!.missing === null) execFileSync('umount', ['--lazy', disk])
  if (noSecond === null) execFileSync('umount', ['--lazy', crashed])
  rmSync(folder, { recursive: true, force: true })
})

describe('a server on SQLite', { concurrency: true }, () => {
  for (const { name, missing, file, isStill, fill, free } of ways) {
    test(
      `outlives ${name} that is full, and loses nothing`,
      { skip: missing ?? false, timeout: TEST_TIMEOUT_MS },
      async t => {
        const server = await spawnServer(`sqlite:${file}`, ['--fake-delay-ms', '300'])
        t.after(() => server.kill9())
        const [api, metal] = [new Placement(server.origin), new Baremetal(server.origin)]
        const provider = await api.provider({ VCPU: 1_000_000 })
        const nodes = await clients(3, () => metal.node({}, 'manageable'))
        const seen = { granted: [] as string[], refused: 0 }
        const over = new AbortController()
        const load = clients(CLIENTS, () => claimWhile(over.signal, api, provider, seen))
        try {
          await eventually(() => seen.granted.length > 100)
          for (const node of nodes) expectStatus(await metal.provision(node, 'provide'), 202)
          fill(server)
          await eventually(async () => seen.refused > 0 && (await ready(server)) === 503)
        } finally {
          over.abort()
        }
        await load
        t.diagnostic(`${seen.granted.length} claims granted, ${seen.refused} refused`)
        // Longer than the log is left alone after a commit.
        await sleep(limits.walIdleCheckpointMs * 1.25)
        expectStatus(await api.get(`/resource_providers/${provider}/inventories`), 200)
        if (isStill) assert.equal(await ready(server), 503)
        free(server)
        await eventually(async () => (await ready(server)) === 200)
        const last = randomUUID()
        expectStatus(await api.claim(last, { [provider]: { VCPU: 1 } }), 204)
        for (const node of nodes) await metal.until(node, 'available', PATIENCE_MS)
        const { allocations } = (await api.get(`/resource_providers/${provider}/allocations`)).body
        assert.deepEqual(Object.keys(allocations).sort(), [...seen.granted, last].sort())
        await api.fsck()
        api.close()
        metal.close()
        const { code, stderr } = await server.terminate()
        assert.equal(code, 0, stderr)
        const { code: found, stdout } = await runHoldfast(['fsck', '--database', `sqlite:${file}`]).exit
        assert.equal(found, 0, stdout)
      },
    )
  }

  test(
    'that was killed on a full disk starts again: it answers reads, and all work begins once there is room',
    {
      skip: noSecond ?? false,
      timeout: TEST_TIMEOUT_MS,
    },
    async t => {
      const database = `sqlite:${join(crashed, 'holdfast.db')}`
      const first = await spawnServer(database)
      t.after(() => first.kill9())
      const api = new Placement(first.origin)
      t.after(() => api.close())
      const provider = await api.provider({ VCPU: 1_000_000 })
      const over = new AbortController()
      const seen = { granted: [] as string[], refused: 0 }
      const load = claimWhile(over.signal, api, provider, seen).catch(() => {})
      fillDisk(crashed)
      // Not one page more fits into the log, and it has not yet given its room back.
      await eventually(async () => seen.refused > 0 && (await ready(first)) === 503)
      await first.kill9()
      over.abort()
      await load

      const second = await spawnServer(database)
      t.after(() => second.kill9())
      api.origins = [second.origin]
      const { allocations } = (await api.get(`/resource_providers/${provider}/allocations`)).body
      const found = Object.keys(allocations)
      assert.deepEqual(
        seen.granted.filter(consumer => !found.includes(consumer)),
        [],
      )
      assert.equal(await ready(second), 503)
      freeDisk(crashed)
      await eventually(async () => (await ready(second)) === 200)
      const metal = new Baremetal(second.origin)
      t.after(() => metal.close())
      const node = await metal.node({}, 'enroll')
      await eventually(async () => (await metal.provision(node, 'manage')).status === 202)
      await metal.until(node, 'manageable', PATIENCE_MS)
      await api.fsck()
    },
  )

  test('says in one line that it can not write when it is started on a full disk', async () => {
    const file = join(folder, 'new.db')
    const command = ['ulimit -f 0; exec "$@"', 'sh', BIN, 'serve', '--port', '0', '--database', `sqlite:${file}`]
    const child = spawn('sh', ['-c', ...command], { stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', text => (said += text))
    const [code] = await once(child, 'close')
    assert.notEqual(code, 0)
    assert.match(said, /^holdfast: .*\n$/)
  })

  test('goes on when its log can not be written', async () => {
    const full = openSync('/dev/full', 'w')
    const { href } = new URL('../src/measure/log.ts', import.meta.url)
    const script = `const { createLog } = await import('${href}')
      const log = createLog('info')
      for (let i = 0; i < 10_000; i++) log.info({ i, text: 'x'.repeat(1_000) })
      process.stdout.write('alive')`
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', full] })
    let said = ''
    child.stdout!.setEncoding('utf8').on('data', text => (said += text))
    const [code] = await once(child, 'close')
    closeSync(full)
    assert.deepEqual({ code, said }, { code: 0, said: 'alive' })
  })
})

async function claimWhile(
  over: AbortSignal,
  api: Placement,
  provider: string,
  seen: { granted: string[]; refused: number },
): Promise<void> {
  while (!over.aborted) {
    const consumer = randomUUID()
    const answer = expectStatus(await api.claim(consumer, { [provider]: { VCPU: 1 } }), 204, 503)
    if (answer.status === 204) {
      seen.granted.push(consumer)
      continue
    }
    seen.refused++
    assert.equal(answer.headers['retry-after'], '1')
    await sleep(20)
  }
}

async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, `never happened: ${isSo.toString()}`)
    await sleep(20)
  }
}

const freeDisk = (disk: string) => rmSync(join(disk, 'filler'))

const ready = async ({ origin }: ServerProcess) => (await fetch(`${origin}/readyz`)).status

/** Why there is none; null when there is. */
function mountDisk(disk: string): string | null {
  execFileSync('mkdir', [disk])
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', disk], { stdio: 'pipe' })
    return null
  } catch (error) {
    return `a disk can't be mounted here: ${(error as Error).message.split('\n')[1]}`
  }
}

/** All that is left of it. */
function fillDisk(disk: string): void {
  const file = openSync(join(disk, 'filler'), 'a')
  try {
    for (let bytes = 1 << 20; bytes > 0;) {
      try {
        writeSync(file, Buffer.alloc(bytes))
      } catch {
        bytes >>= 1
      }
    }
  } finally {
    closeSync(file)
  }
}
