// holdfast run: a command with a node allocated to it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Allocation } from '../../src/client/index.ts'
import { atShell, BIN, until } from './person.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-run-'))
after(() => rmSync(folder, { recursive: true }))
/** In seconds. A busy machine needs some of it to renew in time. */
const RENEW_EVERY = '4'
let files = 0
const newFile = () => join(folder, String(++files))

/** Without what it may have waited for on a busy machine. */
const toldIn = (stderr: string) =>
  stderr.split('\n').flatMap(line => (line.startsWith('holdfast: ') ? [line.slice('holdfast: '.length)] : []))

atShell('holdfast run', person => {
  let node = ''
  before(async () => void (node = await person.node('gpu-1')))

  const allocations = async (): Promise<Allocation[]> => (await person.library()).allocations.list()
  const run = (...words: string[]) => ['run', '--resource-class', 'gpu', '--renew-every', RENEW_EVERY, ...words]
  /** A command that says that it runs, and then goes on until it is ended. */
  const endless = (file: string) => ['--', 'sh', '-c', `touch ${file}; exec sleep 600`]
  const started = async (file: string) => assert.ok(await until(async () => existsSync(file), Boolean), 'it has begun')
  const isFree = async () => assert.deepEqual(await until(allocations, all => all.length === 0), [])

  test('the command knows its node, its exit code is ours, and then the node is free', async () => {
    const file = newFile()
    const script = `echo $HOLDFAST_NODE_UUID $HOLDFAST_NODE_NAME $HOLDFAST_ALLOCATION > ${file}; exit 7`
    const { code, stderr } = await person.starts(run('sh', '-c', script)).exit
    assert.equal(code, 7, stderr)
    const told = ['gpu-1 is yours until the command ends', 'the command exited with 7; gpu-1 is given back']
    assert.deepEqual(toldIn(stderr), told)
    const [uuid, name, allocation] = readFileSync(file, 'utf8').trim().split(' ')
    assert.deepEqual([uuid, name], [node, 'gpu-1'])
    assert.match(allocation!, /^[0-9a-f-]{36}$/)
    assert.deepEqual(await allocations(), [])
  })

  test('the allocation is a short one, renewed for as long as the command runs', async () => {
    const file = newFile()
    const { child, exit } = person.starts(run(...endless(file)))
    await started(file)
    const [first] = await allocations()
    const later = await until(
      async () => (await allocations())[0],
      found => Date.parse(found?.expires_at ?? '') >= Date.parse(first!.expires_at!) + 2_000,
    )
    assert.equal(later?.uuid, first!.uuid)
    assert.ok(Date.parse(later.expires_at!) > Date.parse(first!.expires_at!))
    child.kill('SIGTERM')
    assert.equal((await exit).code, 128 + 15)
    assert.deepEqual(await allocations(), [])
  })

  test('it asks for several traits in each of the usual ways, and leaves a note', async () => {
    const traits = ['CUSTOM_A', 'CUSTOM_B', 'CUSTOM_C']
    await (await person.library()).nodes.setTraits(node, traits)
    const show = ['sh', '-c', `$0 allocation show $HOLDFAST_ALLOCATION -f json > $1`, BIN]
    const asked = async (...words: string[]) => {
      const file = newFile()
      const { code, stderr } = await person.starts(run(...words, ...show, file)).exit
      assert.equal(code, 0, stderr)
      return JSON.parse(readFileSync(file, 'utf8')) as Allocation
    }
    const { note, traits: several } = await asked('--trait', ...traits, '--note', 'for the demo', '--')
    assert.deepEqual([note, several], ['for the demo', traits])
    assert.deepEqual((await asked('--trait', 'CUSTOM_A,CUSTOM_B', '--trait', 'CUSTOM_C')).traits, traits)
    await person.isRefused(
      run('--trait', 'CUSTOM_A', 'sh', '--', 'x'),
      2,
      /'sh' is no trait; put -- before the command/,
    )
  })

  test('SIGHUP ends the command, and the node is free', async () => {
    const file = newFile()
    const { child, exit } = person.starts(run(...endless(file)))
    await started(file)
    child.kill('SIGHUP')
    assert.equal((await exit).code, 129)
    assert.deepEqual(await allocations(), [])
  })

  test('a signal while it waits for a node gives the wish back', async () => {
    const { child, exit } = person.starts(['run', '--resource-class', 'none', '--wait', '10m', 'true'])
    assert.equal((await until(allocations, all => all.length === 1)).length, 1)
    child.kill('SIGTERM')
    assert.equal((await exit).code, 143)
    assert.deepEqual(await allocations(), [])
  })

  test('after the time that it has, the command is ended', async () => {
    const file = newFile()
    const running = person.types(run('--for', '3s', ...endless(file)))
    await started(file)
    const [found] = await allocations()
    const { code, stderr } = await running
    assert.equal(code, 124)
    const [first, ...rest] = toldIn(stderr)
    assert.match(first!, /^gpu-1 is yours until \S+ \d\d:\d\d:\d\d UTC$/)
    assert.deepEqual(rest, [
      'the time of --for ran out; the command is told to end',
      'the command was ended, because the time of --for ran out; gpu-1 is given back',
    ])
    const [end, start] = [found!.planned_end!, found!.created_at as string].map(time => Date.parse(time)) as [
      number,
      number,
    ]
    assert.ok(end - start >= 2_000, `planned from ${start} to ${end}`)
    assert.deepEqual(await allocations(), [])
  })

  test('a node that is lost ends the command', async () => {
    const file = newFile()
    const { exit } = person.starts(run(...endless(file)))
    await started(file)
    const [found] = await allocations()
    const { code: gone, stdout, stderr: warned } = await person.types(`allocation delete ${found!.uuid} --now`)
    assert.deepEqual([gone, stdout], [0, `${found!.uuid} is gone\n`])
    assert.match(warned, /^holdfast: \S+@\S+ keeps .*two users may be on the machine\n$/)
    const { code, stderr } = await exit
    assert.equal(code, 4)
    assert.match(
      stderr,
      /the node is lost: (someone has deleted its allocation|it could not be renewed in time.*); the command was ended/,
    )
  })

  test('whoever ends it asks first: the command is told to end, and then the node is free', async () => {
    const file = newFile()
    const bye = `trap 'echo bye >> ${file}; exit 0' TERM; touch ${file}; while :; do sleep 0.05; done`
    const { exit } = person.starts(run('--', 'sh', '-c', bye))
    await started(file)
    const [found] = await allocations()
    const { code: asked, stdout } = await person.types([
      'allocation',
      'delete',
      found!.uuid,
      '--message',
      'the demo needs it',
    ])
    assert.equal(asked, 0)
    assert.match(
      stdout,
      /is kept by \S+@\S+, who is told that anyone ends it\.\s+The node is free by\s+\S+\s+\d\d:\d\d:\d\d UTC/,
    )
    const { code, stderr } = await exit
    assert.equal(code, 4)
    assert.match(stderr, /^holdfast: anyone takes gpu-1 back: the demo needs it; the command is told to end, and has/m)
    assert.match(stderr, /^holdfast: anyone takes gpu-1 back: the demo needs it; the command was ended$/m)
    assert.equal(readFileSync(file, 'utf8'), 'bye\n')
    assert.deepEqual(await allocations(), [])
  })

  test('a command on a node of a lease: whoever ends the lease asks first', async () => {
    const { leasableNodes, leases } = await person.library()
    const leased = await person.node('leased-1', 'leased')
    await leasableNodes.enrol(leased)
    const in10h = new Date(Date.now() + 36_000_000).toISOString().slice(0, 16).replace('T', ' ')
    const reservations = [{ resource_type: 'physical:node', resource_class: 'leased', min: 1, max: 1 }]
    const { id } = await leases.create({ name: 'week-8', start_date: 'now', end_date: in10h, reservations })
    await until(
      () => leases.show(id),
      ({ status }) => status === 'ACTIVE',
    )
    const inLease = (...words: string[]) => ['run', '--lease', 'week-8', '--renew-every', RENEW_EVERY, ...words]
    const file = newFile()
    const { exit } = person.starts(inLease('--for', '5h', ...endless(file)))
    await started(file)
    const [held] = await (await person.library()).allocations.list({ where: { node: leased } })
    assert.ok(held!.keeper !== null && held!.planned_end !== null && held!.expires_at === null)
    await person.isRefused(inLease('true'), 4, /no node of lease week-8 can be had for a command: .* is kept by/)
    await leases.delete(id)
    const { code, stderr } = await exit
    assert.equal(code, 4, stderr)
    assert.match(stderr, /anyone takes leased-1 back: lease week-8 ends; the command was ended/)
    await isFree()
    await person.isRefused(['run', '--lease', 'x', '--resource-class', 'gpu', 'true'], 2, /--lease/)
  })

  test('all that the command has started is over before the node is free', async () => {
    const file = newFile()
    const deaf = `trap "" TERM; echo $$ > ${file}; while :; do sleep 0.05; done`
    const { exit } = person.starts(run('--', 'sh', '-c', `sh -c '${deaf}' & wait`))
    const written = () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n')
    assert.ok(await until(async () => written(), Boolean), 'it has begun')
    const [found] = await allocations()
    await (await person.library()).allocations.delete(found!.uuid)
    const { code, stderr } = await exit
    assert.equal(code, 4, stderr)
    assert.deepEqual(await allocations(), [])
    const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', readFileSync(file, 'utf8').trim()])
    // The dead may still be listed.
    assert.match(stdout.toString(), /^(Z.*)?\s*$/, 'nothing of it is left')
  })

  test('a node that the command deployed is torn down and free', async () => {
    const deploy = `$0 node deploy $HOLDFAST_NODE_UUID --wait`
    const { code, stderr } = await person.starts(run('sh', '-c', deploy, BIN)).exit
    assert.equal(code, 0, stderr)
    await isFree()
    const { nodes } = await person.library()
    const { provision_state } = await until(
      () => nodes.show(node),
      found => found.provision_state === 'available',
    )
    assert.equal(provision_state, 'available')
  })

  test('without a node there is no command, and nothing is left', async () => {
    const file = newFile()
    await person.isRefused(run('--trait', 'CUSTOM_NONE', 'touch', file), 4, /1 without CUSTOM_NONE.*--wait 10m/)
    const { code, stderr } = await person.types(run('/nonexistent/command'))
    assert.deepEqual([code, /there is no command \/nonexistent\/command$/m.test(stderr)], [2, true], stderr)
    await person.isRefused(['run', 'true'], 2, /--resource-class/)
    assert.equal(existsSync(file), false)
    assert.deepEqual(await allocations(), [])
  })
})
