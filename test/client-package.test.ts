// The small package, used as someone would who has only that and the Node of their machine: installed in an empty
// folder, with the programs of its page.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { connect } from '../src/client/index.ts'
import { VERSION } from '../src/shared/version.ts'
import { allPages } from './docs/pages.ts'
import { type Server, startServer } from './support/server.ts'

const CLONE = fileURLToPath(new URL('..', import.meta.url))
const withoutOurs = (path: string) =>
  path
    .split(':')
    .filter(part => !part.includes('node_modules'))
    .join(':')
/** A person's shell knows nothing of the Node that runs this test, nor of its settings. */
const environment = Object.fromEntries(
  Object.entries({ ...process.env, npm_config_update_notifier: 'false' })
    .filter(([name]) => !/^(HOLDFAST_|OS_|NODE_|npm_(?!config_))/.test(name))
    .map(([name, value]) => [name, name === 'PATH' ? withoutOurs(value) : value]),
)

/** A browser has no process. What Node's fetch is made of needs Buffer, so that stays. */
const BARE = `
delete globalThis.process
const { connect, isHoldfastError } = await import('holdfast-client')
const env = { OS_AUTH_TYPE: 'http_basic', OS_USERNAME: 'zoë', OS_PASSWORD: 'x' }
const { nodes } = await connect({ url: URL_HERE, env })
console.log((await nodes.list()).length)
await connect({ cloud: 'lab', env: {} }).catch(error => console.log(isHoldfastError(error, 'invalid')))
`

const CLOUD = `
import { connect } from 'holdfast-client'
const { nodes } = await connect({ cloud: 'lab', env: process.env })
console.log((await nodes.list()).length)
`

const TYPED = `
import { connect, isHoldfastError, type Node } from 'holdfast-client'
export async function first(url: string): Promise<string | null> {
  const holdfast = await connect({ url, env: {} })
  try {
    // @ts-expect-error -- it is text
    const wrong: number = await holdfast.withNode({ resource_class: 'gpu' }, async (node: Node) => node.uuid)
    return (await holdfast.allocations.wait('a', { until: 'active' })).node_uuid
  } catch (error) {
    if (isHoldfastError(error, 'no_fit')) return error.reasons.map(({ reason }) => reason).join()
    if (isHoldfastError(error, 'lost')) return error.ending?.by ?? null
    throw error
  }
}
`

describe('the small package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-client-'))
  const place = join(folder, 'place')
  let server: Server
  // Not at once, because the server is in this process.
  const run = async (command: string, args: readonly string[], more: Record<string, string> = {}) => {
    const options = { cwd: place, env: { ...environment, HOLDFAST_URL: server.origin, ...more } }
    const { stdout, stderr } = await promisify(execFile)(command, args, options)
    assert.equal(stderr, '')
    return stdout
  }
  const runs = (name: string, text: string, more?: Record<string, string>) => {
    writeFileSync(join(place, name), text)
    return run('node', [name], more)
  }

  before(async () => {
    mkdirSync(place)
    writeFileSync(join(place, 'package.json'), '{ "type": "module" }')
    const npm = (cwd: string, ...args: string[]) =>
      execFileSync('npm', [...args, '--silent'], { cwd, env: environment, stdio: ['ignore', 'ignore', 'inherit'] })
    npm(join(CLONE, 'packages/client'), 'pack', '--pack-destination', folder)
    const tarball = join(folder, `holdfast-client-${VERSION}.tgz`)
    npm(place, 'install', '--no-audit', '--no-fund', '--prefer-offline', tarball)
    server = await startServer(`sqlite:${join(folder, 'a.db')}`, { auth: 'none' })
    const { nodes } = await connect({ url: server.origin, env: {} })
    for (const name of ['g1', 'g2']) {
      const { uuid } = await nodes.create({ driver: 'fake-hardware', name, resource_class: 'gpu' })
      await nodes.provision(uuid, 'manage')
      await nodes.wait(uuid, { until: 'manageable' })
      await nodes.provision(uuid, 'provide')
      await nodes.wait(uuid, { until: 'available' })
    }
  })
  after(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('is of the same version, and has no dependency that the whole package has in another one', () => {
    const small = JSON.parse(readFileSync(join(CLONE, 'packages/client/package.json'), 'utf8'))
    const { version, dependencies } = JSON.parse(readFileSync(join(CLONE, 'package.json'), 'utf8'))
    assert.equal(small.version, version)
    assert.deepEqual(small.dependencies, { yaml: dependencies.yaml })
  })

  test('runs the programs of its page on the Node of the machine', async () => {
    const { blocks } = allPages().find(({ path }) => path === 'docs/LIBRARY.md')!
    const said: string[] = []
    for (const { language, line, text } of blocks) {
      if (language === 'ts') said.push(await runs(`line-${line}.js`, text))
    }
    assert.deepEqual(
      said.map(text => text.replace(/working on g\d/, 'working on one').replace(/after \d+/, 'after N')),
      [
        'g1,g2\n',
        'working on one\nthe work returned 200\n',
        'had true\n',
        'g1 free nobody no end\ng2 free nobody no end\n0 wait; go on after N.end\n',
        '2 missing traits CUSTOM_GOLD\n',
        'holdfast.allocation.created\nholdfast.allocation.active\n',
      ],
    )
  })

  test('needs nothing that a browser lacks, and reads clouds.yaml where there are files', async () => {
    assert.equal(await runs('bare.js', BARE.replace('URL_HERE', JSON.stringify(server.origin))), '2\ntrue\n')
    writeFileSync(
      join(place, 'clouds.yaml'),
      JSON.stringify({ clouds: { lab: { auth_type: 'none', endpoint: server.origin } } }),
    )
    assert.equal(await runs('cloud.js', CLOUD, { HOLDFAST_URL: '' }), '2\n')
  })

  test('declares its types', async () => {
    writeFileSync(join(place, 'typed.ts'), TYPED)
    const strictly = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'esnext', '--types', '']
    assert.equal(await run(join(CLONE, 'node_modules/.bin/tsc'), [...strictly, '--ignoreConfig', 'typed.ts']), '')
  })
})
