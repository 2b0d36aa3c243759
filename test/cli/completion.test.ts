// What the Tab key brings: words, options and live names, in the shells that people have.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { inParallel } from '../races/clients.ts'
import { Placement } from '../support/placement.ts'
import { type Server, startServer } from '../support/server.ts'
import { hasScript, Person, until } from './person.ts'

let server: Server
const person = new Person(() => server.origin)
const folder = mkdtempSync(join(tmpdir(), 'holdfast-completion-'))
const clouds = join(folder, 'clouds.yaml')
writeFileSync(clouds, 'clouds: {lab: {}, large-lab: {}}')
const UNNAMED = 'feed0000-0000-4000-8000-000000000001'

before(async () => {
  server = await startServer('sqlite::memory:', { auth: 'none', placementPolicy: 'secure' })
  const { nodes, allocations, hosts, leases } = await person.library()
  await nodes.create({ driver: 'fake-hardware', name: 'zebra-1', resource_class: 'gpu' })
  await nodes.create({ driver: 'fake-hardware', name: 'zebra-2', resource_class: 'cpu' })
  await nodes.create({ driver: 'fake-hardware', name: 'yak', uuid: 'abcd0000-0000-4000-8000-000000000001' })
  await nodes.create({ driver: 'fake-hardware', uuid: UNNAMED })
  await nodes.addTrait('zebra-1', 'CUSTOM_STRIPES')
  await allocations.create({ resource_class: 'gpu', name: 'job-1', wait_until: '1h' })
  const placement = new Placement(server.origin)
  await placement.provider({ VCPU: 8, MEMORY_MB: 1024, DISK_GB: 10 }, { name: 'compute-1' })
  placement.close()
  await hosts.create('compute-1')
  const reservation = { resource_type: 'virtual:instance', vcpus: 1, memory_mb: 1, disk_gb: 1, amount: 1 }
  await leases.create({
    name: 'week 7',
    start_date: '2090-01-01 10:00',
    end_date: '2090-01-02 10:00',
    reservations: [reservation],
  })
})
after(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

/** What a shell is told: the words with their help, one a line. */
const asked = (...words: string[]) => person.reads(['__complete', '--', ...words])
/** The words alone, for a line up to the Tab key. */
const offered = async (line: string) => {
  const { stdout, stderr } = await person.types(['__complete', '--', ...line.split(' ')], {
    OS_CLIENT_CONFIG_FILE: clouds,
  })
  assert.equal(stderr, '')
  return stdout
    .split('\n')
    .filter(Boolean)
    .map(one => (one.startsWith('\t') ? one : one.split('\t', 1)[0]))
}

test('words, options, choices, and the names that there are now', async () => {
  const lines: Record<string, string[]> = {
    no: ['node'],
    'reservation-c': ['reservation-create'],
    'help aud': ['audit'],
    'node s': ['show', 'set', 'sensors'],
    'node power ': ['on', 'off', 'reboot'],
    'node list --trait': ['--trait', '--trait-any'],
    'node list --maintenance --main': [],
    'node list -f ': ['table', 'json', 'yaml', 'csv', 'value'],
    'node list --format=y': ['--format=yaml'],
    'lease list -c ': ['id', 'name', 'who', 'what', 'status', 'start_date', 'end_date', 'degraded'],
    'node show zebra-1 -c provision': ['provision_state', 'provision_updated_at'],
    'allocation list --fields uuid st': ['state'],
    'allocation list --state ': ['allocating', 'active', 'error'],
    'completion ': ['bash', 'zsh', 'fish'],
    'node show ': [UNNAMED, 'yak', 'zebra-1', 'zebra-2'],
    // Whoever begins with an id goes on with one.
    'node show abc': ['abcd0000-0000-4000-8000-000000000001'],
    'node deploy zebra-1 zebra-': ['zebra-1', 'zebra-2'],
    'node show zebra-1 z': [],
    'node list --trait ': ['CUSTOM_STRIPES'],
    'node add trait zebra-1 HW_CPU_X86_AVX512B': ['HW_CPU_X86_AVX512BITALG', 'HW_CPU_X86_AVX512BW'],
    'node list --trait=CUSTOM': ['--trait=CUSTOM_STRIPES'],
    'node list --resource-class ': ['cpu', 'gpu'],
    'node set yak --resource-class g': ['gpu'],
    'node list --provision-state ': ['enroll'],
    'allocation delete ': ['job-1'],
    'reservation list --node y': ['yak'],
    'lease show w': ['week 7'],
    'host delete ': ['compute-1'],
    'provider show co': ['compute-1'],
    'usage --provider co': ['compute-1'],
    'candidate list --resource VCP': ['VCPU='],
    'quota set default no': ['nodes='],
    'node list --os-cloud la': ['lab', 'large-lab'],
    'run --resource-class gpu ': ['\tcommands'],
    'run --resource-class gpu -- ls -': ['\tfiles'],
    'serve --config ': ['\tfiles'],
    'lease create ': [],
    'frobnicate ': [],
    'node list --url http://127.0.0.1:9 --trait ': [],
  }
  const cases = Object.entries(lines)
  await inParallel(2, cases.length, async index => {
    const [line, expected] = cases[index]!
    // On a busy machine even an answer may take longer than the second that it has.
    const found = await until(
      () => offered(line),
      words => words.length === expected.length,
    )
    assert.deepEqual(found, expected, line)
  })
  assert.match(await asked('node', 'sh'), /^show\tshow a node$/)
})

test('a server that is slow, away, or wants a password is not waited for, and nothing is said', async () => {
  const sockets = new Set<Socket>()
  const slow = createServer(socket => void sockets.add(socket)).listen(0, '127.0.0.1')
  await once(slow, 'listening')
  const words = ['__complete', '--', 'node', 'show', '']
  const surroundings: Record<string, string>[] = [
    { HOLDFAST_URL: `http://127.0.0.1:${(slow.address() as AddressInfo).port}` },
    { HOLDFAST_URL: 'http://127.0.0.1:9' },
    { HOLDFAST_URL: 'no url' },
    { OS_CLOUD: 'no-such-cloud' },
    { OS_AUTH_URL: 'http://127.0.0.1:9', OS_USERNAME: 'ann', OS_PROJECT_NAME: 'lab' },
  ]
  for (const surrounding of surroundings) {
    const started = performance.now()
    const { code, stdout, stderr } = await person.starts(words, surrounding).exit
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '', stderr: '' }, JSON.stringify(surrounding))
    // A second, and what it takes a busy machine to start us.
    assert.ok(performance.now() - started < 5_000)
  }
  for (const socket of sockets) socket.destroy()
  slow.close()
})

