// The audit: each change has its entry, written with it; what was refused or changed nothing has none.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inParallel } from '../races/clients.ts'
import { eachMetal, uuid } from '../support/baremetal.ts'
import { as } from '../support/callers.ts'
import type { Options } from '../support/client.ts'
import { consumerBody, expectStatus } from '../support/placement.ts'

interface Entry {
  id: number
  at: string
  request_id: string | null
  user: string
  project: string | null
  roles: string[]
  address: string
  action: string
  objects: { kind: string; id: string; before?: number | null; after?: number | null }[]
  outcome: string
  sealed: boolean
}

const DEADLINE_MS = 10_000

eachMetal('the audit', api => {
  const { placement } = api
  const ask = (query: string, token = 'admin') =>
    fetch(`${api.origin}/holdfast/v1/audit${query}`, { headers: { 'x-auth-token': token } })
  const page = async (query: string) => {
    const response = await ask(query)
    assert.equal(response.status, 200, await response.clone().text())
    return (await response.json()) as { entries: Entry[]; next?: string }
  }
  const entries = async (query: string) => (await page(query)).entries
  const until = async (query: string, isThere: (found: Entry[]) => boolean) => {
    for (const deadline = performance.now() + DEADLINE_MS; ; await sleep(20)) {
      const found = await entries(query)
      if (isThere(found) || performance.now() > deadline) return found
    }
  }

  void test('an entry says who did what, when, from where, in which request, and to what', async () => {
    const started = Date.now()
    const id = uuid()
    const answer = await placement.post(
      '/resource_providers',
      { name: id, uuid: id },
      {
        token: 'jane:lab',
        headers: { 'x-roles': 'admin,member' },
      },
    )
    expectStatus(answer, 200)
    const [entry, ...others] = await entries(`?object=${id}`)
    assert.deepEqual(others, [])
    const { at, id: number, sealed, ...rest } = entry!
    assert.deepEqual(rest, {
      request_id: answer.headers['x-openstack-request-id'],
      user: 'jane',
      project: 'lab',
      roles: ['admin', 'member'],
      address: '127.0.0.1',
      action: 'placement:resource_providers:create',
      objects: [
        { kind: 'resource_provider', id, became: 'created', before: null, after: 0, data: { name: id, parent: null } },
      ],
      outcome: 'done',
    })
    assert.ok(Date.parse(at) >= started && Date.parse(at) <= Date.now())
    assert.equal(typeof number, 'number')
    assert.equal(typeof sealed, 'boolean')
  })

  void test('generations are told as they were before and are after', async () => {
    const provider = await placement.provider()
    expectStatus(await placement.setInventories(provider, { VCPU: 4 }), 200)
    expectStatus(await placement.del(`/resource_providers/${provider}`), 204)
    const told = (await entries(`?object=${provider}`)).map(({ objects }) => [objects[0]!.before, objects[0]!.after])
    assert.deepEqual(told, [
      [1, null],
      [0, 1],
      [null, 0],
    ])
  })

  void test('a claim has its entry, one that is refused has none', async () => {
    const provider = await placement.provider({ VCPU: 1 })
    const [first, second] = [uuid(), uuid()]
    expectStatus(await placement.claim(first, { [provider]: { VCPU: 1 } }), 204)
    expectStatus(await placement.claim(second, { [provider]: { VCPU: 1 } }), 409)
    expectStatus(await placement.del(`/allocations/${first}`), 204)
    assert.deepEqual(
      (await entries(`?object=${first}`)).map(({ action, objects }) => [
        action,
        objects.map(({ kind, id, before, after }) => ({ kind, id, before, after })),
      ]),
      [
        ['placement:allocations:delete', [{ kind: 'consumer', id: first, before: undefined, after: null }]],
        ['placement:allocations:update', [{ kind: 'consumer', id: first, before: null, after: 1 }]],
      ],
    )
    assert.deepEqual(await entries(`?object=${second}`), [])
  })

  void test('of many claims at once each that was granted has its entry, and no other', async () => {
    const provider = await placement.provider({ VCPU: 40 })
    const project = uuid()
    const consumers = Array.from({ length: 80 }, () => uuid())
    const granted = new Set<string>()
    await inParallel(32, consumers.length, async index => {
      const consumer = consumers[index]!
      const answer = await placement.put(`/allocations/${consumer}`, consumerBody({ [provider]: { VCPU: 1 } }), {
        token: `user-${index}:${project}`,
        headers: { 'x-roles': 'admin' },
      })
      if (answer.status === 204) granted.add(`${consumer} user-${index}`)
    })
    assert.equal(granted.size, 40)
    const told = (await entries(`?project=${project}`)).map(({ objects, user }) => `${objects[0]!.id} ${user}`)
    assert.deepEqual(told.toSorted(), [...granted].toSorted())
  })

  void test('one request about several has one entry about all of them', async () => {
    const provider = await placement.provider({ VCPU: 2 })
    const [one, other] = [uuid(), uuid()]
    const body = {
      [one]: consumerBody({ [provider]: { VCPU: 1 } }),
      [other]: consumerBody({ [provider]: { VCPU: 1 } }),
    }
    expectStatus(await placement.post('/allocations', body), 204)
    const [entry] = await entries(`?object=${one}`)
    assert.deepEqual(entry!.objects.map(({ id }) => id).toSorted(), [one, other].toSorted())
    assert.equal(entry!.id, (await entries(`?object=${other}`))[0]!.id)
  })

  void test('what is refused, and what changes nothing, has no entry', async () => {
    const user = `u-${uuid()}`
    const own: Options = { token: `${user}:p`, headers: { 'x-roles': 'admin' } }
    const node = await api.node()
    await placement.put('/traits/CUSTOM_AUDIT_KNOWN')
    const requests: [() => Promise<{ status: number }>, number][] = [
      [() => placement.put('/traits/CUSTOM_AUDIT_KNOWN', undefined, own), 204],
      [() => placement.put('/traits/nonsense', undefined, own), 400],
      [() => placement.del('/traits/CUSTOM_MISSING', own), 404],
      [() => placement.get('/traits', own), 200],
      [() => api.patch(`/v1/nodes/${node}`, [], own), 200],
      [() => api.patch(`/v1/nodes/${uuid()}`, [{ op: 'add', path: '/extra/a', value: 1 }], own), 404],
      [() => api.del(`/v1/nodes/${node}/traits/CUSTOM_A`, own), 404],
      [() => api.put(`/v1/nodes/${node}/traits`, { traits: [] }, own), 204],
    ]
    for (const [send, status] of requests) assert.equal((await send()).status, status)
    expectStatus(await api.post('/v1/nodes', { driver: 'fake-hardware' }, as('reader', user)), 403)
    assert.deepEqual(await entries(`?user=${user}`), [])
    assert.deepEqual(await entries(`?project=${user}`), [])
  })

  void test('refusals are counted', async () => {
    const counted = async (status: number, route: string) => {
      const text = await (await fetch(`${api.origin}/metrics`)).text()
      const line = new RegExp(
        `^holdfast_refusals_total\\{method="POST",route="${route}",status="${status}"\\} (\\d+)$`,
        'm',
      )
      return Number(line.exec(text)?.[1] ?? 0)
    }
    const both = async () => [await counted(401, '/baremetal/\\*'), await counted(403, '/baremetal/v1/nodes')]
    const before = await both()
    expectStatus(await api.post('/v1/nodes', { driver: 'fake-hardware' }, { token: null }), 401)
    expectStatus(await api.post('/v1/nodes', { driver: 'fake-hardware' }, as('reader', 'p')), 403)
    assert.deepEqual(await both(), [before[0]! + 1, before[1]! + 1])
  })

  void test('what a conductor did names the request that asked for it', async () => {
    const node = await api.node({ driver_info: { fake_fail: 'clean' } })
    const asked = expectStatus(await api.provision(node, 'manage'), 202)
    await api.until(node, 'manageable')
    const provide = expectStatus(await api.provision(node, 'provide'), 202)
    await api.until(node, 'clean failed')
    const told = (await until(`?object=${node}`, found => found.length === 5)).map(
      ({ user, action, outcome, request_id }) => [user, action, outcome, request_id],
    )
    const [manageId, provideId] = [asked, provide].map(({ headers }) => headers['x-openstack-request-id'])
    assert.deepEqual(told.slice(0, 4), [
      ['conductor', 'conductor:provide:clean', 'failed', provideId],
      ['admin', 'baremetal:node:set_provision_state', 'accepted', provideId],
      ['conductor', 'conductor:manage:verify', 'done', manageId],
      ['admin', 'baremetal:node:set_provision_state', 'accepted', manageId],
    ])
    assert.deepEqual(told[4]!.slice(1, 3), ['baremetal:node:create', 'done'])
  })

  void test('a change of a node names its provider where that changes too', async () => {
    const node = await api.node()
    expectStatus(await api.put(`/v1/nodes/${node}/traits/CUSTOM_AUDIT_A`), 204)
    const [entry] = await entries(`?object=${node}&action=baremetal:node:traits:set`)
    const kinds = entry!.objects.map(({ kind }) => kind).toSorted()
    assert.deepEqual(kinds, ['node', 'resource_provider', 'trait'])
  })

  void test('entries are found by each filter, and in pages', async () => {
    const user = `u-${uuid()}`
    const own: Options = { token: `${user}:a-project`, headers: { 'x-roles': 'admin' } }
    const answers = []
    for (const name of ['A', 'B', 'C', 'D', 'E']) {
      answers.push(expectStatus(await placement.put(`/traits/CUSTOM_AUDIT_F_${name}`, undefined, own), 201))
    }
    const named = (found: Entry[]) => found.map(({ objects }) => objects[0]!.id.slice(-1)).join('')
    assert.equal(named(await entries(`?user=${user}`)), 'EDCBA', 'the newest first')
    assert.equal(named(await entries(`?user=${user}&action=placement:traits:update&project=a-project`)), 'EDCBA')
    assert.equal(named(await entries(`?user=${user}&action=placement:traits:delete`)), '')
    assert.equal(named(await entries('?object=CUSTOM_AUDIT_F_C')), 'C')
    assert.equal(named(await entries(`?request_id=${String(answers[1]!.headers['x-openstack-request-id'])}`)), 'B')
    const [newest] = await entries(`?user=${user}`)
    assert.equal((await entries(`?user=${user}&since=${newest!.at}`))[0]!.id, newest!.id)
    assert.equal(named(await entries(`?user=${user}&until=2001-01-01`)), '')
    assert.equal(named(await entries(`?user=${user}&since=2001-01-01T00:00:00Z`)), 'EDCBA')
    assert.equal(named(await entries(`?user=${user}&since=2999-01-01T00:00`)), '')
    let seen = ''
    let next: string | undefined = `?user=${user}&limit=2`
    while (next !== undefined) {
      const found: { entries: Entry[]; next?: string } = await page(next.slice(next.indexOf('?')))
      seen += `${named(found.entries)} `
      next = found.next
    }
    assert.equal(seen, 'ED CB A ')
  })

  void test('what can not be asked is refused', async () => {
    for (const query of [
      '?nonsense=1',
      '?limit=-1',
      '?limit=x',
      '?marker=x',
      '?marker=999999999999',
      '?since=yesterday',
      '?since=2020-13-45',
      '?since=2020-01-01T99:99',
      '?user=',
      '?user=%00',
      `?object=${'x'.repeat(256)}`,
    ]) {
      const response = await ask(query)
      assert.equal(response.status, 400, query)
      assert.ok(((await response.json()) as { error: { message: string } }).error.message.length > 0)
    }
  })

  void test('the audit is for admins', async () => {
    assert.equal((await fetch(`${api.origin}/holdfast/v1/audit`)).status, 401)
    assert.equal((await ask('', 'bob')).status, 403)
  })

  void test('entries are sealed soon, and fsck looks at the seals', async () => {
    const name = 'CUSTOM_AUDIT_SEALED'
    expectStatus(await placement.put(`/traits/${name}`), 201)
    const [entry] = await until(`?object=${name}`, ([found]) => found?.sealed === true)
    assert.equal(entry!.sealed, true)
    const response = await fetch(`${api.origin}/holdfast/v1/fsck`, { headers: { 'x-auth-token': 'admin' } })
    const { invariants } = (await response.json()) as { invariants: { invariant: string; violations: number }[] }
    const about = invariants.find(({ invariant }) => invariant.includes('audit'))
    assert.equal(about!.violations, 0)
  })
})

eachMetal(
  'no audit',
  api => {
    void test('with the audit off nobody is named, and the audit lists nothing', async () => {
      await api.node({}, 'manageable')
      expectStatus(await api.placement.put('/traits/CUSTOM_A'), 201)
      const provider = await api.placement.provider({ VCPU: 1 })
      expectStatus(await api.placement.claim(uuid(), { [provider]: { VCPU: 1 } }), 204)
      const response = await fetch(`${api.origin}/holdfast/v1/audit`, { headers: { 'x-auth-token': 'admin' } })
      assert.deepEqual(await response.json(), { entries: [] })
    })
  },
  { audit: 'off' },
)
