// The dashboard's files over HTTP: what is cached and for how long, what no page of ours may load, and what is no file.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import Fastify, { type FastifyInstance } from 'fastify'
import { serveFiles, STRICT, UI } from '../../src/http/ui.ts'
import { rawAnswer } from '../placement/raw.ts'
import { type Server, startServer } from '../support/server.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
const SCRIPT = `console.log('${'again '.repeat(100)}')`

/** As it is sent: fetch would unpack it. */
async function ask(origin: string, path: string, headers: Record<string, string> = {}, method = 'GET') {
  const sent = request(origin, { path, method, headers: { connection: 'close', ...headers } }).end()
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) =>
    sent.on('response', resolve).on('error', reject),
  )
  return { status: answer.statusCode!, headers: answer.headers, text: await text(answer) }
}

describe('files of the dashboard', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-ui-'))
  const dist = join(folder, 'dist')
  const script = join(dist, 'assets/main-a1b2c3d4.js')
  let app: FastifyInstance
  let origin = ''
  const get = (path: string, headers?: Record<string, string>, method?: string) => ask(origin, path, headers, method)
  const page = (body: string) => writeFileSync(join(dist, 'index.html'), `<!doctype html><title>${body}</title>`)

  before(async () => {
    mkdirSync(join(dist, 'assets'), { recursive: true })
    mkdirSync(join(dist, '.vite'))
    writeFileSync(join(folder, 'secret.txt'), 'secret')
    writeFileSync(join(dist, '.vite/manifest.json'), 'hidden')
    writeFileSync(join(dist, 'robots.txt'), 'robots')
    page('one')
    writeFileSync(script, SCRIPT)
    writeFileSync(`${script}.br`, brotliCompressSync(SCRIPT))
    writeFileSync(`${script}.gz`, gzipSync(SCRIPT))
    app = Fastify()
    await app.register(
      async scope => {
        scope.setErrorHandler((_error, _request, reply) => reply.code(404).send())
        serveFiles(scope, dist)
      },
      { prefix: UI },
    )
    origin = await app.listen()
  })
  after(async () => {
    await app.close()
    rmSync(folder, { recursive: true })
  })

  test('what has a hash in its name is kept for ever, and sent as small as the browser takes it', async () => {
    const path = '/ui/assets/main-a1b2c3d4.js'
    const plain = await get(path)
    assert.equal(plain.text, SCRIPT)
    assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable')
    assert.match(plain.headers['content-type']!, /^text\/javascript; charset=utf-8$/)
    for (const encoding of ['br', 'gzip']) {
      const small = await get(path, { 'accept-encoding': encoding })
      assert.equal(small.headers['content-encoding'], encoding)
      assert.equal(small.headers['content-type'], plain.headers['content-type'])
      assert.match(small.headers.vary!, /accept-encoding/i)
      assert.ok(Number(small.headers['content-length']) < SCRIPT.length)
    }
    for (const accepted of ['br;q=0, identity', 'deflate', 'brotli', 'br;q=0.0']) {
      assert.equal((await get(path, { 'accept-encoding': accepted })).text, SCRIPT, accepted)
    }
    assert.equal((await get(path, { 'accept-encoding': 'br;q=0,GZIP;q=0.5' })).headers['content-encoding'], 'gzip')
    // Parts are not offered, and so all of it is right.
    const part = await get(path, { range: 'bytes=0-6' })
    assert.deepEqual([part.status, part.text], [200, SCRIPT])
    const again = await get(path, { 'if-none-match': plain.headers.etag! })
    assert.deepEqual([again.status, again.text], [304, ''])
    const head = await get(path, {}, 'HEAD')
    assert.deepEqual([head.status, head.text, head.headers['content-length']], [200, '', String(SCRIPT.length)])
  })

  test('every address that is no file is the page, and nothing beside the folder is shown', async () => {
    for (const path of [
      '/ui/',
      '/ui/machine/rack-a01-06',
      '/ui/machine/name.with.dots',
      '/ui/calendar?from=2026-11-15',
      '/ui/assets',
      '/ui/../secret.txt',
      '/ui/%2e%2e/secret.txt',
      '/ui/..%2fsecret.txt',
      '/ui/.vite/manifest.json',
      '/ui/%00',
      `/ui/${'x'.repeat(300)}`,
    ]) {
      const { status, text, headers } = await get(path)
      assert.deepEqual([status, text], [200, '<!doctype html><title>one</title>'], path)
      assert.equal(headers['content-type'], 'text/html; charset=utf-8')
    }
    assert.equal((await get('/ui/robots.txt')).text, 'robots')
    assert.equal((await get('/ui')).headers.location, '/ui/')
    for (const path of ['x.js', '', '../../secret.txt', '..%2f..%2fsecret.txt', '%00', './main-a1b2c3d4.js']) {
      const { status, headers } = await get(`/ui/assets/${path}`)
      assert.ok(status >= 400 && status < 500, `${path}: ${status}`)
      assert.equal(headers['cache-control'], 'no-store', path)
    }
  })

  test('the page is asked for again each time, and known by its content alone', async () => {
    const first = await get('/ui/now')
    assert.equal(first.headers['cache-control'], 'no-cache')
    const asked = { 'if-none-match': `"other", ${first.headers.etag}` }
    const same = await get('/ui/queue', asked)
    assert.deepEqual([same.status, same.text, same.headers.etag], [304, '', first.headers.etag])
    // As another version of the package: the same size, the same date.
    const [dated, index] = [new Date('1985-10-26T08:15:00Z'), join(dist, 'index.html')]
    page('two')
    utimesSync(index, dated, dated)
    assert.match((await get('/ui/now', asked)).text, /two/)
    page('one')
  })

  test('all answers say what the page may load, and that nobody may frame it', async () => {
    for (const path of ['/ui/', '/ui/assets/main-a1b2c3d4.js', '/ui/assets/none.js', '/ui']) {
      const { headers } = await get(path)
      for (const [name, value] of Object.entries(STRICT)) assert.equal(headers[name], value, `${name} at ${path}`)
    }
    const policy = STRICT['content-security-policy']
    assert.match(policy, /default-src 'none'.*frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe|\*|http/)
  })

  test('without a build it says how to make one', async () => {
    renameSync(dist, `${dist}-away`)
    const { status, text, headers } = await get('/ui/now')
    renameSync(`${dist}-away`, dist)
    assert.equal(status, 503)
    assert.match(text, /npm run build:web/)
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal((await get('/ui/now')).status, 200)
  })
})

