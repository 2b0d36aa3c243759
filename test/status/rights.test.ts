// A stream of the status whose reader loses rights meanwhile.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { inProject, passwordAuth, usersText } from '../support/identity.ts'
import { type Server, startServer } from '../support/server.ts'
import { Viewer } from './viewer.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-status-rights-'))
let server: Server
before(async () => {
  writeFileSync(join(folder, 'users.yaml'), await usersText())
  server = await startServer('sqlite::memory:', { auth: 'password', users: join(folder, 'users.yaml') })
})
after(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

const ask = async (method: string, path: string, headers: Record<string, string>, body?: object) => {
  const answer = await fetch(server.origin + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, body: text === '' ? {} : JSON.parse(text) }
}
async function logIn(name: string, project: string) {
  const { body, headers } = await ask(
    'POST',
    '/identity/v3/auth/tokens',
    {},
    passwordAuth(name, undefined, inProject(project)),
  )
  return { headers: { 'x-auth-token': headers.get('x-subject-token')! }, ...body.token }
}
async function grantOf(name: string, project: string, user: string, admin: Record<string, string>) {
  const { body } = await ask('GET', '/identity/v3/roles', admin)
  const { id } = body.roles.find((role: { name: string }) => role.name === name)
  return `/identity/v3/projects/${project}/users/${user}/roles/${id}`
}

test('who loses a role is told everything again as they see it now; who loses all is told nothing more', async t => {
  const admin = await logIn('alice', 'lab')
  const bob = await logIn('bob', 'lab')
  const [member, reader] = [
    await grantOf('member', bob.project.id, bob.user.id, admin.headers),
    await grantOf('reader', bob.project.id, bob.user.id, admin.headers),
  ]
  t.mock.timers.enable({ apis: ['setInterval'] })
  const viewer = await new Viewer(bob.headers).connect(server.origin)
  const later = (holds: () => boolean) => () => {
    t.mock.timers.tick(2_000)
    return holds()
  }
  assert.ok(viewer.changes[0].me.may.includes('allocate'))
  assert.equal((await ask('PUT', reader, admin.headers)).status, 204)
  assert.equal((await ask('DELETE', member, admin.headers)).status, 204)
  const cursors = new Set<string | null>()
  await viewer.until(
    later(() => {
      cursors.add(viewer.cursor)
      return viewer.changes.at(-1).me.may.length === 0
    }),
    'less rights',
  )
  assert.equal(viewer.changes.at(-1).since, null)
  assert.ok(!cursors.has('null'), 'a cursor is none of ours')
  assert.equal((await ask('DELETE', reader, admin.headers)).status, 204)
  await viewer.stream.until(({ comments }) => {
    t.mock.timers.tick(2_000)
    return comments.some(text => text.includes('log in again') || text.includes('may not see'))
  }, 'the end')
  viewer.hangUp()
  assert.equal((await ask('GET', '/holdfast/v1/status', bob.headers)).status, 401)
})
