// Users and what they see of each other; and what a change of the users file does while the service runs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachIdentity, inProject, until, user, USERS } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'

const basic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
})
const names = (list: { name: string }[]) => list.map(({ name }) => name).sort()

eachIdentity('users', ({ api }) => {
  test('admins see all users, projects, roles and who has which', async () => {
    const token = await api.token('alice')
    const list = async (path: string, name: string) => expectStatus(await api.get(path, { token }), 200).body[name]
    assert.deepEqual(names(await list('/v3/users', 'users')), ['alice', 'bob', 'carol', 'nova'])
    assert.deepEqual(names(await list('/v3/users?name=bob', 'users')), ['bob'])
    assert.deepEqual(await list('/v3/users?name=nobody', 'users'), [])
    assert.deepEqual(names(await list('/v3/projects', 'projects')), ['lab', 'office', 'service'])
    const [office] = await list('/v3/projects?name=office', 'projects')
    assert.equal(office.description, 'paper')
    assert.equal((await api.get(`/v3/projects/${office.id}`, { token })).body.project.name, 'office')
    assert.deepEqual(names(await list('/v3/roles', 'roles')), ['admin', 'member', 'reader', 'service'])
    assert.deepEqual(names(await list('/v3/domains', 'domains')), ['Default'])
    assert.equal((await api.get('/v3/domains/default', { token })).body.domain.name, 'Default')
    const assigned = await list(`/v3/role_assignments?include_names&scope.project.id=${office.id}`, 'role_assignments')
    assert.deepEqual(
      assigned.map((one: { user: { name: string }; role: { name: string } }) => [one.user.name, one.role.name]),
      [
        ['alice', 'member'],
        ['carol', 'reader'],
      ],
    )
    for (const path of ['/v3/users/nobody', '/v3/projects/nowhere', '/v3/roles/none', '/v3/domains/other', '/v3/x']) {
      const { body } = expectStatus(await api.get(path, { token }), 404)
      assert.equal(body.error.code, 404)
    }
  })

  test('others see themselves, and the projects that they are in', async () => {
    const { body, headers } = expectStatus(await api.logIn('carol', undefined, inProject('lab')), 201)
    const token = headers['x-subject-token'] as string
    const { user, project } = body.token
    assert.equal((await api.get(`/v3/users/${user.id}`, { token })).body.user.name, 'carol')
    assert.equal((await api.get(`/v3/projects/${project.id}`, { token })).body.project.name, 'lab')
    const own = expectStatus(await api.get('/v3/auth/projects', { token }), 200).body.projects
    assert.deepEqual(names(own), ['lab', 'office'])
    const same = expectStatus(await api.get(`/v3/users/${user.id}/projects`, { token }), 200).body.projects
    assert.deepEqual(names(same), ['lab', 'office'])
    expectStatus(await api.get('/v3/users/another/projects', { token }), 403)
    for (const path of ['/v3/users', '/v3/projects', '/v3/roles', '/v3/role_assignments', '/v3/users/x']) {
      const { body } = expectStatus(await api.get(path, { token }), 403)
      assert.match(body.error.message, /not authorized/)
    }
    expectStatus(await api.get('/v3/auth/projects'), 401)
  })

  test('HTTP Basic lets users in to their default project', async () => {
    assert.equal(await api.knock(null, basic('alice', 'alice-pw')), 200)
    assert.equal(await api.knock(null, basic('alice', 'wrong')), 401)
    assert.equal(await api.knock(null, basic('nobody', 'x')), 401)
    assert.equal(await api.knock(null, { authorization: 'Basic !!' }), 401)
    assert.equal(await api.knock(null, { authorization: 'Bearer x' }), 401)
    const providers = await fetch(`${api.origin}/placement/resource_providers`, {
      headers: basic('alice', 'alice-pw'),
    })
    assert.equal(providers.status, 200)
    // Carol has two projects and no default: she is known, and may do nothing.
    const carol = await fetch(`${api.origin}/placement/resource_providers`, { headers: basic('carol', 'carol-pw') })
    assert.equal(carol.status, 403)
    const wrong = await fetch(`${api.origin}/placement/resource_providers`, { headers: basic('alice', 'wrong') })
    assert.deepEqual([wrong.status, wrong.headers.get('www-authenticate')], [401, 'Basic realm="holdfast"'])
  })
})

eachIdentity('a users file that changes', ({ api, rewrite }) => {
  const becomes = async (token: string, status: number) =>
    assert.equal(
      await until(
        () => api.knock(token),
        found => found === status,
      ),
      status,
    )

  test('a new password ends the tokens of the old one', async () => {
    const token = await api.token('bob')
    assert.equal(await api.knock(token), 200)
    await rewrite({ ...USERS, bob: { ...USERS['bob']!, password: 'another' } })
    await becomes(token, 401)
    expectStatus(await api.logIn('bob'), 401)
    expectStatus(await api.logIn('bob', 'another'), 201)
    assert.equal(await api.knock(null, basic('bob', 'bob-pw')), 401)
    await rewrite(USERS)
    await becomes(token, 200)
  })

  test('a role that is taken away is gone from tokens too, and the last one takes the token along', async () => {
    const token = await api.token('alice')
    const providers = async () => {
      const headers = { 'x-auth-token': token }
      return (await fetch(`${api.origin}/placement/resource_providers`, { headers })).status
    }
    assert.equal(await providers(), 200)
    await rewrite({ ...USERS, ...Object.fromEntries([user('alice', { lab: ['member'] })]) })
    assert.equal(await until(providers, status => status === 403), 403)
    await rewrite({ ...USERS, ...Object.fromEntries([user('alice', { office: ['admin'] })]) })
    await becomes(token, 401)
    await rewrite(USERS)
    await becomes(token, 200)
  })

  test('a user who is removed or disabled is out', async () => {
    const token = await api.token('bob')
    const { bob: _, ...others } = USERS
    await rewrite(others)
    await becomes(token, 401)
    await rewrite(USERS)
    await becomes(token, 200)
    await rewrite({ ...USERS, bob: { ...USERS['bob']!, enabled: false } })
    await becomes(token, 401)
    expectStatus(await api.logIn('bob'), 401)
    await rewrite(USERS)
    await becomes(token, 200)
  })

  test('a user who is added may come in', async () => {
    await rewrite({ ...USERS, ...Object.fromEntries([user('dave', { lab: ['member'] })]) })
    // Wrong guesses are counted, so it is asked whether he is there before he tries.
    const token = await api.token('alice')
    const found = async () => (await api.get('/v3/users?name=dave', { token })).body.users
    await until(found, users => users.length === 1)
    expectStatus(await api.logIn('dave'), 201)
  })
})
