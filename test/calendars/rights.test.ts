// Who may have a calendar, and what becomes of it when they may no longer: decided anew at each reading.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { limits } from '../../src/shared/limits.ts'
import { Baremetal, newClass, NEWEST } from '../support/baremetal.ts'
import { Client, type Options } from '../support/client.ts'
import { eachIdentity, Identity, inProject, until, user, USERS } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'
import { stateOf } from '../policy/state.ts'
import { fetched, shownAt } from './program.ts'

eachIdentity('rights to calendars', ({ api, rewrite, start, database, databases }) => {
  const operator = new Client('/holdfast/v1')
  const metal = new Baremetal()
  before(() => {
    for (const client of [operator, metal, metal.placement]) client.origins = api.origins
  })
  after(() => {
    for (const client of [operator, metal]) client.close()
  })

  const as = async (name: string, project = 'lab'): Promise<Options> => ({
    version: null,
    token: await api.token(name, inProject(project)),
  })
  const make = (who: Options, of?: object) => operator.post('/calendars', of && { of }, who)
  const made = async (who: Options, of?: object) => expectStatus(await make(who, of), 201).body
  const listed = async (who: Options): Promise<string[]> => {
    const { calendars } = expectStatus(await operator.get('/calendars', who), 200).body
    return calendars.map(({ id }: { id: string }) => id)
  }
  const idOf = async (kind: 'user' | 'project', name: string): Promise<string> => {
    const scope = kind === 'project' ? inProject(name) : undefined
    const { body } = expectStatus(await api.logIn(kind === 'project' ? 'alice' : name, undefined, scope), 201)
    return body.token[kind].id
  }
  const statusOf = async (url: string) => (await fetched(url)).status

  void test('members have their own and their project, admins every one, others none', async () => {
    const [alice, bob, carol, nova] = [
      await as('alice'),
      await as('bob'),
      await as('carol'),
      await as('nova', 'service'),
    ]
    const [lab, office] = [await idOf('project', 'lab'), await idOf('project', 'office')]
    const [bobId, aliceId] = [await idOf('user', 'bob'), await idOf('user', 'alice')]
    assert.deepEqual((await made(bob)).of, { user: bobId })
    for (const subject of [{ user: bobId }, { project: lab }]) assert.deepEqual((await made(bob, subject)).of, subject)
    for (const subject of [{ user: aliceId }, { project: office }]) expectStatus(await make(bob, subject), 403)
    for (const subject of [undefined, { project: lab }]) {
      expectStatus(await make(carol, subject), 403)
      expectStatus(await make(nova, subject), 403)
    }
    for (const subject of [undefined, { user: bobId }, { project: office }]) await made(alice, subject)
    expectStatus(await operator.post('/calendars', undefined, { version: null, token: null }), 401)
  })

  void test("a node's calendar is for its owner, its lessee and admins, as long as they are", async () => {
    const [lab, office] = [await idOf('project', 'lab'), await idOf('project', 'office')]
    const [alice, bob] = [await as('alice'), await as('bob')]
    const admin = { ...alice, version: '1.82' }
    const { uuid } = expectStatus(
      await metal.post('/v1/nodes', { driver: 'fake-hardware', owner: office }, admin),
      201,
    ).body
    const change = async (field: string, value: string) =>
      expectStatus(await metal.patch(`/v1/nodes/${uuid}`, [{ op: 'replace', path: `/${field}`, value }], admin), 200)
    expectStatus(await make(bob, { node: uuid }), 404)
    await change('lessee', lab)
    const { url, of } = await made(bob, { node: uuid })
    assert.deepEqual(of, { node: uuid })
    assert.equal(await statusOf(url), 200)
    await change('lessee', 'somebody-else')
    assert.equal(await statusOf(url), 404)
    await change('owner', lab)
    assert.equal(await statusOf(url), 200)
    const ofAdmin = await made(alice, { node: uuid })
    expectStatus(await metal.del(`/v1/nodes/${uuid}`, admin), 204)
    for (const gone of [url, ofAdmin.url]) assert.equal(await statusOf(gone), 404)
  })

  void test('whoever loses their rights loses what their calendars show', async () => {
    const office = await idOf('project', 'office')
    const everyone = { ...USERS, ...Object.fromEntries([user('dora', { lab: ['member'], office: ['member'] })]) }
    await rewrite(everyone)
    await until(
      () => api.logIn('dora', undefined, inProject('office')),
      ({ status }) => status === 201,
    )
    const dora = await as('dora', 'office')
    const admin = { ...(await as('alice')), version: '1.82' }
    const node = expectStatus(
      await metal.post('/v1/nodes', { driver: 'fake-hardware', owner: office }, admin),
      201,
    ).body
    const calendars = [await made(dora), await made(dora, { project: office }), await made(dora, { node: node.uuid })]
    /** 404 if she may delete calendars in the office, 403 if not, 401 if she isn't there. */
    const may = async () => {
      const { status, headers } = await api.logIn('dora', undefined, inProject('office'))
      const token = String(headers['x-subject-token'])
      return status === 201 ? (await operator.del('/calendars/none', { version: null, token })).status : status
    }
    const changed = async (users: typeof USERS, rights: number, seen: number) => {
      await rewrite(users)
      assert.equal(await until(may, found => found === rights), rights)
      for (const { url } of calendars) assert.equal(await statusOf(url), seen)
    }
    const dorasAre = (roles: Record<string, string[]>, more: object = {}) => ({
      ...everyone,
      ...Object.fromEntries([user('dora', roles, more)]),
    })
    await changed(dorasAre({ lab: ['member'] }), 401, 404)
    await changed(everyone, 404, 200)
    await changed(dorasAre({ lab: ['member'], office: ['reader'] }), 403, 404)
    await changed(everyone, 404, 200)
    await changed(dorasAre({ office: ['member'] }, { enabled: false }), 401, 404)
    await changed(everyone, 404, 200)
    await changed(USERS, 401, 404)
    const alice = await as('alice')
    for (const { id } of calendars) expectStatus(await operator.del(`/calendars/${id}`, alice), 204)
  })

  void test('an admin who is one no longer sees only their own project', async () => {
    const erin = (...roles: string[]) => ({ ...USERS, ...Object.fromEntries([user('erin', { lab: roles })]) })
    const resource_class = newClass()
    const alice = { ...(await as('alice')), version: NEWEST.version }
    const office = await idOf('project', 'office')
    await rewrite(erin('admin'))
    await until(
      () => api.logIn('erin'),
      ({ status }) => status === 201,
    )
    const wish = { resource_class, owner: office, wait_until: '1h', expires_at: '2h' }
    expectStatus(await metal.post('/v1/allocations', wish, alice), 201)
    const { url } = await made(await as('erin'), { project: office })
    assert.equal((await shownAt(url)).length, 1)
    await rewrite(erin('member'))
    const seesAudit = async () => (await operator.get('/audit', await as('erin'))).status
    assert.equal(await until(seesAudit, status => status === 403), 403)
    assert.equal(await statusOf(url), 404)
    await rewrite(USERS)
  })

  void test('calendars are listed and deleted within a project, and by admins everywhere', async () => {
    const [alice, bob, carol] = [await as('alice'), await as('bob'), await as('carol')]
    const elsewhere = await as('alice', 'office')
    const one = await made(bob)
    const [inLab, inOffice] = [await listed(carol), await listed(await as('carol', 'office'))]
    assert.ok(inLab.includes(one.id) && !inOffice.includes(one.id))
    assert.ok((await listed(alice)).includes(one.id))
    assert.deepEqual(
      await operator.get('/calendars', bob).then(({ body }) => body.calendars.some((each: object) => 'url' in each)),
      false,
    )
    expectStatus(await operator.del(`/calendars/${one.id}`, carol), 403)
    expectStatus(await operator.del(`/calendars/${one.id}`, elsewhere), 404)
    assert.equal(await statusOf(one.url), 200)
    expectStatus(await operator.del(`/calendars/${one.id}`, bob), 204)
    expectStatus(await operator.del(`/calendars/${one.id}`, bob), 404)
    assert.ok(!(await listed(alice)).includes(one.id))
    const [revoked, never] = [await fetched(one.url), await fetched(one.url.replace(/[\w-]{43}/, 'A'.repeat(43)))]
    const told = ({ status, text }: typeof never) => [status, text.replace(/req-[0-9a-f-]+/, '')]
    assert.deepEqual(told(revoked), told(never))
    assert.equal(revoked.status, 404)
  })

  void test('a reading is noted, but not each', async () => {
    const bob = await as('bob')
    const { id, url, last_read_at } = await made(bob)
    const readAt = async () => {
      const { calendars } = expectStatus(await operator.get('/calendars', bob), 200).body
      return calendars.find((each: { id: string }) => each.id === id).last_read_at
    }
    assert.equal(last_read_at, null)
    await shownAt(url)
    const first = await readAt()
    assert.ok(Date.parse(first) > 0)
    await shownAt(url)
    assert.equal(await readAt(), first)
  })

  void test('the secret is nowhere but in the URL', async () => {
    const bob = await as('bob')
    const { id, url } = await made(bob)
    await shownAt(url)
    const token = /([\w-]{43})\.ics$/.exec(url)![1]!
    const state = await stateOf(database())
    try {
      assert.ok((await state.texts()).every(text => !text.includes(token)))
    } finally {
      await state.close()
    }
    const { entries } = expectStatus(await operator.get(`/audit?object=${id}`, await as('alice')), 200).body
    assert.deepEqual(
      entries.map(({ action }: { action: string }) => action),
      ['holdfast:calendars:create'],
    )
    assert.ok(!JSON.stringify(entries).includes(token))
  })

  void test('a project has so many calendars of a user, and no more', async () => {
    const everyone = { ...USERS, ...Object.fromEntries([user('fred', { lab: ['member'] })]) }
    await rewrite(everyone)
    await until(
      () => api.logIn('fred'),
      ({ status }) => status === 201,
    )
    const fred = await as('fred')
    const tried = await Promise.all(Array.from({ length: limits.calendarsPerUserMax + 20 }, () => make(fred)))
    assert.equal(tried.filter(({ status }) => status === 201).length, limits.calendarsPerUserMax)
    assert.match(expectStatus(await make(fred), 403).body.error.message, /delete one first/)
    const [first] = (await listed(fred)).slice(-1)
    expectStatus(await operator.del(`/calendars/${first}`, fred), 204)
    await made(fred)
    await rewrite(USERS)
  })

  void test('who guesses is slowed down, and others at the same address still read', async () => {
    const { origin } = await start(await databases.create())
    const [there, post] = [new Identity(origin), new Client('/holdfast/v1', origin)]
    const bob = { version: null, token: await there.token('bob') }
    const known = expectStatus(await post.post('/calendars', undefined, bob), 201).body.url
    for (const client of [there, post]) client.close()
    assert.equal(await statusOf(known), 200)
    const guesses = Array.from({ length: limits.attemptsPerAddressMax + 1 }, (_, i) =>
      statusOf(`${origin}/holdfast/v1/calendar/${String(i).padStart(43, 'x')}.ics`),
    )
    const answers = await Promise.all(guesses)
    assert.deepEqual(new Set(answers), new Set([404, 429]))
    assert.equal(answers.filter(status => status === 404).length, limits.attemptsPerAddressMax)
    assert.equal(await statusOf(known), 200)
  })

  void test('a name that nobody had to prove opens nothing where names are proven', async () => {
    const address = await databases.create()
    const open = await start(address, { auth: 'none' })
    const [there, post] = [new Identity(open.origin), new Client('/holdfast/v1', open.origin)]
    const token = await there.token('bob', inProject('lab'))
    const { url } = expectStatus(await post.post('/calendars', undefined, { version: null, token }), 201).body
    assert.equal(await statusOf(url), 200)
    for (const client of [there, post]) client.close()
    await open.stop()
    const proven = await start(address)
    assert.equal(await statusOf(`${proven.origin}${new URL(url).pathname}`), 404)
  })
})
