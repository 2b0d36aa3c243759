// holdfast demo: a fleet from nothing, life on it, and nothing left of it.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { connect, type Holdfast } from '../../src/client/index.ts'
import { readUsersFile } from '../../src/identity/users-file.ts'
import { user } from '../support/identity.ts'
import { ColumnOption } from '../../src/cli/client-command.ts'
import { widthOf } from '../../src/cli/width.ts'
import { everyCommand, pathOf, PROGRAM } from '../docs/command-tree.ts'
import { atLogin, atShell, Person, until } from './person.ts'

const BOLD = '\u001b[1m'
/** Lists that need to be told of what. */
const NEEDED: Record<string, string> = {
  'candidate list': 'candidate list --resource VCPU=1 --limit 5',
  'candidate explain': 'candidate explain --resource VCPU=1',
  usage: 'usage --provider compute-01',
}

/** Ids of all there is, by kind. */
async function everything(server: Holdfast): Promise<Record<string, string[]>> {
  const uuids = (list: readonly { uuid: string }[]) => list.map(({ uuid }) => uuid).toSorted()
  const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id).toSorted()
  return {
    nodes: uuids(await server.nodes.list()),
    ports: uuids(await server.ports.list()),
    chassis: uuids(await server.chassis.list()),
    allocations: uuids(await server.allocations.list()),
    holds: uuids(await server.reservations.list()),
    providers: uuids(await server.providers.list()),
    leases: ids(await server.leases.list()),
    hosts: ids(await server.hosts.list()),
    leasable: (await server.leasableNodes.list()).map(({ node }) => node).toSorted(),
    flavors: ids(await server.flavors.list()),
    servers: ids(await server.servers.list({ all_tenants: 1 })),
    traits: await server.traits.list(),
    classes: await server.resourceClasses.list(),
  }
}

const countBy = <T>(list: readonly T[], wordFor: (one: T) => string) =>
  Object.fromEntries([...Map.groupBy(list, wordFor)].map(([word, { length }]) => [word, length]))

async function requireWhole(server: Holdfast): Promise<void> {
  const { violations, invariants } = await server.fsck()
  assert.equal(violations, 0, JSON.stringify(invariants.filter(({ violations }) => violations > 0)))
}

