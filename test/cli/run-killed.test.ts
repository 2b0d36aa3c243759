// holdfast run, fifty times: however it is ended, its node is free when it should be, and nobody else has it before.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Allocation, ApiError, type Holdfast } from '../../src/client/index.ts'
import { inParallel } from '../races/clients.ts'
import { eachShell, hasScript, until } from './person.ts'

const ROUNDS = 25
const NODES = 5
/** Short, but longer than a busy machine forgets a process. */
const RENEW_EVERY_S = 2
const TERM_MS = 3 * RENEW_EVERY_S * 1_000
/** For a busy machine to notice. */
const LATE_MAX_MS = 3_000

const CTRL_C = '\u0003'
const WAYS = ['SIGKILL', 'SIGTERM', 'SIGINT', ...(hasScript ? ['Ctrl-C' as const] : [])] as const
type Way = (typeof WAYS)[number]

const folder = mkdtempSync(join(tmpdir(), 'holdfast-killed-'))
after(() => rmSync(folder, { recursive: true }))

eachShell('holdfast run, ended in every way', person => {
  let server: Holdfast
  before(async () => {
    server = await person.library()
    for (let at = 0; at < NODES; at++) await person.node(`node-${at}`, `kind-${at}`)
  })

  test(`${ROUNDS} times: at once where it is told, within its term where it is not`, async () => {
    await inParallel(NODES, NODES, async node => {
      for (let round = node; round < ROUNDS; round += NODES) {
        // Each node sees each way.
        await oneRound(
          `kind-${node}`,
          WAYS[(node + Math.floor(round / NODES)) % WAYS.length]!,
          join(folder, crypto.randomUUID()),
        )
      }
    })
    assert.equal((await server.fsck()).violations, 0)
    assert.deepEqual(await server.allocations.list(), [])
  })

  async function oneRound(kind: string, way: Way, file: string): Promise<void> {
    const told = `${way} of ${kind}`
    const run = startedBy(kind, way, file)
    assert.ok(await until(async () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'), Boolean), told)
    const pid = Number(readFileSync(file, 'utf8'))
    const [held] = await server.allocations.list({ where: { resource_class: kind } })
    const rival = await server.allocations.create({ resource_class: kind, wait_until: '1m' })
    assert.equal(rival.state, 'allocating', told)
    if (way === 'SIGKILL') await nodeIsFreeInTime(held!, rival, run.kill, told)
    else {
      assert.equal((await server.allocations.show(rival.uuid)).state, 'allocating', told)
      assert.equal(await run.end(), way === 'SIGTERM' ? 143 : 130, told)
      assert.equal(await isThere(held!), false, `${told}: given back by the time it has ended`)
    }
    assert.equal(isRunning(pid), way === 'SIGKILL', `${told}: only a command that nobody could tell goes on`)
    if (way === 'SIGKILL') process.kill(pid, 'SIGKILL')
    const next = await until(
      () => server.allocations.show(rival.uuid),
      ({ state }) => state === 'active',
    )
    assert.deepEqual([next.state, next.node_uuid], ['active', held!.node_uuid], told)
    await server.allocations.delete(rival.uuid)
  }

  function startedBy(kind: string, way: Way, file: string) {
    const script = `echo $$ > ${file}; exec sleep 60`
    const renewal = String(way === 'SIGKILL' ? RENEW_EVERY_S : 20)
    const words = ['run', '--resource-class', kind, '--renew-every', renewal, '--', 'sh', '-c']
    if (way === 'Ctrl-C') {
      const { type, exit } = person.atTerminal(`exec holdfast ${words.join(' ')} '${script}'`, 80)
      const end = async () => {
        type(CTRL_C)
        return (await exit).code
      }
      return { kill: () => {}, end }
    }
    const { child, exit } = person.starts([...words, script])
    const kill = () => void child.kill(way)
    const end = async () => {
      kill()
      return (await exit).code
    }
    return { kill, end }
  }

  /** Nobody has it while the term lasts, and soon after it someone has. */
  async function nodeIsFreeInTime(held: Allocation, rival: Allocation, kill: () => void, told: string): Promise<void> {
    kill()
    const killedAt = Date.now()
    const { expires_at } = await server.allocations.show(held.uuid)
    const endsAt = Date.parse(expires_at!)
    // Instants are shown in whole seconds.
    assert.ok(endsAt - killedAt <= TERM_MS + 1_000, `${told}: ends ${endsAt - killedAt} ms later`)
    for (;;) {
      const askedAt = Date.now()
      const { state } = await server.allocations.show(rival.uuid)
      const seenAt = Date.now()
      if (state === 'active') {
        assert.ok(seenAt >= endsAt, `${told}: someone had it ${endsAt - seenAt} ms before the end of the term`)
        return
      }
      assert.ok(askedAt < killedAt + TERM_MS + LATE_MAX_MS, `${told}: nobody has it after its term`)
      await sleep(50)
    }
  }

  async function isThere({ uuid }: Allocation): Promise<boolean> {
    try {
      await server.allocations.show(uuid)
      return true
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return false
      throw error
    }
  }
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
