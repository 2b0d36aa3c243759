// Commands that wait, while the server restarts, the network fails and answers are lost; and Ctrl-C.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Allocation, Lease } from '../../src/client/index.ts'
import type { Typed } from '../support/command.ts'
import { type Proxy, startProxy } from '../support/proxy.ts'
import { type Server, startServer } from '../support/server.ts'
import { type Databases, eachDatabase, sqliteCopy } from '../support/stores.ts'
import { Person, until } from './person.ts'

const SETTINGS = { auth: 'none', placementPolicy: 'secure', testClock: true } as const
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const folder = mkdtempSync(join(tmpdir(), 'holdfast-waiting-'))
after(() => rmSync(folder, { recursive: true }))

describe('a command that waits', () => {
  let database = ''
  let server: Server
  let proxy: Proxy
  /** At the server itself, for what happens beside. */
  const other = new Person(() => server.origin)
  /** Behind a network that can fail. */
  const person = new Person(() => proxy.url.replace(/\/$/, ''))

  beforeEach(async () => {
    database = await sqliteCopy(folder)
    server = await startServer(database, SETTINGS)
    proxy = await startProxy(server.origin)
  })
  afterEach(async () => {
    await proxy.stop()
    await server.stop()
  })

  const restart = async (whileItIsDown: () => Promise<unknown>) => {
    const port = Number(new URL(server.origin).port)
    await server.stop()
    try {
      await whileItIsDown()
    } finally {
      server = await startServer(database, { ...SETTINGS, port })
    }
  }
  const says = async ({ said }: Typed, words: RegExp) =>
    assert.match(
      await until(
        async () => said.stderr,
        text => words.test(text),
      ),
      words,
    )
  const noticesThatItIsAway = (command: Typed) => says(command, /the server does not answer \(.*\); waiting goes on/)
  const allocations = async (): Promise<Allocation[]> => (await other.library()).allocations.list()
  const leases = async (): Promise<Lease[]> => (await other.library()).leases.list()
  /** Moves the clock of the server. */
  const advance = async (seconds: number) => {
    const body = JSON.stringify({ advance: seconds })
    const how = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    assert.equal((await fetch(`${server.origin}/holdfast/v1/clock`, how)).status, 200)
  }
  const waits = async () => assert.equal((await until(allocations, all => all.length === 2)).length, 2)
  /** The only node of its class, which `first` has. */
  const takenNode = async () => {
    await other.node('n1', 'one')
    await other.reads('allocation create --resource-class one --name first --wait')
  }
  const QUEUED = 'allocation create --resource-class one --name second --wait-until 10m --wait'
  const secondGetsIt = async (command: Typed) => {
    await other.reads('allocation delete first')
    const { code, stdout, stderr } = await command.exit
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^state +active$/m)
    assert.deepEqual(
      (await allocations()).map(({ name, state }) => [name, state]),
      [['second', 'active']],
    )
  }

  describe('goes on through a restart of the server', () => {
    test('allocation create', async () => {
      await takenNode()
      const command = person.begins(QUEUED)
      await says(command, /^waiting for a node: 1 of class one: 1 allocated$/m)
      await restart(() => noticesThatItIsAway(command))
      await secondGetsIt(command)
    })

    test('run', async () => {
      await takenNode()
      const file = join(folder, 'ran')
      const line = ['run', '--resource-class', 'one', '--wait', '10m', '--', 'touch', file]
      const command = person.begins(line)
      await waits()
      await restart(() => noticesThatItIsAway(command))
      assert.equal((await allocations()).length, 2)
      await other.reads('allocation delete first')
      const { code, stderr } = await command.exit
      assert.equal(code, 0, stderr)
      assert.ok(existsSync(file))
      assert.deepEqual(await allocations(), [])
    })

    test('run asks again if it was away for so long that its allocation expired', async () => {
      await takenNode()
      const line = ['run', '--resource-class', 'one', '--wait', '10m', '--renew-every', '3', '--', 'true']
      const command = person.begins(line)
      await waits()
      const before = (await allocations()).find(({ name }) => name === null)
      await restart(async () => {
        proxy.refuse()
        await noticesThatItIsAway(command)
      })
      const refusedAt = Date.now()
      await advance(60)
      const isGone = (all: Allocation[]) => all.length === 1
      assert.ok(isGone(await until(allocations, isGone)))
      // Only after so long does it take that for the end of its term.
      assert.ok(await until(async () => Date.now() - refusedAt > 7_000, Boolean))
      proxy.pass()
      await says(command, /the allocation expired; asked for another one/)
      const isAnother = (all: Allocation[]) => all.length === 2 && all.every(({ uuid }) => uuid !== before!.uuid)
      assert.ok(isAnother(await until(allocations, isAnother)))
      await other.reads('allocation delete first')
      const { code, stderr } = await command.exit
      assert.equal(code, 0, stderr)
      assert.deepEqual(await allocations(), [])
    })

    const lease = async () => {
      await other.node('n1', 'one')
      await other.reads('node leasable set n1')
      const start = new Date(Date.now() + 30 * 60_000).toISOString().slice(0, 16).replace('T', ' ')
      const what = 'resource_type=physical:node,resource_class=one,min=1,max=1'
      return ['lease', 'create', 'l1', '--start-date', start, '--for', '1h', '--reservation', what, '--wait']
    }
    test('lease create, until it has started', async () => {
      const command = person.begins(await lease())
      await says(command, /^waiting for lease l1 to start at 20/m)
      await restart(() => noticesThatItIsAway(command))
      await advance(45 * 60)
      const { code, stdout, stderr } = await command.exit
      assert.equal(code, 0, stderr)
      assert.match(stdout, /^status +ACTIVE$/m)
    })

    test('a lease whose answer was lost is booked once, and Ctrl-C takes it back', async () => {
      const line = await lease()
      const lost = proxy.swallowAnswerTo('POST /reservation/v1/leases', { answer: 'HTTP/1.1 201' })
      const command = person.begins(line)
      await lost
      await says(command, /^waiting for lease l1 to start at 20/m)
      assert.equal((await leases()).length, 1)
      command.signal('SIGINT')
      const { code, stderr } = await command.exit
      assert.equal(code, 130)
      assert.match(stderr, new RegExp(`^holdfast: cancelled: lease l1 \\(${UUID}\\) is deleted$`, 'm'))
      assert.deepEqual(await leases(), [])
    })

    test('a server that ended the wait while nobody could ask says so', async () => {
      await takenNode()
      const end = new Date(Date.now() + 3_600_000).toISOString()
      const command = person.begins(`allocation create --resource-class one --name second --wait-until ${end} --wait`)
      await says(command, /^waiting for a node/m)
      proxy.refuse()
      await restart(() => noticesThatItIsAway(command))
      await advance(7_200)
      const isOver = (all: Allocation[]) => all.some(({ state }) => state === 'error')
      assert.ok(isOver(await until(allocations, isOver)))
      proxy.pass()
      const { code, stderr } = await command.exit
      assert.equal(code, 4)
      assert.match(
        stderr,
        /^holdfast: its time to wait ended at \S+ \d\d:\d\d\S* UTC: \S+ got no node: 1 of class \S+: /m,
      )
    })
  })

  describe('goes on through a lost network', () => {
    test('connections that are cut, and new ones that are refused', async () => {
      await takenNode()
      const command = person.begins(QUEUED)
      await says(command, /^waiting for a node/m)
      proxy.cut()
      proxy.refuse()
      await noticesThatItIsAway(command)
      proxy.pass()
      await secondGetsIt(command)
    })

    test('until its own time is over, and says what is left', async () => {
      proxy.refuse()
      const { code, stderr } = await person.types('allocation create --resource-class one --wait 2s')
      assert.equal(code, 6)
      const end = `end it with: holdfast allocation delete ${UUID}`
      const told = `the server does not answer \\(.*\\) \\(allocation ${UUID} may still be waiting; ${end}\\)`
      assert.match(stderr, new RegExp(`^holdfast: gave up after \\d+ s: ${told}$`, 'm'))
    })

    test('a server that is not there at the start is waited for, if a time is said', async () => {
      await other.node('n1', 'one')
      proxy.refuse()
      const command = person.begins('allocation create --resource-class one --wait 10m')
      await says(command, /^the server does not answer \(.*\); waiting goes on, \d+ s left$/m)
      proxy.pass()
      assert.equal((await command.exit).code, 0)
    })

    test('without a time, a server that is not there at the start is an error at once', async () => {
      const closed = await startProxy(server.origin)
      await closed.stop()
      const nowhere = { HOLDFAST_URL: closed.url }
      const { code, stderr } = await person.types('allocation create --resource-class one --wait', nowhere)
      assert.equal(code, 6)
      assert.match(stderr, /^holdfast: no answer from .*: nothing listens there/)
    })
  })

  describe('asks once, though the answer is lost', () => {
    const lost = (path: string) => proxy.swallowAnswerTo(`POST ${path}`, { answer: 'HTTP/1.1 20' })

    test('allocation create', async () => {
      await takenNode()
      const isLost = lost('/baremetal/v1/allocations')
      const command = person.begins(QUEUED)
      await isLost
      await waits()
      await secondGetsIt(command)
    })

    test('allocation create without a name, of which there could be two', async () => {
      await other.node('n1', 'one')
      await other.node('n2', 'one')
      const isLost = lost('/baremetal/v1/allocations')
      const { code, stderr } = await person.types('allocation create --resource-class one --wait 10m')
      await isLost
      assert.equal(code, 0, stderr)
      assert.equal((await allocations()).length, 1)
    })

    test('allocation retry', async () => {
      await takenNode()
      await other.types('allocation create --resource-class one --name second --wait --keep')
      const isLost = lost('/holdfast/v1/allocations/second/retry')
      const command = person.begins('allocation retry second --wait 10m')
      await isLost
      await says(command, /^waiting for a node/m)
      await secondGetsIt(command)
    })

    test('run', async () => {
      await other.node('n1', 'one')
      await other.node('n2', 'one')
      const isLost = lost('/baremetal/v1/allocations')
      const file = join(folder, 'both')
      const line = [
        'run',
        '--resource-class',
        'one',
        '--wait',
        '10m',
        '--',
        'sh',
        '-c',
        `until [ -e ${file} ]; do sleep 0.1; done`,
      ]
      const command = person.begins(line)
      await isLost
      const isActive = (all: Allocation[]) => all.some(({ state }) => state === 'active')
      assert.equal((await until(allocations, isActive)).length, 1)
      writeFileSync(file, '')
      const { code, stderr } = await command.exit
      assert.equal(code, 0, stderr)
      assert.deepEqual(await allocations(), [])
    })

    test('node manage', async () => {
      const { nodes } = await other.library()
      await nodes.create({ driver: 'fake-hardware', name: 'n1', resource_class: 'one' })
      const isLost = proxy.swallowAnswerTo('PUT /baremetal/v1/nodes/n1/states/provision', { answer: 'HTTP/1.1 202' })
      const { code, stdout, stderr } = await person.types('node manage n1 --wait 10m')
      await isLost
      assert.equal(code, 0, stderr)
      assert.equal(stdout, 'n1 is manageable\n')
    })
  })

  test('says its place, and again when that changes', async () => {
    await takenNode()
    const [second, third] = ['second', 'third'].map(name => `allocation create --resource-class one --name ${name}`)
    await other.reads(`${second} --wait-until 10m`)
    const command = person.begins(`${third} --wait 10m`)
    await says(command, /^waiting for a node: place 2 of 2, start unknown; 1 of class one: 1 allocated$/m)
    await other.reads('allocation delete second')
    await says(command, /^waiting for a node: 1 of class one: 1 allocated$/m)
    await other.reads('allocation renew first --expires-at 5m')
    await says(
      command,
      /^waiting for a node: place 1 of 1, likely start .+ when .+ is free; 1 of class one: 1 allocated$/m,
    )
    await other.reads('allocation delete first')
    assert.equal((await command.exit).code, 0)
  })

  describe('ends at once', () => {
    test('when someone else has ended what it waits for', async () => {
      await takenNode()
      const command = person.begins(QUEUED)
      await says(command, /^waiting for a node/m)
      await other.reads('allocation delete second')
      const { code, stderr } = await command.exit
      assert.equal(code, 3)
      assert.match(stderr, /could not be found/)
    })

    test('when a run was ended by someone else, and does not ask again', async () => {
      await takenNode()
      const command = person.begins([
        'run',
        '--resource-class',
        'one',
        '--name',
        'second',
        '--wait',
        '10m',
        '--',
        'true',
      ])
      await waits()
      await other.reads('allocation delete second')
      const { code, stderr } = await command.exit
      assert.equal(code, 3)
      assert.match(stderr, /could not be found/)
    })

    test('when it is refused', async () => {
      await takenNode()
      await person.isRefused('allocation create --resource-class one --name first --wait 10m', 4, /name first already/)
      await person.isRefused('allocation create --resource-class one --uuid no --wait 10m', 2, /uuid/)
      assert.equal((await allocations()).length, 1)
    })
  })

  describe('and Ctrl-C', () => {
    const queued = async (line = QUEUED) => {
      await takenNode()
      const command = person.begins(line)
      await says(command, /^waiting for a node/m)
      return command
    }

    for (const [signal, expected] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      test(`${signal} takes back what was asked for, and says so`, async () => {
        const command = await queued()
        command.signal(signal)
        const { code, stderr } = await command.exit
        assert.equal(code, expected)
        assert.match(stderr, new RegExp(`^holdfast: cancelled: allocation ${UUID} is deleted$`, 'm'))
        assert.deepEqual(
          (await allocations()).map(({ name }) => name),
          ['first'],
        )
      })
    }

    test('of a run takes it back too', async () => {
      await takenNode()
      const command = person.begins(['run', '--resource-class', 'one', '--wait', '10m', '--', 'true'])
      await waits()
      command.signal('SIGINT')
      const { code, stderr } = await command.exit
      assert.equal(code, 130)
      assert.match(stderr, new RegExp(`^holdfast: cancelled: allocation ${UUID} is deleted$`, 'm'))
      assert.equal((await allocations()).length, 1)
    })

    test('with --keep leaves it, and says how to look and how to end it', async () => {
      const command = await queued(`${QUEUED} --keep`)
      command.signal('SIGINT')
      const { code, stderr } = await command.exit
      assert.equal(code, 130)
      const [, uuid] =
        new RegExp(
          `^holdfast: allocation (${UUID}) goes on waiting until \\S+ \\d\\d:\\d\\d\\S* UTC; end it with: holdfast allocation delete \\1; look with: holdfast allocation show \\1$`,
          'm',
        ).exec(stderr) ?? assert.fail(stderr)
      assert.equal(await other.reads(`allocation show ${uuid} -f value -c state`), 'allocating')
    })

    test('while the server is away says what is left, and the command that ends it', async () => {
      await takenNode()
      const command = person.begins(`--url ${person.origin} ${QUEUED}`)
      await says(command, /^waiting for a node/m)
      proxy.refuse()
      await noticesThatItIsAway(command)
      command.signal('SIGINT')
      const { code, stderr } = await command.exit
      assert.equal(code, 130)
      const [, end] =
        new RegExp(
          `^holdfast: allocation ${UUID} may still be waiting until \\S+ \\d\\d:\\d\\d\\S* UTC; end it with: holdfast (--url \\S+ allocation delete ${UUID}) \\(`,
          'm',
        ).exec(stderr) ?? assert.fail(stderr)
      assert.equal((await allocations()).length, 2)
      proxy.pass()
      await person.reads(end!)
      assert.equal((await allocations()).length, 1)
    })

    test('a second time ends it at once, and says what is left', async () => {
      const command = await queued()
      proxy.silence()
      command.signal('SIGINT')
      command.signal('SIGINT')
      const { code, stderr } = await command.exit
      assert.equal(code, 130)
      const end = `end it with: holdfast allocation delete ${UUID}`
      assert.match(
        stderr,
        new RegExp(`^holdfast: allocation ${UUID} may still be waiting until \\S+ \\d\\d:\\d\\d\\S* UTC; ${end}$`, 'm'),
      )
    })

    test('does not stop nodes on their way', async () => {
      const { nodes } = await other.library()
      await nodes.create({ driver: 'fake-hardware', name: 'slow', driver_info: { fake_delay: 600 } })
      const command = person.begins('node manage slow --wait')
      await says(command, /^slow is /m)
      command.signal('SIGINT')
      const { code, stderr } = await command.exit
      assert.equal(code, 130)
      assert.match(stderr, /^holdfast: slow goes on to manageable; look with: holdfast node show slow$/m)
    })
  })
})

const onPostgres = ({ create }: Databases) => {
  test('a command that waits goes on when the database comes back', async () => {
    const database = await startProxy(await create())
    const server = await startServer(database.url, SETTINGS)
    const person = new Person(() => server.origin)
    try {
      await person.node('n1', 'one')
      await person.reads('allocation create --resource-class one --name first --wait')
      const command = person.begins('allocation create --resource-class one --wait-until 10m --wait')
      const says = async (words: RegExp) => {
        const said = await until(
          async () => command.said.stderr,
          text => words.test(text),
        )
        assert.match(said, words)
      }
      await says(/^waiting for a node/m)
      database.refuse()
      await says(/^the server can't answer now \(503: .*\); waiting goes on/m)
      database.pass()
      const freed = await until(
        () => person.types('allocation delete first'),
        ({ code }) => code !== 6,
      )
      assert.ok(freed.code === 0 || freed.code === 3, freed.stderr)
      const { code, stderr } = await command.exit
      assert.equal(code, 0, stderr)
    } finally {
      database.pass()
      await server.stop()
      await database.stop()
    }
  })
}

eachDatabase('a fail-over of the database', onPostgres, ['postgres'])
