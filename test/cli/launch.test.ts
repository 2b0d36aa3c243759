// Each word once as a process of its own: what it prints and the code that it exits with are what tests see that type
// into their own process.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { programWith } from '../../src/cli/command.ts'
import { typeHoldfast } from '../support/command.ts'
import { inParallel } from '../races/clients.ts'
import { runHoldfast } from '../support/server.ts'
import { atShell } from './person.ts'

/** One line for each word. */
const LINES: Record<string, string> = {
  status: 'status --class none',
  node: 'node show n1 -f json',
  driver: 'driver list -f csv',
  allocation: 'allocation list',
  reservation: 'reservation list',
  queue: 'queue list -f csv',
  run: 'run --resource-class none --dry-run true',
  lease: 'lease show none',
  host: 'host list -f csv',
  provider: 'provider list -f yaml',
  claim: 'claim set 0f1d4a4e-9c6f-4a75-8f5c-0c1de9a3c001 --allocation rp=p1,VCPU=9',
  candidate: 'candidate explain --resource VCPU=9',
  usage: 'usage --provider p1',
  quota: 'quota list --url http://127.0.0.1:9',
  import: 'import /nonexistent/fleet.yaml',
  export: 'export --only providers',
  move: 'move placement --from http://127.0.0.1:9 --to http://127.0.0.1:9/placement',
  demo: 'demo --nodes 1',
  audit: 'audit --limit 1 --object none',
  calendar: 'calendar list',
  webhook: 'webhook show none',
  watch: 'watch --kind none',
  fsck: 'fsck --database sqlite:/nonexistent/holdfast.db',
  doctor: 'doctor --port many',
  serve: 'serve --print-config',
  api: 'api --print-config --port 1',
  conductor: 'conductor --conductor-group',
  migrate: 'migrate --database sqlite::memory:',
  user: 'user list --users /nonexistent/users.yaml',
  project: 'project show none',
  'reservation-create': 'reservation-create none none',
  'reservation-list': 'reservation-list -f csv',
  'reservation-show': 'reservation-show none',
  'reservation-delete': 'reservation-delete none',
  completion: 'completion bash',
  // Where a server answers, a busy machine may be too late to say which version it is.
  version: 'version --url http://127.0.0.1:9',
  help: 'help node add',
}

atShell('holdfast as a process', person => {
  before(async () => {
    const { nodes, providers } = await person.library()
    await nodes.create({ driver: 'fake-hardware', name: 'n1' })
    const { uuid, generation } = await providers.create({ name: 'p1' })
    await providers.setInventories(uuid, { VCPU: { total: 8 } }, generation)
  })

  test('there is a line for each word', async () => {
    const { commands } = await programWith(undefined)
    assert.deepEqual(new Set([...commands.map(one => one.name()), 'help']), new Set(Object.keys(LINES)))
  })

  test('each word prints and exits as it does in this process', async () => {
    const lines = Object.values(LINES)
    const codes = new Set<number | null>()
    await inParallel(2, lines.length, async at => {
      const environment = { HOLDFAST_URL: person.origin, OS_CLOUD: '', HOME: '/nonexistent' }
      const line = lines[at]!
      const words = line.split(' ')
      const { shown: _, ...typed } = await typeHoldfast(words, { environment })
      const launched = await runHoldfast(words, environment).exit
      // Each has an id of its own.
      const plain = (text: string) => text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'uuid')
      assert.deepEqual({ ...launched, stderr: plain(launched.stderr) }, { ...typed, stderr: plain(typed.stderr) }, line)
      codes.add(launched.code)
      assert.notEqual(launched.stdout + launched.stderr, '', line)
    })
    assert.deepEqual(codes, new Set([0, 1, 2, 3, 4, 6]))
  })
})