test('bash is told what fits, also behind = and in quotes', async () => {
  const tries: [string[], string[]][] = [
    [['node', 'show', 'nobody'], []],
    [
      ['node', 'show', 'zeb'],
      ['zebra-1', 'zebra-2'],
    ],
    [['node', 'list', '--trait', '=', 'CUST'], ['CUSTOM_STRIPES']],
    [['node', 'list', '--trait', '='], ['CUSTOM_STRIPES']],
    [['lease', 'show', 'w'], ['week\\ 7']],
    [['lease', 'show', 'week\\ '], ['week\\ 7']],
    [['lease', 'show', '"w'], ['week 7']],
  ]
  // As bash does it: the words, which of them is the last, and then the function.
  const script = tries.map(([words]) => {
    const quoted = words.map(word => `'${word}'`).join(' ')
    return `COMP_WORDS=(holdfast ${quoted}) COMP_CWORD=${words.length}; _holdfast holdfast; (IFS='|'; echo "\${COMPREPLY[*]}")`
  })
  const expected = tries.map(([, words]) => `${words.join('|')}\n`).join('')
  await shellPrints(expected, 'bash', '-c', `source <(holdfast completion bash); ${script.join('\n')}`)
})

/** Asked again where a busy machine needed more than the second. */
async function shellPrints(expected: string, shell: string, ...args: string[]): Promise<void> {
  const ask = async () => {
    const child = spawn(shell, args, { env: person.environment(), stdio: ['ignore', 'pipe', 'pipe'] })
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    assert.equal(stderr, '')
    return stdout
  }
  assert.equal(await until(ask, printed => printed === expected), expected)
}

const without = (program: string) => ({
  skip: spawnSync(program, ['--version']).status !== 0 && `there is no ${program} here`,
})

test('fish is told the same', without('fish'), async () => {
  const lines = ['holdfast node show zeb', 'holdfast node list --trait=CUST', 'holdfast lease show w', 'holdfast vers']
  const script = ['holdfast completion fish | source', ...lines.map(line => `complete -C '${line}'`)].join('\n')
  const expected =
    'zebra-1\nzebra-2\n--trait=CUSTOM_STRIPES\nweek 7\nversion\tsay which version this is, and which one the server is if it answers\n'
  await shellPrints(expected, 'fish', '--no-config', '-c', script)
})

/** Types a line with Tab keys in it, and reads what the command that came of it printed. */
async function typedInto(shell: string, setup: string, line: string): Promise<string> {
  const { type, shown, exit } = person.atTerminal(`exec ${shell}`, 120, { HOME: folder })
  // The word is in two parts, so that what we type isn't taken for what is printed.
  type(`${setup}; PS1='> '; echo rea''dy\n`)
  assert.match(
    await until(
      async () => shown(),
      seen => /ready\s+[^]*> /.test(seen),
    ),
    /ready/,
  )
  type(line)
  const seen = await until(
    async () => shown(),
    all => /[\r\n](enroll\r|holdfast: )/.test(all),
  )
  type('exit\n')
  await exit
  return stripVTControlCharacters(seen)
}

const terminal = { skip: !hasScript && 'script(1) is not here' }
// Each word but the format is completed; the command works only if all were.
const KEYS = 'holdfast nod\tsho\tzebra-2\t-f value -c provision_s\t\n'

async function runsWhatIsTyped(shell: string, setup: string): Promise<void> {
  const ran = /[\r\n]enroll\r/
  assert.match(
    await until(
      () => typedInto(shell, setup, KEYS),
      seen => ran.test(seen),
    ),
    ran,
  )
}

test('at a terminal, bash completes a command so that it runs', terminal, async () => {
  await runsWhatIsTyped('bash --norc -i', 'source <(holdfast completion bash)')
})

test('so does zsh', hasScript ? without('zsh') : terminal, async () => {
  const setup = `autoload -U compinit; compinit -u -d ${folder}/zcompdump; source <(holdfast completion zsh)`
  await runsWhatIsTyped('zsh -f -i', setup)
})
