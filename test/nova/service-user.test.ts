// The user as whom we call Nova: Nova's middleware finds its token right, and nobody can become it.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { stringify } from 'yaml'
import { SharedClock } from '../../src/clock/shared-clock.ts'
import { ServiceAccount } from '../../src/identity/service-user.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { eachIdentity, hashOf, Identity, until, USERS } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'

const HOUR_MS = 60 * 60_000
const NOVA = { compute: 'nova', novaUrl: 'http://127.0.0.1:1/v2.1' } as const

eachIdentity(
  'the service user',
  ({ api, database, databases, file, start, rewrite }) => {
    let store: Store
    let account: ServiceAccount
    before(() => {
      // As in a conductor, which has no users.
      store = openStore(database())
      account = new ServiceAccount({ store, clock: new SharedClock(store, false), lifeMs: HOUR_MS })
    })
    after(() => store.close())

    test('its token is right for Nova, which asks us, and is admin and service of the project service', async () => {
      const token = await account.token()
      assert.equal(await account.token(), token)
      const { body } = expectStatus(await api.validate(token, await api.token('nova')), 200)
      const { user, project, roles } = body.token
      assert.deepEqual([user.name, project.name], ['holdfast:service', 'service'])
      assert.deepEqual(roles.map(({ name }: { name: string }) => name).toSorted(), [
        'admin',
        'member',
        'reader',
        'service',
      ])
      assert.equal(await api.knock(token), 200)
      account.refused()
      assert.notEqual(await account.token(), token)
    })

    test('it needs no project of that name in the file', async () => {
      const token = await account.token()
      const before = expectStatus(await api.validate(token), 200).body.token.project
      const alice = { alice: { password: await hashOf('alice-pw'), roles: { lab: ['admin'] } } }
      writeFileSync(file(), stringify({ projects: { lab: null }, users: alice }))
      // Once the change is read, bob is unknown.
      await until(
        () => api.logIn('bob'),
        ({ status }) => status === 401,
      )
      const { project } = expectStatus(await api.validate(token), 200).body.token
      assert.deepEqual(project, before)
      await rewrite(USERS)
      await until(
        () => api.logIn('bob'),
        ({ status }) => status === 201,
      )
    })

    test('nobody can log in as it, and lists of users do not show it', async () => {
      for (const word of ['holdfast:service', 'holdfast']) {
        expectStatus(await api.logIn(word, ''), 401)
        expectStatus(await api.logIn(word, 'null'), 401)
      }
      assert.equal(await api.knock(null, { authorization: `Basic ${btoa('holdfast:service:')}` }), 401)
      const token = await api.token('alice')
      const { body } = expectStatus(await api.get('/v3/users', { token }), 200)
      assert.ok(!JSON.stringify(body).includes('holdfast:service'))
      const own = await account.token()
      const { token: seen } = expectStatus(await api.validate(own), 200).body
      const credential = { application_credential: { name: 'mine', secret: 'secret-of-mine' } }
      await api.post(`/v3/users/${seen.user.id}/application_credentials`, credential, { token: own })
      const entry = {
        auth: {
          identity: {
            methods: ['application_credential'],
            application_credential: { name: 'mine', user: { id: seen.user.id }, secret: 'secret-of-mine' },
          },
        },
      }
      expectStatus(await api.post('/v3/auth/tokens', entry), 401)
    })

    test('its token can not be changed for one of another project or of the system', async () => {
      const identity = { methods: ['token'], token: { id: await account.token() } }
      for (const scope of [{ project: { name: 'lab', domain: { id: 'default' } } }, { system: { all: true } }]) {
        expectStatus(await api.post('/v3/auth/tokens', { auth: { identity, scope } }), 401)
      }
    })

    test('without a Nova there is none', { skip: databases.kind === 'sqlite' && 'one process' }, async () => {
      const other = new Identity((await start(database(), { compute: 'own' })).origin)
      assert.equal(await other.knock(await account.token()), 401)
      other.close()
    })
  },
  NOVA,
)
