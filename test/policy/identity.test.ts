// Identity's routes with real tokens: who may is what the table says, and what was changed is in the audit.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import type { Caller } from '../../src/identity/caller.ts'
import type { Target } from '../../src/identity/policy.ts'
import { limits } from '../../src/shared/limits.ts'
import { type Answer, Client } from '../support/client.ts'
import { eachIdentity, inProject, until, USERS } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'
import { type Call, IDENTITY_CALLS } from './routes.ts'
import { policy, told } from './setting.ts'
import { stateOf } from './state.ts'

interface Person {
  token: string
  who: Caller
}

const CREDENTIAL = ':user/application_credentials/:id'

eachIdentity('identity', ({ api, database, rewrite }) => {
  const client = new Client('')
  after(() => client.close())
  const roles = (list: { name: string }[] | undefined) => new Set((list ?? []).map(({ name }) => name))

  async function logIn(name: string, scope?: unknown): Promise<Person> {
    const { body, headers } = expectStatus(await api.logIn(name, undefined, scope), 201)
    const { user, project, roles: given, system } = body.token
    const who: Caller = {
      user: user.id,
      project: project?.id ?? null,
      roles: roles(given),
      systemScope: system !== undefined,
    }
    return { token: headers['x-subject-token'] as string, who }
  }

  const people = async (): Promise<Record<string, Person>> => ({
    'someone without a project': await logIn('carol'),
    'a reader': await logIn('carol', inProject('lab')),
    'a member': await logIn('bob'),
    'a member of another project': await logIn('alice', inProject('office')),
    'an admin': await logIn('alice'),
    'an admin of the whole system': await logIn('alice', { system: { all: true } }),
    'a service': await logIn('nova'),
  })

  const create = async ({ token, who }: Person, name: string = randomUUID()): Promise<string> => {
    const path = `/v3/users/${who.user}/application_credentials`
    const { body } = expectStatus(await api.post(path, { application_credential: { name } }, { token }), 201)
    return body.application_credential.id
  }

  /** Who or what a path is about, and the ids that go into it. */
  interface Subject {
    user: string
    id: string
  }
  const targetOf = ({ path }: Call, { user, id }: Subject): Target => ({
    ...(path.includes(':user') && { user }),
    ...(path.endsWith('/projects/:id') && { project: id }),
  })
  const ask = ({ method, path, body }: Call, { user, id }: Subject, token: string | null, headers = {}) => {
    client.origins = api.origins
    const url = path.replace(':user', user).replace(':id', id)
    return client.request(method, url, body?.(randomUUID()), { version: null, token, headers })
  }
  /** After a call that may have deleted some of them, and changed others. */
  const everyoneIsBack = async () => {
    const { token } = await logIn('alice')
    const names = async (what: 'users' | 'projects') =>
      (await api.get(`/v3/${what}`, { token })).body[what].map((one: { name: string }) => one.name).join()
    const present = async () => `${await names('users')} ${await names('projects')}`
    await rewrite(USERS)
    const wanted = `${Object.keys(USERS).join()} lab,office,service`
    assert.equal(await until(present, found => found === wanted), wanted)
  }
  const isRefused = ({ status }: Answer) => status === 401 || status === 403

  for (const call of IDENTITY_CALLS.filter(({ action, path }) => action !== null && !path.endsWith('/auth/tokens'))) {
    void test(`${call.method} ${call.path} is ${call.action}`, async () => {
      const all = await people()
      const [bob, reader] = [all['a member']!, all['a reader']!]
      const owners = Object.values(all).map(({ who }) => who)
      // Bob's own, in the end, so that a deletion leaves nothing to be missed.
      const isCredential = call.path.endsWith(CREDENTIAL)
      const credential = isCredential ? await create(bob) : null
      const subjects: Subject[] = [reader.who, ...owners].map(({ user, project }) => ({
        user,
        id: credential ?? project ?? 'default',
      }))
      subjects.push({ user: 'f'.repeat(32), id: 'f'.repeat(32) })
      const state = await stateOf(database())
      try {
        const hash = await state.hash()
        for (const subject of subjects) expectStatus(await ask(call, subject, null), 401)
        for (const [name, { token, who }] of Object.entries(all)) {
          for (const subject of subjects) {
            if (policy.allows(call.action!, who, targetOf(call, subject))) continue
            const answer = await ask(call, subject, token)
            assert.equal(answer.status, 403, `${name}: ${told(answer, subject.user)}`)
          }
        }
        assert.equal(await state.hash(), hash, 'a refusal has changed something')
      } finally {
        await state.close()
      }
      for (const [name, { token, who }] of Object.entries(all)) {
        for (const subject of subjects) {
          if (!policy.allows(call.action!, who, targetOf(call, subject))) continue
          const answer = await ask(call, subject, token)
          // Whoever is in no project can have no credential for one.
          const isNowhere = call.action === 'identity:create_application_credential' && who.project === null
          // The password that it gives is wrong.
          const isWrong = call.action === 'identity:change_password'
          assert.equal(isRefused(answer), isNowhere || isWrong, `${name}: ${told(answer, subject.user)}`)
          assert.ok(answer.status < 500)
        }
      }
      if (call.method !== 'GET' && call.path.search(/application_credentials/) < 0) await everyoneIsBack()
    })
  }

  void test('a token of others is as one that never was, but for those who may look', async () => {
    const all = await people()
    const subject = { user: '', id: '' }
    const actions = {
      GET: ['identity:validate_token', 'identity:validate_foreign_token'],
      DELETE: ['identity:revoke_token', 'identity:revoke_foreign_token'],
    } as const
    for (const call of IDENTITY_CALLS.filter(({ path, action }) => path.endsWith('/auth/tokens') && action !== null)) {
      const [own, foreign] = actions[call.method as keyof typeof actions]
      for (const [name, { token, who }] of Object.entries(all)) {
        const send = (text: string) => ask(call, subject, token, { 'x-subject-token': text })
        const theirs = await api.token('bob')
        const other = who.user === all['a member']!.who.user ? await api.token('nova') : theirs
        if (policy.allows(foreign, who)) {
          assert.ok(!isRefused(await send(other)), name)
          assert.equal((await send('nonsense')).status, 404, name)
        } else {
          assert.equal(told(await send(other), other), told(await send('nonsense'), 'nonsense'), name)
          assert.equal(await api.knock(other), 200, 'it still holds')
        }
        assert.ok(policy.allows(own, who))
      }
    }
  })

  void test('a credential of others is as one that never was, under one’s own name', async () => {
    const { 'a member': bob, 'an admin': alice } = await people()
    const theirs = await create(alice!)
    const path = `/v3/users/${bob!.who.user}/application_credentials`
    for (const method of ['GET', 'DELETE']) {
      const missing = randomUUID().replaceAll('-', '')
      const [one, other] = [theirs, missing].map(id =>
        api.request(method, `${path}/${id}`, undefined, { token: bob!.token }),
      )
      assert.equal(told(await one!, theirs), told(await other!, missing))
    }
    const { body } = await api.get(path, { token: bob!.token })
    assert.ok(!JSON.stringify(body).includes(theirs))
    expectStatus(
      await api.get(`/v3/users/${alice!.who.user}/application_credentials/${theirs}`, { token: alice!.token }),
      200,
    )
  })

  void test('credentials and revocations are in the audit, what was refused is not', async () => {
    const { 'a member': bob, 'an admin': alice } = await people()
    const entries = async (query: string) => {
      const headers = { 'x-auth-token': alice!.token }
      const response = await fetch(`${api.origin}/holdfast/v1/audit?${query}`, { headers })
      return ((await response.json()) as { entries: Record<string, unknown>[] }).entries
    }
    const actions = async (query: string) => (await entries(query)).map(({ action }) => action)
    const id = await create(bob!)
    const path = `/v3/users/${bob!.who.user}/application_credentials/${id}`
    expectStatus(await api.del(path, { token: (await logIn('nova')).token }), 403)
    expectStatus(await api.del(path, { token: alice!.token }), 204)
    const [deleted, created] = await entries(`object=${id}`)
    assert.deepEqual(
      [deleted, created].map(entry => [entry!['action'], entry!['user'], entry!['project'], entry!['objects']]),
      [
        ['identity:delete_application_credential', alice!.who],
        ['identity:create_application_credential', bob!.who],
      ].map(([action, who]) => [
        action,
        (who as Caller).user,
        (who as Caller).project,
        [{ kind: 'application_credential', id }],
      ]),
    )
    const { body } = expectStatus(await api.validate(bob!.token), 200)
    const [auditId] = body.token.audit_ids
    const subject = { 'x-subject-token': bob!.token }
    expectStatus(await api.del('/v3/auth/tokens', { token: (await logIn('nova')).token, headers: subject }), 403)
    assert.deepEqual(await actions(`object=${auditId}`), [])
    expectStatus(await api.del('/v3/auth/tokens', { token: bob!.token, headers: subject }), 204)
    assert.deepEqual(await actions(`object=${auditId}&user=${bob!.who.user}`), ['identity:revoke_token'])
  })

  void test('logins are in the audit with who came in, and who was tried and why not; what was throttled is not', async () => {
    const { token, who: alice } = await logIn('alice')
    const logins = async (name: string) => {
      const headers = { 'x-auth-token': token }
      const query = `action=identity:login&object=${encodeURIComponent(name)}`
      const response = await fetch(`${api.origin}/holdfast/v1/audit?${query}`, { headers })
      return ((await response.json()) as { entries: Record<string, unknown>[] }).entries
    }
    const [granted] = await logins('alice')
    assert.deepEqual(
      ['user', 'project', 'outcome', 'address', 'objects'].map(name => granted![name]),
      [
        alice.user,
        alice.project,
        'done',
        '127.0.0.1',
        [
          { kind: 'user', id: 'alice' },
          { kind: 'method', id: 'password' },
        ],
      ],
    )
    assert.deepEqual(new Set(granted!['roles'] as string[]), alice.roles)

    const stranger = `mallory-${randomUUID()}`
    const tries = Array.from({ length: limits.attemptsPerUserMax + 5 }, (_, i) => api.logIn(stranger, `guess ${i}`))
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    const refused = await logins(stranger)
    assert.equal(refused.length, statuses.filter(status => status === 401).length)
    assert.ok(refused.length < statuses.length)
    const [first] = refused
    assert.deepEqual(
      ['user', 'project', 'roles', 'outcome', 'address', 'objects'].map(name => first![name]),
      [
        'nobody',
        null,
        [],
        'failed',
        '127.0.0.1',
        [
          { kind: 'user', id: stranger },
          { kind: 'method', id: 'password' },
          { kind: 'reason', id: 'unknown name' },
        ],
      ],
    )

    const before = (await logins('bob')).length
    expectStatus(await api.logIn('bob', 'wrong'), 401)
    const [wrong, ...others] = await logins('bob')
    assert.deepEqual((wrong!['objects'] as object[]).at(-1), { kind: 'reason', id: 'wrong secret' })
    assert.equal(others.length, before)
    assert.doesNotMatch(JSON.stringify([wrong, refused]), /guess|"wrong"/)
  })
})
