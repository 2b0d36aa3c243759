// The real Keystone, as Debian has it, where it is installed: its tokens, its revocations.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { Client } from '../support/client.ts'
import { Identity, inProject, passwordAuth, until } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'
import { type Server, startServer } from '../support/server.ts'

const run = promisify(execFile)
const MANAGE = '/usr/bin/keystone-manage'
const SERVE = '/usr/bin/keystone-wsgi-public'
const skip = !(existsSync(MANAGE) && existsSync(SERVE)) && 'needs: apt-get install --no-install-recommends keystone'
const START_TIMEOUT_MS = 120_000

describe('the real Keystone', { skip }, () => {
  let folder = ''
  let keystone: ChildProcess
  let server: Server
  const api = new Identity()
  const real = new Client('')

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-keystone-'))
    const port = await freePort()
    const config = join(folder, 'keystone.conf')
    writeFileSync(
      config,
      [
        `[DEFAULT]\nlog_file = ${join(folder, 'log')}`,
        `[database]\nconnection = sqlite:///${join(folder, 'db')}`,
        `[fernet_tokens]\nkey_repository = ${join(folder, 'keys')}`,
        '[cache]\nenabled = false\n',
      ].join('\n'),
    )
    // Its words on the way out are of no interest; whether it worked is seen below.
    const manage = (...words: string[]) => run(MANAGE, ['--config-file', config, ...words])
    const { username, gid } = userInfo()
    await manage('db_sync')
    await manage('fernet_setup', '--keystone-user', username, '--keystone-group', String(gid))
    await manage(
      'bootstrap',
      '--bootstrap-password',
      'real-pw',
      '--bootstrap-public-url',
      `http://127.0.0.1:${port}/v3`,
    )
    const env = { ...process.env, OS_KEYSTONE_CONFIG_FILES: config }
    keystone = spawn(SERVE, ['--host', '127.0.0.1', '--port', String(port)], { env, stdio: 'ignore' })
    const url = `http://127.0.0.1:${port}`
    real.origins = [url]
    const isUp = () =>
      fetch(`${url}/v3`).then(
        ({ ok }) => ok,
        () => false,
      )
    for (const deadline = performance.now() + START_TIMEOUT_MS; !(await isUp());) {
      assert.ok(performance.now() < deadline, 'Keystone did not start in time')
    }
    server = await startServer('sqlite::memory:', {
      auth: 'keystone',
      keystoneUrl: url,
      keystoneUsername: 'admin',
      keystonePassword: 'real-pw',
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
    if (keystone?.exitCode === null) {
      keystone.kill('SIGKILL')
      await once(keystone, 'exit')
    }
    rmSync(folder, { recursive: true, force: true })
  })

  const post = (body: object) => real.post('/v3/auth/tokens', body, { token: null, version: null })

  test('its tokens open what their roles open, until they are revoked there', async () => {
    const { headers } = expectStatus(await post(passwordAuth('admin', 'real-pw', inProject('admin'))), 201)
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
    const { headers } = expectStatus(await post(passwordAuth('admin', 'real-pw', { system: { all: true } })), 201)
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}