describe('the dashboard beside the APIs', () => {
  const servers: Server[] = []
  let origin = ''
  before(async () => {
    servers.push(await startServer('sqlite::memory:', { auth: 'none', corsOrigin: 'http://ours.example' }))
    servers.push(await startServer('sqlite::memory:', { auth: 'none', ui: 'off' }))
    origin = servers[0]!.origin
  })
  after(async () => {
    for (const server of servers) await server.stop()
  })

  test('the root is for programs JSON and for browsers the dashboard, unless there is none', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await ask(origin, '/', { accept: BROWSER, origin: 'http://ours.example' }, method)
      assert.deepEqual([status, headers.location, headers.vary], [302, '/ui/', 'Origin, Accept'])
    }
    for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5', 'nonsense', undefined]) {
      const { status, headers, text } = await ask(origin, '/', accept === undefined ? {} : { accept })
      assert.deepEqual([status, headers.vary, JSON.parse(text).name], [200, 'Origin, Accept', 'holdfast'])
    }
    const off = servers[1]!.origin
    assert.equal((await ask(off, '/', { accept: BROWSER })).status, 200)
    for (const path of ['/ui', '/ui/', '/ui/config.json', '/ui/identity/v3/auth/tokens'])
      assert.equal((await ask(off, path)).status, 404)
  })

  test('a link from another site opens it, also where everyone gets in', async () => {
    const { status } = await ask(origin, '/ui/machine/n1', { 'sec-fetch-site': 'cross-site', accept: BROWSER })
    assert.notEqual(status, 403)
  })

  test('other methods are refused before a body is read', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await rawAnswer(origin, {
        line: `${method} /ui/nowhere HTTP/1.1`,
        headers: ['content-type: application/json', 'content-length: 200000'],
        body: '{',
      })
      assert.equal(answer.status, 405, method)
    }
    assert.equal((await ask(origin, '/ui/', {}, 'PURGE')).status, 404)
    assert.equal((await ask(origin, '/ui/%ff')).status, 400)
  })

  test('however many addresses are asked for, they are one series', async () => {
    for (let i = 0; i < 5; i++) await ask(origin, `/ui/machine/n${i}`)
    const metrics = await (await fetch(`${origin}/metrics`)).text()
    const routes = new Set([...metrics.matchAll(/route="(\/ui[^"]*)"/g)].map(([, route]) => route))
    assert.deepEqual([...routes], ['/ui/*'])
  })
})
