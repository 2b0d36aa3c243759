// Users, projects and roles over the API, as `openstack user create` and its like ask for them.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { before, test } from 'node:test'
import { idOf } from '../../src/identity/ids.ts'
import { parseUsersFile } from '../../src/identity/users-file.ts'
import { eachIdentity, Identity, inProject, USERS } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'

const role = (name: string) => idOf('role', name)

eachIdentity('users and projects', ({ api, file, rewrite, start, database, databases }) => {
  let admin = ''
  const as = (token: string) => ({ token })
  const asAdmin = () => as(admin)
  before(async () => {
    admin = await api.token('alice')
  })
  const remove = (path: string, options: { token: string }) => api.request('DELETE', path, undefined, options)
  const change = (path: string, body: unknown, options: { token: string }) => api.request('PATCH', path, body, options)
  const content = () => parseUsersFile(readFileSync(file(), 'utf8'))
  const makeUser = async (name: string, more: object = {}) =>
    expectStatus(await api.post('/v3/users', { user: { name, password: `${name}-pw`, ...more } }, asAdmin()), 201).body
      .user.id as string
  const makeProject = async (name: string) =>
    expectStatus(await api.post('/v3/projects', { project: { name } }, asAdmin()), 201).body.project.id as string
  const grant = (project: string, user: string, name = 'member') =>
    api.put(`/v3/projects/${project}/users/${user}/roles/${role(name)}`, undefined, asAdmin())
  const audit = async (query = '') => {
    const response = await fetch(`${api.origin}/holdfast/v1/audit${query}`, { headers: { 'x-auth-token': admin } })
    return (await response.json()) as { entries: { action: string; objects: { kind: string; id: string }[] }[] }
  }

  test('a new user with a role logs in at once, and the file keeps its comments and no password', async () => {
    writeFileSync(file(), `# ours\n${readFileSync(file(), 'utf8')}`)
    const project = await makeProject('physics')
    const user = await makeUser('dora')
    expectStatus(await api.logIn('dora', undefined, inProject('physics')), 401)
    expectStatus(await grant(project, user), 204)
    // Again is the same.
    expectStatus(await grant(project, user), 204)
    const token = await api.token('dora')
    assert.equal(expectStatus(await api.validate(token), 200).body.token.project.id, project)
    const text = readFileSync(file(), 'utf8')
    assert.match(text, /^# ours\n/)
    assert.doesNotMatch(text, /dora-pw/)
    const found = expectStatus(await api.get(`/v3/projects/${project}/users/${user}/roles`, asAdmin()), 200)
    assert.deepEqual(
      found.body.roles.map((one: { name: string }) => one.name),
      ['member'],
    )
    const check = `/v3/projects/${project}/users/${user}/roles`
    expectStatus(await api.request('HEAD', `${check}/${role('member')}`, undefined, asAdmin()), 204)
    expectStatus(await api.request('HEAD', `${check}/${role('admin')}`, undefined, asAdmin()), 404)
    expectStatus(await remove(`${check}/${role('member')}`, asAdmin()), 204)
    expectStatus(await remove(`${check}/${role('member')}`, asAdmin()), 404)
    assert.equal(await api.knock(token), 401)
  })

  test('what is wrong is refused, changes nothing, and never shows a password', async () => {
    const text = readFileSync(file(), 'utf8')
    const wrong: [unknown, number][] = [
      [{ user: { name: 'alice', password: 'hunter2' } }, 409],
      [{ user: { name: 'a:b', password: 'hunter2' } }, 400],
      [{ user: { name: ' x', password: 'hunter2' } }, 400],
      [{ user: { name: '', password: 'hunter2' } }, 400],
      [{ user: { name: 'a'.repeat(32), password: 'hunter2' } }, 400],
      [{ user: { password: 'hunter2' } }, 400],
      [{ user: { name: 'x', password: ['hunter2'] } }, 400],
      [{ user: { name: 'x', password: 'hunter2', default_project_id: 'nowhere' } }, 404],
      [{ user: { name: 'x', password: 'hunter2', enabled: 'hunter2' } }, 400],
      ['hunter2', 400],
      [{}, 400],
    ]
    for (const [body, status] of wrong) {
      const answer = expectStatus(await api.post('/v3/users', body, asAdmin()), status)
      assert.doesNotMatch(JSON.stringify(answer.body), /hunter2/)
    }
    expectStatus(await api.post('/v3/projects', { project: { name: 'lab' } }, asAdmin()), 409)
    expectStatus(await grant(idOf('project', 'lab'), 'nobody'), 404)
    expectStatus(await grant('nowhere', idOf('user', 'bob')), 404)
    expectStatus(await grant(idOf('project', 'lab'), idOf('user', 'bob'), 'boss'), 404)
    expectStatus(await remove('/v3/users/nobody', asAdmin()), 404)
    expectStatus(await change('/v3/projects/nowhere', { project: {} }, asAdmin()), 404)
    assert.equal(readFileSync(file(), 'utf8'), text)
  })

  // What the database has no part in is tried with one of them.
  const once = (name: string, body: () => Promise<void>) => {
    if (databases.kind === 'sqlite') void test(name, body)
  }

  once('names that mean something to YAML or JavaScript are names', async () => {
    for (const name of [
      'yes',
      '~',
      '1',
      '__proto__',
      'constructor',
      '# x',
      'a: b'.replace(':', ';'),
      'Zoë 😀',
      '"',
      "'",
    ]) {
      const user = await makeUser(name)
      const shown = expectStatus(await api.get(`/v3/users/${user}`, asAdmin()), 200)
      assert.equal(shown.body.user.name, name)
      const project = await makeProject(name)
      expectStatus(await grant(project, user), 204)
      assert.deepEqual(Object.entries(content().users[name]!.roles!), [[name, ['member']]])
      const token = name === '__proto__' ? await api.token(name) : null
      if (token) assert.equal(expectStatus(await api.validate(token), 200).body.token.project.name, name)
      expectStatus(await remove(`/v3/users/${user}`, asAdmin()), 204)
      expectStatus(await remove(`/v3/projects/${project}`, asAdmin()), 204)
      if (token) assert.equal(await api.knock(token), 401)
    }
  })

  test('only admins change others, and users change their own password with the present one', async () => {
    const user = await makeUser('erik')
    expectStatus(await grant(idOf('project', 'lab'), user), 204)
    const own = await api.token('erik')
    for (const answer of [
      await api.post('/v3/users', { user: { name: 'x' } }, as(own)),
      await change(`/v3/users/${user}`, { user: { password: 'easy' } }, as(own)),
      await api.put(`/v3/projects/${idOf('project', 'lab')}/users/${user}/roles/${role('admin')}`, undefined, as(own)),
      await api.post(
        `/v3/users/${idOf('user', 'bob')}/password`,
        { user: { original_password: 'bob-pw', password: 'x' } },
        as(own),
      ),
    ])
      expectStatus(answer, 403)
    const replace = (original_password: string, password: string) =>
      api.post(`/v3/users/${user}/password`, { user: { original_password, password } }, as(own))
    expectStatus(await replace('wrong', 'next-pw'), 401)
    expectStatus(await replace('erik-pw', 'next-pw'), 204)
    assert.equal(await api.knock(own), 401)
    expectStatus(await api.logIn('erik'), 401)
    expectStatus(await api.logIn('erik', 'next-pw'), 201)
    const { entries } = await audit('?action=identity:change_password')
    assert.deepEqual(
      entries.map(entry => entry.objects.map(({ kind, id }) => ({ kind, id }))),
      [[{ kind: 'user', id: user }]],
    )
    assert.doesNotMatch(JSON.stringify(await audit()), /scrypt|next-pw|erik-pw/)
  })

  once('guesses of the present password are throttled like logins', async () => {
    const user = await makeUser('flora')
    expectStatus(await grant(idOf('project', 'lab'), user), 204)
    const own = await api.token('flora')
    const guess = () =>
      api.post(`/v3/users/${user}/password`, { user: { original_password: 'wrong', password: 'x' } }, as(own))
    for (let i = 0; i < 10; i++) expectStatus(await guess(), 401)
    expectStatus(await guess(), 429)
  })

  test('a renamed user and a renamed project keep their ids and what is theirs', async () => {
    const project = await makeProject('old-name')
    const user = await makeUser('gert')
    expectStatus(await grant(project, user), 204)
    const token = await api.token('gert')
    const credential = { application_credential: { name: 'script', secret: 'script-secret' } }
    const made = expectStatus(await api.post(`/v3/users/${user}/application_credentials`, credential, as(token)), 201)
    expectStatus(await change(`/v3/projects/${project}`, { project: { name: 'new-name' } }, asAdmin()), 200)
    expectStatus(await change(`/v3/users/${user}`, { user: { name: 'gerda' } }, asAdmin()), 200)
    // What has no id in the file has one of its name, which stays.
    const office = idOf('project', 'office')
    expectStatus(await change(`/v3/projects/${office}`, { project: { name: 'bureau' } }, asAdmin()), 200)
    assert.equal(content().projects['bureau']?.id, office)
    assert.deepEqual(content().users['carol']?.roles, { lab: ['reader'], bureau: ['reader'] })
    assert.equal(await api.knock(token), 401)
    const entered = expectStatus(await api.logIn('gerda', 'gert-pw'), 201)
    assert.equal(entered.body.token.project.id, project)
    const identity = {
      methods: ['application_credential'],
      application_credential: { id: made.body.application_credential.id, secret: 'script-secret' },
    }
    expectStatus(await api.post('/v3/auth/tokens', { auth: { identity } }), 201)
  })

  test('a project that has something is not deleted, and the answer says what', async () => {
    const project = await makeProject('busy')
    const node = await fetch(`${api.origin}/baremetal/v1/nodes`, {
      method: 'POST',
      headers: {
        'x-auth-token': admin,
        'content-type': 'application/json',
        'x-openstack-ironic-api-version': '1.50',
      },
      body: JSON.stringify({ driver: 'fake-hardware', owner: project, name: 'theirs' }),
    })
    assert.equal(node.status, 201)
    const refused = expectStatus(await remove(`/v3/projects/${project}`, asAdmin()), 409)
    assert.match(refused.body.error.message, /busy still has 1 node\b/)
    assert.ok('busy' in content().projects)
  })

  test('the last admin stays admin', async () => {
    const [alice, lab] = [idOf('user', 'alice'), idOf('project', 'lab')]
    for (const answer of [
      await remove(`/v3/users/${alice}`, asAdmin()),
      await change(`/v3/users/${alice}`, { user: { enabled: false } }, asAdmin()),
      await change(`/v3/projects/${lab}`, { project: { enabled: false } }, asAdmin()),
      await remove(`/v3/projects/${lab}/users/${alice}/roles/${role('admin')}`, asAdmin()),
    ])
      assert.match(expectStatus(answer, 409).body.error.message, /Nobody would be admin|still has/)
    assert.equal(await api.knock(admin), 200)
    assert.ok(!existsSync(`${file()}.new`))
  })

  test('two admins at once lose no change, also in two processes on one file', async () => {
    const other = await start(databases.kind === 'sqlite' ? await databases.create() : database())
    const tokens = [await api.token('alice'), await new Identity(other.origin).token('alice')]
    const made = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        const answer = await fetch(`${i % 2 === 0 ? api.origin : other.origin}/identity/v3/projects`, {
          method: 'POST',
          headers: { 'x-auth-token': tokens[i % 2]!, 'content-type': 'application/json' },
          body: JSON.stringify({ project: { name: `at-once-${i}` } }),
        })
        return answer.status
      }),
    )
    assert.deepEqual(new Set(made), new Set([201]))
    const names = Object.keys(content().projects).filter(name => name.startsWith('at-once-'))
    assert.equal(names.length, 12)
  })

  test('a draft that someone left behind is no lock for ever', async () => {
    const draft = `${file()}.new`
    writeFileSync(draft, 'half')
    utimesSync(draft, 1_000_000, 1_000_000)
    await makeProject('after-a-crash')
    assert.ok(!existsSync(draft))
    await rewrite(USERS)
  })

  test('a webhook whose maker is deleted is switched off', async () => {
    const project = await makeProject('chemistry')
    const user = await makeUser('hugo')
    expectStatus(await grant(project, user), 204)
    const ask = async (method: string, path: string, token: string, body?: object) => {
      const headers = { 'x-auth-token': token, 'content-type': 'application/json' }
      const sent = body ? { body: JSON.stringify(body) } : {}
      const response = await fetch(`${api.origin}/holdfast/v1/webhooks${path}`, { method, headers, ...sent })
      return (await response.json()) as { uuid: string; state: string; reason: string | null }
    }
    const { uuid, state } = await ask('POST', '', await api.token('hugo'), {
      url: 'https://8.8.8.8/hook',
      types: ['conductor'],
    })
    assert.equal(state, 'active')
    expectStatus(await remove(`/v3/users/${user}`, asAdmin()), 204)
    const { state: after, reason } = await ask('GET', `/${uuid}`, admin)
    assert.deepEqual([after, reason], ['disabled', 'Whoever made it has no role any more.'])
  })
})