atShell('holdfast demo', person => {
  let server: Holdfast
  let atFirst: Record<string, string[]>
  /** When it was filled. */
  let said = ''
  before(async () => {
    server = await person.library()
    await person.node('theirs', 'gpu-a100')
    // A name of the demo's that someone had before.
    await server.traits.ensure(['CUSTOM_H100'])
    atFirst = await everything(server)
  })

  test('bad options are told in one line', async () => {
    await person.isRefused('demo --nodes 5', 2, /--nodes is from 30 to 5000/)
    await person.isRefused('demo --for 5s', 2, /--for goes with --live/)
    await person.isRefused('demo --remove --live', 2, /--remove goes alone/)
  })

  test('among machines of others it is not made unless it is asked for', async () => {
    await person.isRefused('demo --nodes 30', 4, /has 1 nodes .* not the demo's \(--beside adds/)
    assert.deepEqual(await everything(server), atFirst)
  })

  test('one that was cut off is not gone on with, and is removed whole', async () => {
    const command = person.starts('demo --nodes 30 --beside')
    await until(
      () => server.nodes.list(),
      ({ length }) => length > 10,
    )
    command.child.kill('SIGKILL')
    await command.exit
    await person.isRefused('demo --nodes 30 --beside', 4, /was cut off .*--remove/)
    assert.match(await person.reads('demo --remove'), /^The demo is gone: \d+ things\.$/)
    assert.deepEqual(await everything(server), atFirst)
    assert.equal(await person.reads('demo --remove'), 'There was nothing of the demo.')
  })

  test('it makes a fleet with everything in it', async () => {
    said = await person.reads('demo --nodes 30 --beside')
    const [, counts] = /^nodes +30 +(.*)$/m.exec(said)!
    const sum = counts!.matchAll(/\d+/g).reduce((all, [count]) => all + Number(count), 0)
    assert.equal(sum, 30, `each machine is one thing, as status says: ${counts}`)
    assert.match(counts!, /\d+ free.*\d maintenance/)
    assert.match(said, /^leases +16 +10 to come, 3 over, 3 running$/m)
    const nodes = await server.nodes.list({ traits: ['CUSTOM_DEMO'], fields: NODE_FIELDS })
    const states = countBy(nodes, ({ provision_state }) => provision_state)
    for (const state of ['enroll', 'manageable', 'clean failed', 'deploy failed', 'available', 'active']) {
      assert.ok(states[state]! > 0, `${state}: ${JSON.stringify(states)}`)
    }
    assert.equal(nodes.length, 30)
    assert.ok(nodes.some(node => node.maintenance && node['maintenance_reason']))
    assert.ok(nodes.every(node => node['owner'] && node['chassis_uuid']) && nodes.some(node => node['lessee']))
    assert.equal(new Set(nodes.map(({ resource_class }) => resource_class)).size, 6)
    assert.ok((await server.ports.list()).length >= 30)
    const allocations = await server.allocations.list()
    assert.deepEqual(new Set(allocations.map(({ state }) => state)), new Set(['active', 'allocating', 'error']))
    assert.ok(allocations.some(({ expires_at }) => expires_at) && allocations.every(one => one['owner']))
    assert.match(allocations.find(({ name }) => name === 'bert-nvlink-ib')!.last_error!, /without CUSTOM_INFINIBAND/)
    assert.ok((await server.reservations.list()).length > 0)
    await requireWhole(server)
  })

  const NODE_FIELDS =
    'uuid provision_state maintenance maintenance_reason owner lessee chassis_uuid resource_class'.split(' ')

  test('and hosts, leases and servers', async () => {
    const leases = await server.leases.list()
    assert.deepEqual(
      countBy(leases, ({ status }) => status),
      { TERMINATED: 3, ACTIVE: 3, PENDING: 10 },
    )
    const types = leases.flatMap(({ reservations }) => reservations.map(one => one['resource_type'] as string))
    assert.deepEqual(new Set(types), new Set(['virtual:instance', 'physical:host', 'physical:node']))
    assert.ok((await server.hosts.list()).length >= 4 && (await server.leasableNodes.list()).length >= 4)
    const servers = await server.servers.list({ all_tenants: 1 })
    const statuses = countBy(servers, ({ status }) => status)
    assert.ok(statuses['ACTIVE']! > 5 && statuses['ERROR'] === 1, JSON.stringify(statuses))
    assert.ok(servers.some(({ name }) => name === 'sprint-worker-1'))
    const { allocation_requests: found } = await server.candidates.list({
      resources: 'VCPU:8,MEMORY_MB:32768,DISK_GB:100,PGPU:1',
      required: 'CUSTOM_NVLINK',
    })
    assert.ok(found.length > 0 && found.every(({ allocations }) => Object.keys(allocations).length >= 3))
    assert.ok((await server.usage.ofProject(await projectOf('ops')))['BATCH_JOB'] !== undefined)
  })

  const projectOf = async (project: string) => {
    const env = { OS_USERNAME: 'alice', OS_PASSWORD: 'x', OS_PROJECT_NAME: project }
    return (await connect({ url: person.origin, env })).project!
  }

  test('each command that it proposes has something to say', async () => {
    const proposed = said.match(/^ {2}\S*holdfast .+$/gm)!.map(line => line.trim().replace(/^\S+ /, ''))
    assert.ok(proposed.length >= 7)
    for (const line of proposed.filter(line => !line.startsWith('demo'))) {
      const words = line.match(/'[^']*'|\S+/g)!.map(word => word.replaceAll("'", ''))
      assert.ok((await person.reads(words)).split('\n').length > 1, line)
    }
  })

  test('a second time nothing is added, and what others have is as it was', async () => {
    const present = await everything(server)
    assert.match(
      await person.reads('demo --nodes 100 --seed 3'),
      /here already \(30 nodes, seed 7\); nothing was added/,
    )
    assert.deepEqual(await everything(server), present)
    assert.equal((await server.nodes.show('theirs')).instance_uuid, null)
  })

  test('its people are at work, say so line by line, and give everything back', async () => {
    const present = await everything(server)
    const said = await person.reads('demo --live --for 3s --pace 1500')
    const events = said.match(/^\d\d:\d\d:\d\d {2}(alice|bob|carol) +\S.*$/gm) ?? []
    assert.ok(events.length > 10, said)
    assert.match(said, /allocation \S+ → rack-/)
    assert.match(said, new RegExp(`^${events.length} events, \\d+ of them refusals; .*given back\\.$`, 'm'))
    await requireWhole(server)
    // A node that was in use is torn down before its allocation ends.
    await until(
      () => server.allocations.list(),
      ({ length }) => length <= present['allocations']!.length,
    )
    // A hold that was forgotten lapses by itself.
    const { holds: _, ...left } = await everything(server)
    const { holds: __, ...had } = present
    assert.deepEqual(left, had)
    assert.equal((await server.nodes.show('theirs')).instance_uuid, null)
  })

  test('every list fits a terminal: no line is wrapped, no heading cut, no name lost', async () => {
    const names = (await server.nodes.list({ fields: ['name'] })).map(({ name }) => name!)
    const lists = everyCommand(PROGRAM)
      .filter(({ options, registeredArguments }) => {
        const columns = options.find(option => option instanceof ColumnOption)
        return (
          columns !== undefined && columns.columns.length > 0 && !registeredArguments.some(({ required }) => required)
        )
      })
      .map(pathOf)
    for (const line of ['node list', 'allocation list', 'lease list', 'audit']) assert.ok(lists.includes(line), line)
    for (const columns of [80, 120]) {
      for (const line of lists) {
        const { shown } = await person.looksAt(NEEDED[line] ?? line, columns)
        for (const row of shown.split('\n')) {
          const plain = stripVTControlCharacters(row)
          assert.ok(widthOf(plain) <= columns, `${line}: ${plain}`)
          // A calendar is a drawing.
          if (row.includes(BOLD) && line !== 'calendar') assert.doesNotMatch(plain, /…/, line)
        }
        if (line === 'node list') for (const name of names) assert.ok(shown.includes(name), name)
      }
    }
  })

  test('who interrupts it is told what was done', async () => {
    const command = person.starts('demo --live --pace 600')
    await until(
      async () => command.stdout(),
      said => said.includes('→ rack-'),
    )
    command.child.kill('SIGINT')
    const { code, stdout } = await command.exit
    assert.equal(code, 0)
    assert.match(stdout, /^\d+ events, \d+ of them refusals; what was taken is given back\.$/m)
  })

  /** Those that nobody has or waits for. A hold that was forgotten lasts for minutes. */
  async function freeNodes() {
    const held = new Set((await server.reservations.list()).map(({ node_uuid }) => node_uuid))
    const leasable = new Set((await server.leasableNodes.list()).map(({ node }) => node))
    const where = { provision_state: 'available', associated: false, maintenance: false }
    const nodes = await server.nodes.list({ traits: ['CUSTOM_DEMO'], where, fields: NODE_FIELDS })
    return nodes.filter(({ uuid }) => !held.has(uuid) && !leasable.has(uuid))
  }

  test('it goes as it came, with what was put on its machines, and leaves the rest', async () => {
    const [free] = await until(freeNodes, ({ length }) => length > 0)
    const { uuid, resource_class } = free!
    const mine = await server.allocations.create({
      resource_class: resource_class!,
      candidate_nodes: [uuid],
      wait_until: '1m',
    })
    const { state } = await until(
      () => server.allocations.show(mine.uuid),
      ({ state }) => state === 'active',
    )
    assert.equal(state, 'active')
    assert.match(await person.reads('demo --remove'), /^The demo is gone: \d+ things\.$/)
    await assert.rejects(server.allocations.show(mine.uuid), /could not be found/)
    assert.deepEqual(await everything(server), atFirst)
    await requireWhole(server)
  })
})

atLogin('holdfast demo with users', ({ api, file, rewrite }) => {
  const person = new Person(() => api.origin)
  const root = { OS_USERNAME: 'root', OS_PASSWORD: 'root-pw', OS_PROJECT_NAME: 'lab' }

  test('users of the same names are left alone', async () => {
    const asAlice = { OS_USERNAME: 'alice', OS_PASSWORD: 'alice-pw', OS_PROJECT_NAME: 'lab' }
    const { code, stderr } = await person.types(`demo --nodes 30 --users ${file()}`, asAlice)
    assert.equal(code, 2)
    assert.match(stderr, /has a user alice of its own; demo needs that name\n$/)
    assert.equal((await (await connect({ url: person.origin, env: asAlice })).chassis.list()).length, 0)
  })

  test('its people become users, make their things themselves, and go again', async () => {
    const before = await api.token('alice')
    await rewrite(Object.fromEntries([user('root', { lab: ['admin'] })]))
    // When she is gone, the file has been read again.
    await until(
      () => api.knock(before),
      status => status === 401,
    )
    const made = await person.types(`demo --nodes 30 --users ${file()}`, root)
    assert.equal(made.code, 0, made.stderr)
    const password = /^alice +vision +member +\w+ +(\S+)$/m.exec(made.stdout)![1]!
    const env = { OS_USERNAME: 'alice', OS_PASSWORD: password, OS_PROJECT_NAME: 'vision' }
    const alice = await connect({ url: person.origin, env })
    const hers = await alice.allocations.list()
    assert.ok(hers.length > 0 && hers.every(one => one['owner'] === alice.project))
    assert.ok((await alice.leases.list()).every(({ name }) => name.startsWith('vision-')))
    const removed = await person.types(`demo --remove --users ${file()}`, root)
    assert.equal(removed.code, 0, removed.stderr)
    assert.match(removed.stdout, /Users removed: alice, bob, carol/)
    const { users, projects } = readUsersFile(file())
    assert.deepEqual([Object.keys(users), Object.keys(projects)], [['root'], ['lab', 'office', 'service']])
  })
})
