// Every route × every caller × every kind of owner: what is allowed is exactly what the tables say, what is not there for
// a caller can't be told from what is missing, and a refusal changes nothing.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { tableOf } from '../../src/api/policy.ts'
import type { Caller } from '../../src/identity/caller.ts'
import { Policy } from '../../src/identity/policy.ts'
import { Baremetal } from '../support/baremetal.ts'
import { as, asSystem } from '../support/callers.ts'
import { type Answer, Client, type Options } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { type Server, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { type Call, CALLS, type Kind, MORE_CALLS } from './routes.ts'
import { type State, stateOf } from './state.ts'

const [MINE, THEIRS] = ['project-of-mine', 'project-of-others']
const policy = new Policy(tableOf('secure'))

const caller = (roles: string, project: string | null): Caller => ({
  user: 'me',
  project,
  roles: new Set(roles.split(',')),
  systemScope: project === null,
})
const CALLERS: Record<string, { who: Caller; options: Options }> = Object.fromEntries(
  [
    ['someone without a role', '', MINE],
    ['a reader', 'reader', MINE],
    ['a member', 'member', MINE],
    ['a member of another project', 'member', THEIRS],
    ['an admin of another project', 'admin', THEIRS],
    ['a service', 'service', THEIRS],
  ].map(([name, roles, project]) => [name!, { who: caller(roles!, project!), options: as(roles!, project!) }]),
)
CALLERS['a reader of the whole system'] = { who: caller('reader', null), options: asSystem('reader') }

/** Whose a thing is. */
interface Whose {
  owner: string | null
  lessee: string | null
  project: string | null
}
const OWNERS: Record<string, Whose> = {
  'of its project': { owner: MINE, lessee: null, project: MINE },
  'leased to it': { owner: 'lender', lessee: MINE, project: MINE },
  'of others': { owner: 'x', lessee: 'y', project: 'x' },
  'of nobody': { owner: null, lessee: null, project: null },
}
const ofOneProject = (kind: Kind) => kind === 'allocation' || kind === 'reservation'

type Expected = 'allowed' | 'forbidden' | 'not there'

function expected({ action, kind }: Call, who: Caller, whose: Whose): Expected {
  if (kind === null) return policy.allows(action!, who, { project: MINE }) ? 'allowed' : 'forbidden'
  const { owner, lessee, project } = whose
  const target = ofOneProject(kind) ? { project } : { owner, lessee }
  const isOwn = who.project !== null && Object.values(target).includes(who.project)
  if (!isOwn && !policy.allows('baremetal:node:list_all', who)) return 'not there'
  return policy.allows(action!, who, target) ? 'allowed' : 'forbidden'
}

void test('every route has an action, and every route that takes a body says how it is called', () => {
  const open = CALLS.filter(({ action }) => action === null).map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(open, ['GET /placement/', 'GET /baremetal/v1'])
  for (const { method, path, action, body } of CALLS) {
    if (action !== null) assert.ok(action in policy.table, `${action} is in no table`)
    const takesBody = method !== 'GET' && method !== 'DELETE'
    assert.ok(!takesBody || body, `${method} ${path}: test/policy/routes.ts doesn't say what to send`)
  }
})

eachDatabase('the matrix', databases => {
  void describe('', () => {
    let server: Server
    let state: State
    const client = new Client('')
    const admin = new Baremetal()
    before(async () => {
      const address = await databases.create()
      server = await startServer(address, { placementPolicy: 'secure' })
      client.origins = admin.origins = admin.placement.origins = [server.origin]
      state = await stateOf(address)
    })
    after(async () => {
      await state.close()
      client.close()
      admin.close()
      await server.stop()
    })

    const quiet = async () => {
      for (const deadline = performance.now() + 15_000; !(await state.isQuiet()); await sleep(5)) {
        assert.ok(performance.now() < deadline, 'the conductor has work for ever')
      }
    }
    const newest = { version: '1.83' }

    /** Makes a thing of this kind and owner, and answers its id. */
    async function make(kind: Kind, { owner, lessee, project }: Whose): Promise<string> {
      if (kind === 'allocation') {
        const wish = { resource_class: 'no-such-class', owner: project }
        const { body } = expectStatus(await admin.post('/v1/allocations', wish, newest), 201)
        await quiet()
        return body.uuid
      }
      if (kind === 'reservation') {
        const node = await admin.node({}, 'available')
        const wish = { instance_uuid: randomUUID(), node_uuid: [node], owner: project }
        return expectStatus(await admin.post('/v1/reservations', wish, newest), 201).body.reservation.uuid
      }
      const node = await admin.node({ owner, lessee })
      if (kind === 'node') return node
      const address = `52:54:${randomUUID()
        .slice(0, 8)
        .replaceAll(/(..)(?=.)/g, '$1:')}`
      const body = kind === 'port' ? { node_uuid: node, address } : { node_uuid: node }
      return expectStatus(await admin.post(`/v1/${kind}s`, body), 201).body.uuid
    }

    function send({ api, method, path, body }: Call, id: string, options: Options): Promise<Answer> {
      const values: Record<string, string> = {
        ':trait': 'CUSTOM_A',
        ':vif': 'no-vif',
        '/drivers/:name': '/drivers/fake-hardware',
        ':hostname': hostname(),
        ':resource_class': 'VCPU',
        ':name': 'CUSTOM_MATRIX_NAME',
      }
      let url = path
      for (const [name, value] of Object.entries(values)) url = url.replace(name, value)
      url = url.replaceAll(/:[a-z_]+/g, id)
      if (path === '/placement/usages') url += `?project_id=${MINE}`
      if (path === '/placement/allocation_candidates') url += '?resources=VCPU:1'
      if (path.endsWith('/explain/allocation_candidates')) url += '?resources=VCPU:1'
      if (path.endsWith('/nodes/validate')) url += `?node=${id}`
      const versions = {
        'x-openstack-ironic-api-version': '1.83',
        'openstack-api-version': `placement ${api === 'placement' ? '1.39' : 'latest'}`,
      }
      const headers = { ...versions, ...options.headers }
      return client.request(method, url, body?.(id), { ...options, version: null, headers })
    }

    const told = ({ status, body }: Answer, id: string) =>
      `${status} ${JSON.stringify(body)
        .replaceAll(id, 'ID')
        .replaceAll(/req-[0-9a-f-]+/g, 'REQ')}`

    async function check(call: Call): Promise<void> {
      const cases = Object.entries(CALLERS).flatMap(([name, { who, options }]) =>
        Object.entries(call.kind === null ? { '': OWNERS['of nobody']! } : OWNERS).map(([owners, whose]) => ({
          name: `${name}, ${call.kind ?? 'nothing'} ${owners}`,
          options,
          whose,
          expected: expected(call, who, whose),
        })),
      )
      const ids = new Map<Whose, string>()
      for (const { whose } of cases) {
        if (call.kind !== null && !ids.has(whose)) ids.set(whose, await make(call.kind, whose))
      }
      const idOf = (whose: Whose) => ids.get(whose) ?? randomUUID()
      await quiet()
      const hash = await state.hash()
      assert.equal((await send(call, idOf(cases[0]!.whose), { token: null })).status, 401)
      for (const { name, options, whose, expected } of cases.filter(({ expected }) => expected !== 'allowed')) {
        const id = idOf(whose)
        const answer = await send(call, id, options)
        if (expected === 'forbidden') {
          assert.equal(answer.status, 403, `${name}: ${told(answer, id)}`)
        } else {
          const missing = randomUUID()
          assert.equal(told(answer, id), told(await send(call, missing, options), missing), name)
          assert.ok([400, 404].includes(answer.status), `${name}: ${answer.status}`)
        }
      }
      assert.equal(await state.hash(), hash, 'a refusal has changed something')
      for (const { name, options, whose } of cases.filter(({ expected }) => expected === 'allowed')) {
        const isReading = call.method === 'GET'
        const id = call.kind !== null && !isReading ? await make(call.kind, whose) : idOf(whose)
        const answer = await send(call, id, options)
        assert.ok(![401, 403].includes(answer.status) && answer.status < 500, `${name}: ${told(answer, id)}`)
        if (call.kind === null) continue
        const missing = randomUUID()
        assert.notEqual(told(answer, id), told(await send(call, missing, options), missing), `${name}: as if missing`)
      }
      await quiet()
    }

    for (const call of [...CALLS.filter(({ action }) => action !== null), ...MORE_CALLS]) {
      const { method, path, action, body } = call
      const what = MORE_CALLS.includes(call) ? ` with ${JSON.stringify(body!('ID'))}` : ''
      void test(`${method} ${path}${what} is ${action}`, () => check(call))
    }

    void test('what a query or a body names of others is as what is missing', async () => {
      const own = {
        node: await make('node', OWNERS['of its project']!),
        port: await make('port', OWNERS['of its project']!),
      }
      const theirs = OWNERS['of others']!
      const node = await make('node', theirs)
      const port = await make('port', theirs)
      const { body: shown } = await admin.get(`/v1/ports/${port}`)
      const name = `n-${randomUUID()}`
      const instance = randomUUID()
      const named = await admin.node({ owner: theirs.owner, name })
      expectStatus(
        await admin.patch(`/v1/nodes/${named}`, [{ op: 'add', path: '/instance_uuid', value: instance }]),
        200,
      )
      const chassis = expectStatus(await admin.post('/v1/chassis', {}), 201).body.uuid as string
      const portgroup = await make('portgroup', theirs)
      const allocation = await make('allocation', theirs)
      const reservation = await make('reservation', theirs)
      const uuids: [string, string, string, ((id: string) => unknown)?][] = [
        [node, 'GET', '/nodes?marker=ID'],
        [node, 'GET', '/nodes?marker=ID&sort_key=name&sort_dir=desc'],
        [node, 'GET', '/nodes/validate?node_uuid=ID'],
        [node, 'GET', '/ports?node=ID'],
        [node, 'GET', '/ports?node_uuid=ID'],
        [node, 'GET', '/portgroups?node=ID'],
        [node, 'GET', '/allocations?node=ID'],
        [node, 'GET', '/reservations?node=ID'],
        [node, 'GET', '/nodes/ID/allocation'],
        [node, 'DELETE', '/nodes/ID/allocation'],
        [node, 'POST', '/ports', id => ({ node_uuid: id, address: '52:54:00:cc:00:01' })],
        [node, 'POST', '/portgroups', id => ({ node_uuid: id })],
        [node, 'POST', '/allocations', id => ({ resource_class: 'x', candidate_nodes: [id] })],
        [node, 'POST', '/allocations', id => ({ node: id })],
        [node, 'POST', '/reservations', id => ({ instance_uuid: own.node, node_uuid: [id] })],
        [node, 'PATCH', `/ports/${own.port}`, id => [{ op: 'add', path: '/node_uuid', value: id }]],
        [instance, 'GET', '/nodes?instance_uuid=ID'],
        [instance, 'GET', '/reservations?instance_uuid=ID'],
        [chassis, 'GET', '/nodes?chassis_uuid=ID'],
        [chassis, 'GET', '/chassis/ID'],
        [chassis, 'GET', '/chassis/ID/nodes'],
        [chassis, 'PATCH', `/nodes/${own.node}`, id => [{ op: 'add', path: '/chassis_uuid', value: id }]],
        [port, 'GET', '/ports?marker=ID'],
        [portgroup, 'GET', '/portgroups?marker=ID'],
        [portgroup, 'GET', '/ports?portgroup=ID'],
        [portgroup, 'GET', '/portgroups/ID/ports'],
        [portgroup, 'PATCH', `/ports/${own.port}`, id => [{ op: 'add', path: '/portgroup_uuid', value: id }]],
        [allocation, 'GET', '/allocations?marker=ID'],
        [allocation, 'GET', '/allocations?marker=ID&sort_key=state'],
        [reservation, 'GET', '/reservations?marker=ID'],
        [reservation, 'PUT', `/nodes/${own.node}/states/provision`, id => ({ target: 'active', reservation_uuid: id })],
      ]
      const others: [string, string, string, string][] = [
        [name, 'no-such-name', 'GET', '/nodes/ID'],
        [name, 'no-such-name', 'GET', '/ports?node=ID'],
        [name, 'no-such-name', 'DELETE', '/nodes/ID'],
        [shown.address, '52:54:ff:ff:ff:ff', 'GET', '/ports?address=ID'],
        [shown.address, '52:54:ff:ff:ff:ff', 'GET', '/portgroups?address=ID'],
        [theirs.owner!, 'nobody', 'GET', '/nodes?owner=ID'],
        [theirs.lessee!, 'nobody', 'GET', '/nodes?lessee=ID'],
        [theirs.owner!, 'nobody', 'GET', '/nodes?project=ID'],
        [theirs.owner!, 'nobody', 'GET', '/allocations?owner=ID'],
        [theirs.owner!, 'nobody', 'GET', '/reservations?owner=ID'],
      ]
      await quiet()
      const hash = await state.hash()
      for (const role of ['reader', 'member']) {
        const { options } = CALLERS[`a ${role}`]!
        const ask = (method: string, path: string, id: string, body?: (id: string) => unknown) =>
          client.request(method, `/baremetal/v1${path.replace('ID', id)}`, body?.(id), {
            ...options,
            version: null,
            headers: { 'x-openstack-ironic-api-version': '1.83', ...options.headers },
          })
        for (const [id, method, path, body] of uuids) {
          const missing = randomUUID()
          const [one, other] = [await ask(method, path, id, body), await ask(method, path, missing, body)]
          assert.equal(told(one, id), told(other, missing), `${role}: ${method} ${path}`)
        }
        for (const [id, missing, method, path] of others) {
          const [one, other] = [await ask(method, path, id), await ask(method, path, missing)]
          assert.equal(told(one, id), told(other, missing), `${role}: ${method} ${path}`)
        }
      }
      assert.equal(await state.hash(), hash, 'a refusal has changed something')
    })

    void test('the ledger is whole after all of this', () => admin.fsck())
  })
})
