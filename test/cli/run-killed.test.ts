// holdfast run, however it is ended: its node is free when it should be, and nobody else has it before.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Allocation, ApiError, type Holdfast } from '../../src/client/index.ts'
import { inParallel } from '../races/clients.ts'
import { atShell, hasScript, type Person, until } from './person.ts'
import { isAlive } from '../support/alive.ts'

const ROUNDS = 20
const NODES = 5
const TERM_MS = 3 * 20 * 1_000
/** For a busy machine to look around. */
const LOOK_MS = 20_000

const CTRL_C = '\u0003'
const WAYS = ['SIGTERM', 'SIGINT', ...(hasScript ? ['Ctrl-C' as const] : [])] as const
type Way = (typeof WAYS)[number]

const folder = mkdtempSync(join(tmpdir(), 'holdfast-killed-'))
after(() => rmSync(folder, { recursive: true }))

const onServer = (person: Person) => {
  let server: Holdfast
  const pids: number[] = []
  before(async () => {
    server = await person.library()
    for (let at = 0; at < NODES; at++) await person.node(`node-${at}`, `kind-${at}`)
  })
  // What a test that fails leaves behind would keep us.
  after(() => pids.filter(isAlive).forEach(pid => process.kill(pid, 'SIGKILL')))
  const nothingIsLeft = async () => {
    assert.equal((await server.fsck()).violations, 0)
    assert.deepEqual(await server.allocations.list(), [])
  }

  test(`${ROUNDS} times told to end: its node is free by then`, async () => {
    await inParallel(NODES, NODES, async node => {
      for (let round = node; round < ROUNDS; round += NODES) {
        // Each node sees each way.
        await toldRound(`kind-${node}`, WAYS[(node + Math.floor(round / NODES)) % WAYS.length]!)
      }
    })
    await nothingIsLeft()
  })

  async function toldRound(kind: string, way: Way): Promise<void> {
    const told = `${way} of ${kind}`
    const { end, pid, held, rival } = await begun(kind, way)
    assert.equal((await server.allocations.show(rival)).state, 'allocating', told)
    assert.equal(await end(), way === 'SIGTERM' ? 143 : 130, told)
    assert.equal(await isThere(held), false, `${told}: given back by the time it has ended`)
    assert.equal(isAlive(pid), false, `${told}: the command has ended too`)
    await rivalGets(rival, held, told)
  }

  test('killed: nobody has its node while the term lasts, and then someone has', async () => {
    const rounds = await Promise.all(Array.from({ length: NODES }, (_, node) => begun(`kind-${node}`, 'SIGKILL')))
    await Promise.all(rounds.map(({ end }) => end()))
    const killedAt = await time()
    const shown = await Promise.all(rounds.map(({ held }) => server.allocations.show(held.uuid)))
    const ends = shown.map(({ expires_at }) => Date.parse(expires_at!))
    // Instants are shown in whole seconds.
    assert.ok(Math.max(...ends) - killedAt <= TERM_MS + 1_000, `${ends.join(' ')} ${killedAt}`)
    await advance(Math.min(...ends) - killedAt - LOOK_MS)
    for (const { rival, pid } of rounds) {
      assert.equal((await server.allocations.show(rival)).state, 'allocating', 'before the end of the term')
      assert.equal(
        await until(
          async () => isAlive(pid),
          running => !running,
        ),
        false,
        'its command is ended',
      )
    }
    assert.ok((await time()) < Math.min(...ends), 'all that was before the end of the term')
    await advance(Math.max(...ends) - (await time()) + 1_000)
    for (const { held, rival } of rounds) await rivalGets(rival, held, 'after its term')
    await nothingIsLeft()
  })

  const ask = async (body: object | null) => {
    const how = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const answer = await fetch(`${person.origin}/holdfast/v1/clock`, how ?? {})
    assert.equal(answer.status, 200)
    return Date.parse(((await answer.json()) as { now: string }).now)
  }
  /** The server's. */
  const time = () => ask(null)
  const advance = (ms: number) => ask({ advance: Math.max(ms, 0) / 1_000 })

  /** A run whose command has begun, what it holds, and someone who waits for the same node. */
  async function begun(kind: string, way: Way | 'SIGKILL') {
    const file = join(folder, crypto.randomUUID())
    const run = startedBy(kind, way, file)
    const isWritten = async () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n')
    assert.ok(await until(isWritten, Boolean), `${way} of ${kind}`)
    const pid = Number(readFileSync(file, 'utf8'))
    pids.push(pid)
    const [held] = await server.allocations.list({ where: { resource_class: kind } })
    const { uuid: rival, state } = await server.allocations.create({ resource_class: kind, wait_until: '10m' })
    assert.equal(state, 'allocating', `${way} of ${kind}`)
    return { ...run, pid, held: held!, rival }
  }

  function startedBy(kind: string, way: Way | 'SIGKILL', file: string) {
    const script = `echo $$ > ${file}; exec sleep 600`
    const words = ['run', '--resource-class', kind, '--renew-every', '20', '--', 'sh', '-c']
    if (way === 'Ctrl-C') {
      const { type, exit } = person.atTerminal(`exec holdfast ${words.join(' ')} '${script}'`, 80)
      const end = async () => {
        type(CTRL_C)
        return (await exit).code
      }
      return { end }
    }
    const { child, exit } = person.starts([...words, script])
    const gone = once(child, 'exit')
    const end = async () => {
      child.kill(way)
      // Who is killed leaves a command behind that keeps the pipes open.
      return way === 'SIGKILL' ? (await gone)[0] : (await exit).code
    }
    return { end }
  }

  async function rivalGets(rival: string, held: Allocation, told: string): Promise<void> {
    const next = await until(
      () => server.allocations.show(rival),
      ({ state }) => state === 'active',
    )
    assert.deepEqual([next.state, next.node_uuid], ['active', held.node_uuid], told)
    await server.allocations.delete(rival)
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
}

atShell('holdfast run, ended in every way', onServer, { testClock: true })
