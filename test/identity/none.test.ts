// Mode `none`: tokens for everyone who asks, so that clients which need one have one; nobody is kept out without.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { Baremetal } from '../support/baremetal.ts'
import { eachIdentity, inProject } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'

eachIdentity(
  'no authentication',
  ({ api }) => {
    test('any name and password give an admin’s token', async () => {
      const { body } = expectStatus(await api.logIn('anyone', 'anything', inProject('any')), 201)
      assert.deepEqual([body.token.user.name, body.token.project.name], ['anyone', 'any'])
      assert.ok(body.token.roles.some((role: { name: string }) => role.name === 'admin'))
      assert.ok(body.token.catalog.length > 0)
    })

    test('a name has the same id each time, and a project of its name unless another is named', async () => {
      const [first, second, other] = [
        (await api.logIn('ann')).body.token,
        (await api.logIn('ann', 'else')).body.token,
        (await api.logIn('ben')).body.token,
      ]
      assert.deepEqual([first.user.id, first.project], [second.user.id, second.project])
      assert.equal(first.project.name, 'ann')
      assert.notEqual(first.user.id, other.user.id)
      assert.notEqual(first.project.id, other.project.id)
    })

    test('any token or none is let in', async () => {
      for (const token of [null, 'nonsense', await api.token('ann')]) assert.equal(await api.knock(token), 200)
      const token = await api.token('ann')
      expectStatus(await api.del('/v3/auth/tokens', { token, headers: { 'x-subject-token': token } }), 204)
      assert.equal(await api.knock(token), 200)
    })

    test('what is done with a token is done for its user and project', async () => {
      const metal = new Baremetal(api.origin)
      const node = await metal.node({ resource_class: 'x' }, 'available')
      const { body, headers } = expectStatus(await api.logIn('ann', 'x', inProject('lab')), 201)
      const instance = randomUUID()
      const patch = [{ op: 'add', path: '/instance_uuid', value: instance }]
      const token = headers['x-subject-token'] as string
      expectStatus(await metal.patch(`/v1/nodes/${node}`, patch, { token }), 200)
      const claim = expectStatus(await metal.placement.get(`/allocations/${instance}`), 200).body
      assert.deepEqual([claim.project_id, claim.user_id], [body.token.project.id, body.token.user.id])
      metal.close()
    })

    test('users and projects are found by any name, and those of the caller are listed', async () => {
      const token = await api.token('ann', inProject('lab'))
      const { body } = expectStatus(await api.get('/v3/users?name=ben', { token }), 200)
      assert.equal(body.users[0].name, 'ben')
      const list = async (path: string, name: string) =>
        (await api.get(path, { token })).body[name].map((item: { name: string }) => item.name)
      assert.deepEqual(await list('/v3/users', 'users'), ['ann'])
      assert.deepEqual(await list('/v3/projects', 'projects'), ['lab'])
      assert.deepEqual(await list('/v3/auth/projects', 'projects'), ['lab'])
      expectStatus(await api.get('/v3/users', { token: null }), 200)
    })
  },
  { auth: 'none' },
)
