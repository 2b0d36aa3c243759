// The controller that the docs show: killed at any step, run several times over, it has exactly what is asked for.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Cluster, type MachineClaim, type MachineStatus, reconcile } from '../../docs/examples/controller.ts'
import type { Holdfast } from '../../src/client/index.ts'
import { eachShell, until } from '../cli/person.ts'

const CONTROLLER = fileURLToPath(new URL('../../docs/examples/controller.ts', import.meta.url))
const NODES = 4

/** The controller died here. */
class Death extends Error {}

/** A server whose client dies as soon as so many requests have done their work. */
function dyingAfter<T extends object>(requests: number, target: T): T {
  let left = requests
  const get =
    (_: T, name: string) =>
    async (...given: unknown[]) => {
      const answer = await (Reflect.get(target, name) as (...given: unknown[]) => Promise<unknown>)(...given)
      if (--left <= 0) throw new Death()
      return answer
    }
  return new Proxy(target, { get: (object, name) => get(object, String(name)) })
}

class Claims implements Cluster {
  readonly wanted = new Map<string, MachineClaim>()
  readonly status = new Map<string, MachineStatus>()
  claims = async () => [...this.wanted.values()]
  report = async ({ metadata }: MachineClaim, status: MachineStatus) => void this.status.set(metadata.uid, status)

  add(name: string, resourceClass: string): string {
    const uid = crypto.randomUUID()
    this.wanted.set(uid, { metadata: { uid, name }, spec: { resourceClass } })
    return uid
  }

  drop = (uid: string) => this.wanted.delete(uid)
}

/** Who has which node; that no node has two is what the size says. */
async function given({ allocations, fsck }: Holdfast, resourceClass: string): Promise<Map<string, string>> {
  const present = await allocations.list({ where: { resource_class: resourceClass } })
  const active = present.filter(({ state }) => state === 'active')
  assert.equal(new Set(active.map(({ node_uuid }) => node_uuid)).size, active.length, 'no node is given twice')
  assert.equal((await fsck()).violations, 0)
  return new Map(active.map(({ uuid, node_uuid }) => [uuid, node_uuid!]))
}

eachShell('the controller of the docs', person => {
  async function fleet(resourceClass: string): Promise<Holdfast> {
    await Promise.all(Array.from({ length: NODES }, (_, nth) => person.node(`${resourceClass}-${nth}`, resourceClass)))
    return person.library()
  }

  test('dies after any of its requests, and the next pass ends with what is asked for', async () => {
    const holdfast = await fleet('mortal')
    const claims = new Claims()
    const passUntilQuiet = () =>
      until(
        async () => {
          await reconcile(holdfast.allocations, claims, Date.now())
          return [...(await given(holdfast, 'mortal')).keys()].sort()
        },
        have => have.join() === [...claims.wanted.keys()].sort().join(),
      )
    let present = [claims.add('first', 'mortal'), claims.add('second', 'mortal')]
    await passUntilQuiet()
    let deaths = 0
    // A pass here asks for the list, lets two go and takes two; the sixth time it is not disturbed.
    for (let requests = 1; requests <= 6; requests++) {
      for (const uid of present) claims.drop(uid)
      present = ['a', 'b'].map(letter => claims.add(`${letter}-${requests}`, 'mortal'))
      const mortal = dyingAfter(requests, holdfast.allocations)
      await reconcile(mortal, claims, Date.now()).catch(error => {
        if (!(error instanceof Death)) throw error
        deaths++
      })
      assert.deepEqual(await passUntilQuiet(), present.toSorted())
    }
    assert.equal(deaths, 5)
  })

  test('more claims than machines wait in line, and get one when it is free', async () => {
    const holdfast = await fleet('scarce')
    const claims = new Claims()
    const uids = Array.from({ length: NODES + 1 }, (_, nth) => claims.add(`claim-${nth}`, 'scarce'))
    const pass = async () => {
      await reconcile(holdfast.allocations, claims, Date.now())
      return given(holdfast, 'scarce')
    }
    await until(pass, ({ size }) => size === NODES)
    const late = uids.at(-1)!
    assert.equal(claims.status.get(late)!.phase, 'Pending')
    claims.drop(uids[0]!)
    assert.ok((await until(pass, have => have.has(late))).has(late))
  })

  test('renews what it has when half of its time is over', async () => {
    const holdfast = await fleet('aging')
    const claims = new Claims()
    const uid = claims.add('old', 'aging')
    const ends = async () => Date.parse((await holdfast.allocations.show(uid)).expires_at!)
    await reconcile(holdfast.allocations, claims, Date.now())
    await holdfast.allocations.renew(uid, '1h')
    const short = await ends()
    await reconcile(holdfast.allocations, claims, Date.now())
    assert.ok((await ends()) - short > 20 * 3_600_000)
  })

  test('replicas side by side, killed with -9 and started again, leak nothing and double nothing', async () => {
    const holdfast = await fleet('killed')
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-claims-'))
    const replicas = new Set<ChildProcess>()
    const start = () => {
      const env = { PATH: process.env['PATH'], HOLDFAST_URL: person.origin }
      const child = spawn(process.execPath, [CONTROLLER, folder], { env, stdio: 'ignore' })
      replicas.add(child)
      return child
    }
    const add = (name: string) => {
      const uid = crypto.randomUUID()
      const claim: MachineClaim = { metadata: { uid, name }, spec: { resourceClass: 'killed' } }
      writeFileSync(join(folder, `${name}.json`), JSON.stringify(claim))
      return uid
    }
    try {
      const uids = [add('one'), add('two'), add('three')]
      const [early] = [start(), start()]
      // Somewhere in its first pass, or just before or after it.
      await until(
        () => given(holdfast, 'killed'),
        ({ size }) => size > 0,
      )
      early.kill('SIGKILL')
      rmSync(join(folder, 'two.json'))
      uids[1] = add('four')
      await sleep(200)
      start()
      const have = await until(
        () => given(holdfast, 'killed'),
        have => have.size === 3 && uids.every(uid => have.has(uid)),
      )
      assert.deepEqual([...have.keys()].sort(), uids.toSorted())
      const status = async () => readFile(join(folder, 'four.status'), 'utf8').catch(() => '')
      const bound = `{"phase":"Bound","node":"${have.get(uids[1])}"}\n`
      assert.equal(await until(status, text => text === bound), bound)
    } finally {
      for (const replica of replicas) replica.kill('SIGKILL')
      rmSync(folder, { recursive: true })
    }
  })
})
