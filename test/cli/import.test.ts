// holdfast import and export: a fleet as a file.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Holdfast } from '../../src/client/index.ts'
import { type Server, startServer } from '../support/server.ts'
import { type Databases, eachDatabase } from '../support/stores.ts'
import { atLogin, BIN, ONE_KIND, Person, until } from './person.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-import-'))
after(() => rmSync(folder, { recursive: true }))

/** The name of a file with this in it. */
function fileOf(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const EXAMPLE = fileURLToPath(new URL('../../docs/examples/fleet.yaml', import.meta.url))

const reaches = async ({ nodes }: Holdfast, node: string, state: string) => {
  const seen = await until(
    () => nodes.show(node),
    ({ provision_state }) => provision_state === state,
  )
  assert.equal(seen.provision_state, state)
}

/** Something of all that a fleet file can say, and of what it leaves out. */
async function makeFleet(server: Holdfast): Promise<void> {
  const { nodes, ports, providers, hosts } = server
  const driver = 'fake-hardware'
  const all = await nodes.create({
    driver,
    name: 'all',
    resource_class: 'gpu.a100',
    description: 'a "quoted", text\nof two lines',
    owner: 'vision',
    lessee: 'speech',
    shard: 's1',
    automated_clean: false,
    bios_interface: 'no-bios',
    driver_info: { address: '10.0.0.1', deep: { list: [1, { a: null }] } },
    properties: { cpus: 8, memory_mb: '16384', local_gb: 100, capabilities: 'boot_mode:uefi' },
    extra: { rack: 7, '<<': 'merge', no: 'no', number: '7', empty: {}, 'a.b/c~d': false },
    network_data: { links: [] },
  })
  await nodes.setTraits(all.uuid, ['CUSTOM_A100', 'HW_CPU_X86_AVX2'])
  await ports.create({
    node_uuid: all.uuid,
    address: '52:54:00:00:00:01',
    pxe_enabled: false,
    physical_network: 'rack7',
    is_smartnic: true,
    local_link_connection: { switch_id: '0a:1b:2c:3d:4e:5f', port_id: 'Eth1/1', switch_info: 'tor' },
    extra: { slot: 1 },
  })
  await ports.create({ node_uuid: all.uuid, address: '52:54:00:00:00:00' })
  await nodes.create({ driver })
  const made = async (name: string, more: object = {}) => (await nodes.create({ driver, name, ...more })).uuid
  const [managed, retired, broken, deployed, leased] = [
    await made('managed'),
    await made('retired'),
    await made('broken'),
    await made('deployed', { resource_class: 'cpu' }),
    await made('leased'),
  ]
  for (const node of [all.uuid, managed, retired, broken, deployed, leased]) await nodes.provision(node, 'manage')
  for (const node of [all.uuid, managed, retired, broken, deployed, leased]) await reaches(server, node, 'manageable')
  for (const node of [all.uuid, broken, deployed, leased]) await nodes.provision(node, 'provide')
  for (const node of [all.uuid, broken, deployed, leased]) await reaches(server, node, 'available')
  await nodes.update(retired, [
    { op: 'add', path: '/retired', value: true },
    { op: 'add', path: '/retired_reason', value: 'old' },
  ])
  await nodes.startMaintenance(broken, 'fan')
  await server.leasableNodes.enrol(leased)
  await nodes.provision(deployed, 'active')
  await reaches(server, deployed, 'active')

  const provider = async (name: string, parent: string | null, more: Record<string, number>, traits: string[] = []) => {
    const { uuid } = await providers.create({ name, parent_provider_uuid: parent })
    await server.resourceClasses.ensure(Object.keys(more))
    await server.traits.ensure(traits)
    const amounts = Object.fromEntries(Object.entries(more).map(([name, total]) => [name, { total }]))
    const generation = await providers.setInventories(uuid, amounts, 0)
    await providers.setTraits(uuid, traits, generation)
    return uuid
  }
  const compute = await provider('compute', null, { VCPU: 8, MEMORY_MB: 1024, DISK_GB: 10 }, ['COMPUTE_NODE'])
  await provider('a cell', compute, { PCPU: 4, CUSTOM_PAGES: 8 }, ['CUSTOM_NEAR'])
  await provider('a card', all.uuid, { CUSTOM_FPGA: 1 })
  const shared = await provider('a storage', null, { DISK_GB: 1000 }, ['MISC_SHARES_VIA_AGGREGATE'])
  const { generation } = await providers.find(shared)
  const terms = { total: 1000, reserved: 10, min_unit: 2, max_unit: 100, step_size: 2, allocation_ratio: 1.5 }
  const after = await providers.setInventories(shared, { DISK_GB: terms }, generation)
  await providers.setAggregates(shared, ['7a1f0c52-5a0e-4c1b-9e53-2b1d3f6c0007'], after)
  await hosts.create('compute', { gpu: 'no', rack: '7' })
}

const onServers = (databases: Databases) => {
  const servers: Server[] = []
  const start = async () => {
    const server = await startServer(await databases.create(), { auth: 'none', placementPolicy: 'secure' })
    servers.push(server)
    return new Person(() => server.origin)
  }
  let person: Person
  before(async () => {
    person = await start()
  })
  after(async () => {
    for (const server of servers) {
      const { fsck } = await new Person(() => server.origin).library()
      assert.equal((await fsck()).violations, 0)
      await server.stop()
    }
  })

  test('what was exported, imported into an empty server and exported again, is the same', async () => {
    const [from, to] = [await start(), await start()]
    await makeFleet(await from.library())
    const document = await from.reads('export')
    const file = fileOf('all.yaml', document)
    assert.equal(await from.reads(`import ${file}`), '0 created, 0 changed, 12 unchanged')
    assert.equal(await to.reads(`import ${file}`), '12 created, 0 changed, 0 unchanged')
    assert.equal(await to.reads('export'), document)
    const csv = await from.reads('export -f csv')
    const third = await start()
    assert.equal(await third.reads(`import ${fileOf('all.csv', csv)}`), '7 created, 0 changed, 0 unchanged')
    assert.deepEqual((await (await third.library()).nodes.show('all'))['extra'], {
      rack: 7,
      '<<': 'merge',
      no: 'no',
      number: '7',
      empty: {},
      'a.b/c~d': false,
    })
  })

  test('the example in the docs is imported, and again without a change', async () => {
    const fresh = await start()
    const server = await fresh.library()
    assert.equal(await fresh.reads(`import ${EXAMPLE}`), '17 created, 0 changed, 0 unchanged')
    assert.equal(await fresh.reads(`import ${EXAMPLE}`), '0 created, 0 changed, 17 unchanged')
    const found = await server.nodes.list({ where: { provision_state: 'available' }, traits: ['CUSTOM_A100'] })
    assert.deepEqual([found.length, found.filter(({ maintenance }) => maintenance).length], [8, 1])
    assert.equal((await server.leasableNodes.list()).length, 6)
    assert.equal((await server.ports.list()).length, 16)
    assert.equal((await server.hosts.list()).length, 2)
    const { candidates } = server
    assert.ok((await candidates.list({ resources: 'PCPU:4,CUSTOM_HUGEPAGES_1G:2' })).allocation_requests.length > 0)
    const only = await fresh.reads('export --only hosts')
    assert.match(only, /^hosts:\n  - name: rack7-hv1\n/)
  })

  test('a file with ten mistakes lists all ten and changes nothing', async () => {
    const { nodes, ports } = await person.library()
    const { uuid } = await nodes.create({ driver: 'fake-hardware', name: 'taken' })
    await ports.create({ node_uuid: uuid, address: '52:54:00:01:00:00' })
    const file = fileOf(
      'mistakes.yaml',
      `nodes:
  - { name: fine, driver: fake-hardware }
  - { name: bad name, driver: fake-hardware }
  - { name: m1, driver: fake-hardware, colour: red }
  - { name: m2, driver: fake-hardware, traits: [red] }
  - { name: m3, driver: steam-engine }
  - { name: fine, driver: fake-hardware }
  - { name: taken, uuid: 6d3e9c40-8d2c-4ee4-a2ea-bbd1b6c4b4d5, driver: fake-hardware }
  - { name: m4, driver: fake-hardware, ports: ['52:54:00:01:00:00'] }
providers:
  - { name: p1, parent: nowhere }
  - { name: p2, inventories: { VCPU: many } }
hosts:
  - { name: no-hypervisor }
`,
    )
    const { code, stdout, stderr } = await person.types(`import ${file}`)
    assert.equal(code, 2)
    assert.equal(stdout, '')
    const lines = stderr.trimEnd().split('\n')
    assert.equal(lines.at(-1), 'holdfast: 10 mistakes; nothing was changed')
    assert.deepEqual(
      lines.slice(0, -1).map(line => /:(\d+):\d+: /.exec(line)?.[1]),
      ['3', '4', '5', '6', '7', '8', '9', '11', '12', '14'],
    )
    assert.deepEqual(
      (await nodes.list()).map(({ name }) => name),
      ['taken'],
    )
    const clash = fileOf('clash.yaml', "nodes: [{ name: x, driver: fake-hardware, ports: ['52:54:00:01:00:00'] }]")
    assert.equal((await person.types(`import ${clash}`)).code, 4, 'the file is fine, and someone else has it')
    await nodes.delete('taken')
  })

  test('only what a file names is changed, and a dry run tells it before', async () => {
    const { nodes, ports } = await person.library()
    const { uuid } = await nodes.create({ driver: 'fake-hardware', name: 'old', owner: 'lab', extra: { a: 1, b: 2 } })
    await ports.create({ node_uuid: uuid, address: '52:54:00:02:00:00' })
    const file = fileOf(
      'change.yaml',
      `nodes:
  - { name: old, description: mended, extra: { b: 3 }, traits: [CUSTOM_X], ports: ['52:54:00:02:00:01'] }
  - { name: new, driver: fake-hardware }
`,
    )
    const told = await person.reads(`import --dry-run ${file}`)
    assert.match(told, /^change +node +old +description, extra\.b, traits, ports$/m)
    assert.match(told, /^create +node +new +name, driver$/m)
    assert.match(told, /1 to create, 1 to change, 0 unchanged; nothing was changed$/)
    assert.equal((await nodes.show('old'))['description'], null)
    assert.equal(await person.reads(`import ${file}`), '1 created, 1 changed, 0 unchanged')
    const { owner, extra, description, traits } = await nodes.show('old')
    assert.deepEqual([owner, extra, description, traits], ['lab', { a: 1, b: 3 }, 'mended', ['CUSTOM_X']])
    assert.equal((await ports.list({ node: 'old' })).length, 2, 'nothing is deleted')
    for (const name of ['old', 'new']) await nodes.delete(name)
  })

  test('a list of host names under one heading is a lab of machines that can be had', async () => {
    const { nodes } = await person.library()
    const names = fileOf('hosts.csv', 'name\nhost-a\nhost-b.lab.example\n')
    assert.equal(await person.reads(`import ${names}`), '2 created, 0 changed, 0 unchanged')
    assert.equal(await person.reads(`import ${names}`), '0 created, 0 changed, 2 unchanged')
    await person.reads('allocation create --resource-class baremetal --candidate-node host-a --name lab-a --wait')
    assert.equal(await person.reads('allocation show lab-a -f value -c state'), 'active')
    await person.reads('allocation delete lab-a')
    for (const name of ['host-a', 'host-b.lab.example']) await nodes.delete(name)
    const bare = fileOf('bare.csv', 'host-a\nhost-b\n')
    assert.match((await person.types(`import ${bare}`)).stderr, /no column host-a; .* the first line must be: name/)
  })

  test('a table with quoted cells, from standard input', async () => {
    const { nodes, ports } = await person.library()
    const text = `name,driver,description,properties.cpus,extra.note,traits,ports,provision_state
t1,fake-hardware,"two ""words"", and
a line",64,"[1, 2]",CUSTOM_A CUSTOM_B,52:54:00:03:00:00 52-54-00-03-00-01,manageable
t2,,,,,,,
`
    const line = `${BIN} import -f csv - --url ${person.origin} < ${fileOf('table', text)}`
    const { stdout } = await promisify(execFile)('sh', ['-c', line])
    assert.equal(stdout, '2 created, 0 changed, 0 unchanged\n')
    const t2 = await nodes.show('t2')
    assert.deepEqual([t2['driver'], t2['resource_class'], t2.provision_state], ['manual', 'baremetal', 'available'])
    const node = await nodes.show('t1')
    assert.deepEqual(
      [node['description'], node['properties'], node['extra'], node.traits, node.provision_state],
      ['two "words", and\na line', { cpus: 64 }, { note: [1, 2] }, ['CUSTOM_A', 'CUSTOM_B'], 'manageable'],
    )
    assert.equal((await ports.list({ node: 't1' })).length, 2)
    for (const name of ['t1', 't2']) await nodes.delete(name)
  })

  test('an import that was interrupted is finished by running it again', async () => {
    const { nodes, ports } = await person.library()
    const entry = (_: unknown, at: number) => ({
      name: `i${at}`,
      driver: 'fake-hardware',
      // A secret is written each time, for which a node has to be at rest.
      driver_info: { fake_delay: { clean: 2 }, password: 'secret' },
      traits: ['CUSTOM_I'],
      ports: [`52:54:00:04:00:${String(at + 10)}`],
      provision_state: 'available',
    })
    const file = fileOf('interrupted.json', JSON.stringify({ nodes: Array.from({ length: 40 }, entry) }))
    // While nodes are written, and while they are on their way.
    for (const provision_state of ['enroll', 'cleaning']) {
      const { child, exit } = person.starts(`import ${file}`)
      await until(
        () => nodes.list({ where: { provision_state } }),
        found => found.length > 0,
      )
      child.kill('SIGKILL')
      await exit
    }
    assert.ok((await nodes.list({ where: { provision_state: 'available' } })).length < 40, 'there is something left')
    const { code, stdout, stderr } = await person.types(`import ${file}`)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^\d+ created, \d+ changed, 0 unchanged\n$/)
    const found = await nodes.list({ traits: ['CUSTOM_I'], where: { provision_state: 'available' } })
    assert.deepEqual([found.length, (await ports.list()).length], [40, 40])
    for (const { uuid } of found) await nodes.delete(uuid)
  })

  test('what fails is told, the rest is done, and the next run does what is left', async () => {
    const { nodes } = await person.library()
    const file = fileOf(
      'failing.yaml',
      `nodes:
  - { name: bad, driver: fake-hardware, provision_state: available }
  - { name: good, driver: fake-hardware, provision_state: available }
`,
    )
    await nodes.create({ driver: 'fake-hardware', name: 'bad', driver_info: { fake_fail: 'clean' } })
    const { code, stdout, stderr } = await person.types(`import ${file}`)
    assert.equal(code, 1)
    assert.equal(stdout, '1 created, 0 changed, 0 unchanged, 1 failed\n')
    assert.match(
      stderr,
      /^holdfast: node bad: it is clean failed, not available: fake-hardware was told to fail at clean$/m,
    )
    await nodes.update('bad', [{ op: 'remove', path: '/driver_info/fake_fail' }])
    assert.equal(await person.reads(`import ${file}`), '0 created, 1 changed, 1 unchanged')
    assert.equal((await nodes.show('bad')).provision_state, 'available')
    const slow = '{ name: slow, driver: fake-hardware, driver_info: { fake_delay: 600 }, provision_state: manageable }'
    const late = await person.types(`import --wait 1s ${fileOf('slow.yaml', `nodes: [${slow}]`)}`)
    assert.equal(late.code, 1)
    assert.match(late.stderr, /^holdfast: node slow: gave up after \d+ s: waiting for 1 node$/m)
  })

  test('secrets are neither exported nor lost', async () => {
    const secret = await start()
    const { nodes } = await secret.library()
    await nodes.create({ driver: 'fake-hardware', name: 's', driver_info: { user: 'u', ipmi_password: 'x' } })
    const file = join(folder, 'secret.yaml')
    const { stderr } = await secret.types(`export -o ${file}`)
    assert.equal(stderr, 'left out, since the server shows no secrets: s driver_info.ipmi_password\n')
    assert.doesNotMatch(readFileSync(file, 'utf8'), /password|\*\*/)
    assert.equal(await secret.reads(`import ${file}`), '0 created, 0 changed, 1 unchanged')
    assert.deepEqual((await nodes.show('s'))['driver_info'], { user: 'u', ipmi_password: '******' })
    await secret.isRefused('export --only hosts -o /nowhere/fleet.yaml', 2, /can't write \/nowhere\/fleet\.yaml/)
  })
}

eachDatabase('holdfast import', onServers, ONE_KIND)

test('what can not be read, and what can not be meant, is told in one line before anybody is asked', async () => {
  const person = new Person(() => 'http://127.0.0.1:9')
  writeFileSync(join(folder, 'bytes.yaml'), Buffer.from([0xff, 0xfe, 0x00]))
  await person.isRefused('import /nowhere/fleet.yaml', 2, /can't read \/nowhere\/fleet\.yaml/)
  await person.isRefused(`import ${join(folder, 'bytes.yaml')}`, 2, /is no UTF-8 text/)
  await person.isRefused(`import ${EXAMPLE}`, 6, /no answer/)
  await person.isRefused('export --only racks', 2, /there are nodes, providers, hosts/)
  await person.isRefused('export -f csv --only hosts', 2, /csv has only nodes/)
  const told = await person.types(`import ${fileOf('wrong.yaml', 'nodes: [{ name: n1, colour: red }]')}`)
  assert.equal(told.code, 2, 'mistakes can be told without a server')
  assert.match(told.stderr, /wrong\.yaml:1:21: nodes\[0\]\.colour: is unknown here/)
})

atLogin('holdfast import and who one is', ({ api }) => {
  const person = new Person(() => api.origin)
  const as = (name: string) => ({ OS_USERNAME: name, OS_PASSWORD: `${name}-pw`, OS_PROJECT_NAME: 'lab' })

  test('without permission nothing is changed, and the exit code is 5', async () => {
    const rows = Array.from({ length: 20 }, (_, at) => `u${at},fake-hardware`)
    const nodes = fileOf('not-mine.csv', `name,driver\n${rows.join('\n')}\n`)
    const refused = await person.types(`import ${nodes}`, as('bob'))
    assert.equal(refused.code, 5, refused.stderr)
    assert.match(refused.stdout, /^0 created, 0 changed, 0 unchanged, \d failed, \d+ not tried\n$/)
    const providers = await person.types(`import ${EXAMPLE}`, as('bob'))
    assert.equal(providers.code, 5, providers.stderr)
    const nobody = await person.types(`import ${nodes}`)
    assert.equal(nobody.code, 5, nobody.stderr)
    const { stdout } = await person.types('export -f json', as('alice'))
    assert.deepEqual(JSON.parse(stdout), { nodes: [], providers: [], hosts: [] })
  })
})
