// What `npm pack` makes, used as someone would who has only that: installed in an empty folder, served from, imported.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { VERSION } from '../src/shared/version.ts'

const CLONE = fileURLToPath(new URL('..', import.meta.url))
const TSC = join(CLONE, 'node_modules/.bin/tsc')
/** A person's shell knows nothing of the Node that runs this test, nor of its settings. */
const environment = Object.fromEntries(
  Object.entries({ ...process.env, npm_config_update_notifier: 'false' })
    .filter(([name]) => !/^(HOLDFAST_|OS_|NODE_|npm_(?!config_))/.test(name))
    .map(([name, value]) => [name, name === 'PATH' ? withoutOurs(value) : value]),
)

function withoutOurs(path = ''): string {
  return path
    .split(':')
    .filter(part => !part.includes('node_modules'))
    .join(':')
}

const at = (cwd: string) => (command: string, args: readonly string[]) =>
  execFileSync(command, args, { cwd, env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const USE = `
import { ApiError, connect } from 'holdfast'
const holdfast = await connect({ url: process.argv[2], env: {} })
const [node] = await holdfast.nodes.list()
console.log(node.name)
await holdfast.nodes.show('nobody').catch(error => console.log(error instanceof ApiError, error.status))
`

const TYPED = `
import { type Allocation, connect, type Holdfast, type Node } from 'holdfast'
export async function first(url: string): Promise<Node | undefined> {
  const holdfast: Holdfast = await connect({ url, env: {} })
  const made: Allocation = await holdfast.allocations.create({ resource_class: 'gpu', wait_until: '10m' })
  // @ts-expect-error -- it is text
  const wrong: number = made.uuid
  return (await holdfast.nodes.list({ traits: ['CUSTOM_A100'] }))[0]
}
`

describe('the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-package-'))
  const place = join(folder, 'place')
  const run = at(place)
  const holdfast = (...words: string[]) => run('npx', ['--no', 'holdfast', ...words])
  let tarball = ''
  let files: string[] = []

  before(() => {
    // Where someone who runs deploy/compose.yaml from a clone keeps their users.
    const config = join(CLONE, 'deploy/config')
    mkdirSync(config, { recursive: true })
    const own = mkdtempSync(join(config, 'test-'))
    writeFileSync(join(own, 'users.yaml'), 'users: {}')
    // And what someone may have beside it who tried things there.
    const tried = ['people.yaml.new', 'lab.db', 'lab.db-wal', 'lab.db.lock', 'key.pem', 'clouds.yaml'].map(name =>
      join(CLONE, 'deploy/systemd', name),
    )
    for (const file of tried) writeFileSync(file, '')
    at(CLONE)('npm', ['pack', '--silent', '--pack-destination', folder])
    for (const file of [own, ...tried]) rmSync(file, { recursive: true })
    if (readdirSync(config).length === 0) rmdirSync(config)
    tarball = join(folder, `holdfast-${VERSION}.tgz`)
    files = at(folder)('tar', ['-tzf', tarball]).trim().split('\n')
    mkdirSync(place)
    writeFileSync(join(place, 'package.json'), '{ "type": "module" }')
    run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefer-offline', tarball])
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('holds JavaScript and what it reads, and neither sources nor tests', () => {
    const has = (file: string) => files.includes(`package/${file}`)
    for (const file of ['bin/holdfast', 'dist/main.js', 'dist/client/index.d.ts', 'README.md', 'LICENSE']) {
      assert.ok(has(file), file)
    }
    assert.ok(has('web/dist/index.html'))
    for (const kind of ['js', 'js.br', 'js.gz', 'css.br']) {
      assert.ok(
        files.some(file => file.startsWith('package/web/dist/assets/') && file.endsWith(`.${kind}`)),
        kind,
      )
    }
    for (const kind of ['sqlite', 'postgres']) assert.ok(has(`dist/store/migrations/0001-ledger.${kind}.sql`), kind)
    // The names of the dashboard's files have hashes, which may be words.
    const ours = files.filter(file => !/^package\/(docs\/examples|web\/dist\/assets)\//.test(file))
    const strange = ours.filter(file => /(?<!\.d)\.ts$|test|src\//.test(file))
    assert.deepEqual(strange, [])
    const declared = ours.filter(file => file.endsWith('.d.ts') && !file.startsWith('package/dist/client/'))
    const taken = ['clock/countdown', 'clock/plain', 'shared/is-object', 'shared/when', 'shared/yaml'].map(
      name => `package/dist/${name}.d.ts`,
    )
    assert.deepEqual(declared.toSorted(), taken, 'only the library is declared, and what it takes along')
  })

  test('holds no users, databases or keys of whoever made it', () => {
    assert.deepEqual(
      files.filter(file => /users\.yaml|deploy\/config|\.(db|db-wal|lock|new|pem)$|clouds\.yaml/.test(file)),
      [],
    )
  })

  test('is small', () => {
    const { size } = statSync(tarball)
    assert.ok(size < 2_200_000, `${size} bytes`)
  })

  test('serves, is a client of what it serves, and ends when it is told to', async () => {
    const child = spawn(
      'npx',
      ['--no', 'holdfast', 'serve', '--port', '0', '--database', `sqlite:${join(folder, 'a.db')}`],
      { cwd: place, env: environment, stdio: ['ignore', 'pipe', 'inherit'], detached: true },
    )
    const exit = once(child, 'close')
    // As a terminal does: npx itself tells nobody below it.
    let said = ''
    const interrupt = () => process.kill(-child.pid!, 'SIGINT')
    try {
      const origin = await new Promise<string>((resolve, reject) => {
        child.stdout.setEncoding('utf8').on('data', more => {
          const found = /listening at (\S+)/.exec((said += more))
          if (found) resolve(found[1]!)
        })
        void exit.then(() => reject(new Error(`it ended: ${said}`)))
      })
      assert.equal(holdfast('version', '--url', origin), `holdfast ${VERSION}\nserver ${VERSION} at ${origin}\n`)
      const made = holdfast('node', 'create', '--name', 'n1', '-f', 'value', '-c', 'name', '--url', origin)
      assert.equal(made, 'n1\n')
      const page = await (await fetch(`${origin}/ui/machine/n1`)).text()
      const [, script] = /<script type="module" crossorigin src="([^"]+)"/.exec(page)!
      assert.match((await fetch(origin + script!)).headers.get('content-type')!, /javascript/)
      writeFileSync(join(place, 'use.mjs'), USE)
      const node = join(place, 'node_modules/.bin/node')
      assert.equal(run(node, ['use.mjs', origin]), 'n1\ntrue 404\n')
    } finally {
      interrupt()
    }
    await exit
    assert.match(said, /SIGINT: finishing what is under way/)
  })

  test('declares its library, and nothing beside it can be imported', () => {
    writeFileSync(join(place, 'typed.ts'), TYPED)
    const strictly = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'esnext', '--types', '']
    assert.equal(run(TSC, [...strictly, '--ignoreConfig', 'typed.ts']), '')
    const inside = ['--input-type=module', '--eval', "await import('holdfast/dist/serve.js')"]
    assert.throws(() => run(join(place, 'node_modules/.bin/node'), inside), /ERR_PACKAGE_PATH_NOT_EXPORTED/)
  })

  test('runs on the Node of the machine where npm was told to bring none, if that is new enough', () => {
    const node = join(place, 'node_modules/.bin/node')
    const real = realpathSync(node)
    rmSync(node)
    const older = join(folder, 'older')
    mkdirSync(older)
    writeFileSync(join(older, 'node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    const version = (path: string) =>
      spawnSync(join(place, 'node_modules/.bin/holdfast'), ['version', '--url', 'http://127.0.0.1:9'], {
        env: { ...environment, PATH: `${path}:/usr/bin:/bin` },
        encoding: 'utf8',
      })
    assert.equal(version(dirname(real)).stdout, `holdfast ${VERSION}\n`)
    const { status, stderr } = version(older)
    assert.equal(status, 1)
    assert.match(stderr, /^holdfast: needs Node 26 or newer[^\n]*\n$/)
  })
})
