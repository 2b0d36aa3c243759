// Names of users and projects: from the users file, or as their tokens said them; who may know them, and who is meant.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { idOf } from '../../src/identity/ids.ts'
import { Client } from '../support/client.ts'
import { eachIdentity, inProject, until } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'
import { type Server, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { FakeKeystone } from './fake-keystone.ts'

interface Told {
  users: { id: string; name: string }[]
  projects: { id: string; name: string }[]
}

const names = async (origin: string, token: string | null, query = ''): Promise<Told> => {
  const client = new Client('/holdfast/v1', origin)
  try {
    const options = { token, version: null }
    return expectStatus(await client.get(`/names${query}`, options), 200).body as Told
  } finally {
    client.close()
  }
}
const called = (list: { name: string }[]) => list.map(({ name }) => name).toSorted()

eachIdentity(
  'names of our own users',
  ({ api }) => {
    test('admins know all, members their project and the people in it', async () => {
      const all = await names(api.origin, await api.token('alice'))
      assert.deepEqual(called(all.users), ['alice', 'bob', 'carol', 'nova'])
      assert.deepEqual(called(all.projects), ['lab', 'office', 'service'])
      const bob = await api.token('bob')
      const some = await names(api.origin, bob)
      assert.deepEqual([called(some.users), called(some.projects)], [['alice', 'bob', 'carol'], ['lab']])
      for (const query of [
        '?user=nova',
        '?project=office',
        `?ids=${idOf('user', 'nova')},${idOf('project', 'office')}`,
      ]) {
        assert.deepEqual(await names(api.origin, bob, query), { users: [], projects: [] }, query)
      }
      const unscoped = await names(api.origin, await api.token('carol', 'unscoped'))
      assert.deepEqual([called(unscoped.users), called(unscoped.projects)], [['carol'], []])
    })

    test('a name or an id finds one; an unknown word finds nothing', async () => {
      const admin = await api.token('alice', inProject('lab'))
      const lab = { id: idOf('project', 'lab'), name: 'lab' }
      assert.deepEqual((await names(api.origin, admin, '?project=lab')).projects, [lab])
      assert.deepEqual((await names(api.origin, admin, `?project=${lab.id}`)).projects, [lab])
      for (const word of ['labs', 'LAB', '%25', 'f'.repeat(32), '__proto__', 'toString']) {
        assert.deepEqual((await names(api.origin, admin, `?project=${word}&user=${word}`)).projects, [], word)
      }
      const bad = new Client('/holdfast/v1', api.origin)
      for (const query of ['?project=', '?user=a&user=b', '?pony=1', `?ids=${'a,'.repeat(101)}a${'b'.repeat(9_000)}`]) {
        expectStatus(await bad.get(`/names${query}`, { token: admin, version: null }), 400)
      }
      bad.close()
    })
  },
  {},
  ['sqlite'],
)

eachDatabase('names of others', databases => {
  const keystone = new FakeKeystone()
  const servers: Server[] = []
  let database = ''
  const start = async () => {
    const server = await startServer(database, {
      auth: 'keystone',
      keystoneUrl: keystone.url,
      keystonePassword: keystone.password,
      keystoneCacheSeconds: 0,
    })
    servers.push(server)
    return server.origin
  }
  const knock = async (origin: string, token: string) => {
    const answer = await fetch(`${origin}/baremetal/v1/nodes`, { headers: { 'x-auth-token': token } })
    await answer.arrayBuffer()
    return answer.status
  }
  before(async () => {
    await keystone.start()
    database = await databases.create()
  })
  after(async () => {
    for (const server of servers) await server.stop()
    await keystone.stop()
  })

  test('who came with a token is known by name, also after a restart, and by the last name', async () => {
    const origin = await start()
    keystone.tokens.set('t-ada', { user: 'ada', project: 'lab', roles: ['member'] })
    keystone.tokens.set('t-eve', { user: 'eve', project: 'other', roles: ['member'] })
    keystone.tokens.set('t-root', { user: 'root', project: 'ops', roles: ['admin'] })
    for (const token of ['t-ada', 't-eve', 't-root']) assert.equal(await knock(origin, token), 200)
    assert.deepEqual(called((await names(origin, 't-root')).users), ['ada', 'eve', 'root'])
    assert.deepEqual(await names(origin, 't-ada'), {
      users: [{ id: 'id-of-ada', name: 'ada' }],
      projects: [{ id: 'id-of-lab', name: 'lab' }],
    })
    assert.deepEqual(await names(origin, 't-ada', '?user=eve&project=other'), { users: [], projects: [] })
    // Renamed in Keystone: the same id with another name.
    keystone.tokens.set('t-ada', { user: 'ada', userName: 'ada-lovelace', project: 'lab', roles: ['member'] })
    assert.equal(await knock(origin, 't-ada'), 200)
    assert.deepEqual((await names(origin, 't-root', '?ids=id-of-ada')).users, [
      { id: 'id-of-ada', name: 'ada-lovelace' },
    ])
    await servers.pop()!.stop()
    const later = await start()
    assert.deepEqual(called((await names(later, 't-root')).users), ['ada-lovelace', 'eve', 'root'])
  })

  test('Keystone is asked whom a name means; an id comes before a name', async () => {
    const origin = servers.at(-1)!.origin
    const [one, other] = ['a'.repeat(32), 'b'.repeat(32)]
    keystone.directory = {
      projects: [
        { id: one, name: 'physics' },
        // Called like the id of another.
        { id: other, name: one },
        { id: 'c'.repeat(32), name: 'twin' },
        { id: 'd'.repeat(32), name: 'twin' },
        { id: 'e'.repeat(32), name: 'lab' },
      ],
      users: [],
    }
    const projects = async (word: string, token = 't-root') => (await names(origin, token, `?project=${word}`)).projects
    assert.deepEqual(await projects('physics'), [{ id: one, name: 'physics' }])
    assert.deepEqual(await projects(one), [{ id: one, name: 'physics' }])
    assert.equal((await projects('twin')).length, 2)
    assert.deepEqual(await projects('nope'), [])
    // The name is another's by now than whose it was when we saw it.
    assert.deepEqual(await projects('lab'), [{ id: 'e'.repeat(32), name: 'lab' }])
    // Members ask nobody.
    assert.deepEqual(await projects('physics', 't-eve'), [])
    // Where Keystone doesn't tell, what was seen counts, and what looks like an id may be one.
    keystone.directory = null
    assert.deepEqual(await projects('ops'), [{ id: 'id-of-ops', name: 'ops' }])
    assert.deepEqual(await projects('f'.repeat(32)), [{ id: 'f'.repeat(32), name: 'f'.repeat(32) }])
    assert.deepEqual(await projects('nope'), [])
  })

  if (databases.kind === 'postgres') {
    test('another process on the same database learns a name within seconds', async () => {
      const [here, there] = [servers.at(-1)!.origin, await start()]
      keystone.tokens.set('t-new', { user: 'newcomer', project: 'lab', roles: ['member'] })
      assert.equal(await knock(here, 't-new'), 200)
      const ask = async () => (await names(there, 't-root', '?ids=id-of-newcomer')).users
      assert.deepEqual(await until(ask, found => found.length > 0), [{ id: 'id-of-newcomer', name: 'newcomer' }])
    })
  }
})

describe('where everyone gets in', () => {
  test('a word that nobody came with is an id; one that somebody came with means them', async () => {
    const server = await startServer('sqlite::memory:', { auth: 'none' })
    try {
      const ask = (word: string) => names(server.origin, null, `?project=${word}`)
      assert.deepEqual((await ask('lab')).projects, [{ id: 'lab', name: 'lab' }])
      const identity = {
        methods: ['password'],
        password: { user: { name: 'me', domain: { id: 'default' }, password: 'x' } },
      }
      const scope = { project: { name: 'lab', domain: { id: 'default' } } }
      const entered = await fetch(`${server.origin}/identity/v3/auth/tokens`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ auth: { identity, scope } }),
      })
      const token = entered.headers.get('x-subject-token')!
      await names(server.origin, token)
      assert.deepEqual((await ask('lab')).projects, [{ id: idOf('project', 'lab'), name: 'lab' }])
    } finally {
      await server.stop()
    }
  })
})
