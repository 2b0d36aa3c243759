// The real Keystone, as Debian has it, where it is installed: its tokens, its revocations.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Client } from '../support/client.ts'
import { Identity, inProject, passwordAuth, until } from '../support/identity.ts'
import { type Keystone, keystoneMissing, startKeystone } from '../support/keystone.ts'
import { expectStatus } from '../support/placement.ts'
import { type Server, startServer } from '../support/server.ts'

describe('the real Keystone', { skip: keystoneMissing }, () => {
  let keystone: Keystone
  let server: Server
  const api = new Identity()
  const real = new Client('')

  before(async () => {
    keystone = await startKeystone()
    real.origins = [keystone.url]
    server = await startServer('sqlite::memory:', {
      auth: 'keystone',
      keystoneUrl: keystone.url,
      keystoneUsername: 'admin',
      keystonePassword: keystone.password,
      keystoneProject: 'admin',
      keystoneCacheSeconds: 1,
      placementPolicy: 'secure',
    })
    api.origins = [server.origin]
  })
  after(async () => {
    api.close()
    real.close()
    await server?.stop()
    await keystone?.stop()
  })

  const post = (body: object) => real.post('/v3/auth/tokens', body, { token: null, version: null })

  test('its tokens open what their roles open, until they are revoked there', async () => {
    const { headers } = expectStatus(await post(passwordAuth('admin', keystone.password, inProject('admin'))), 201)
    const token = headers['x-subject-token'] as string
    const providers = async () =>
      (await fetch(`${api.origin}/placement/resource_providers`, { headers: { 'x-auth-token': token } })).status
    // On a busy machine it may be slow to answer, which is 503 here.
    assert.equal(await until(providers, status => status === 200), 200)
    assert.equal(
      await until(
        () => api.knock(`${token}x`),
        status => status === 401,
      ),
      401,
    )
    const options = { token, version: null, headers: { 'x-subject-token': token } }
    expectStatus(await real.del('/v3/auth/tokens', options), 204)
    assert.equal(await until(providers, status => status === 401), 401)
  })

  test('a token for the whole system is known as one', async () => {
    const { headers } = expectStatus(
      await post(passwordAuth('admin', keystone.password, { system: { all: true } })),
      201,
    )
    const token = headers['x-subject-token'] as string
    assert.equal(
      await until(
        () => api.knock(token),
        status => status === 200,
      ),
      200,
    )
    const traits = async () =>
      (await fetch(`${api.origin}/placement/resource_providers`, { headers: { 'x-auth-token': token } })).status
    assert.equal(await until(traits, status => status !== 503), 403)
  })
})
