// Compares the plain URLs with a router that has a route for every spelling.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import Fastify, { type FastifyInstance } from 'fastify'
import { baremetal } from './dialect.ts'
import { routes } from './routes.ts'
import { plainUrl } from './spelling.ts'

const numRuns = Number(process.env.HOLDFAST_RUNS ?? 1500)

function routerOf(spellings: (path: string) => string[], rewrite?: (url: string) => string): FastifyInstance {
  const app = Fastify(rewrite ? { rewriteUrl: ({ url = '' }) => rewrite(url) } : {})
  for (const path of Object.keys(routes)) {
    for (const url of spellings(path)) app.get(`/baremetal${url}`, ({ params }) => ({ path, params }))
  }
  app.get('/baremetal/', () => ({ path: 'versions' }))
  app.get('/baremetal/*', () => ({ path: 'unknown' }))
  return app
}

const one = routerOf(path => [path, ...baremetal.spellings!(path)].map(url => `/v1${url}`), plainUrl)
const OLDER = new Map([
  ['/nodes/:ident/states', '/nodes/states/:ident'],
  ['/nodes/:ident/states/console', '/nodes/states/console/:ident'],
])
const all = routerOf(path => {
  const older = OLDER.get(path)
  const spelled = [path, ...(older ? [older] : []), ...(path === '/nodes/detail' ? [] : [`${path}/`])]
  return [...spelled.map(url => `/v1${url}`), ...(path === '' ? [] : spelled)]
})

const answerOf = async (app: FastifyInstance, url: string) => (await app.inject({ method: 'GET', url })).body

/** The names in the table, and some that mean something else. */
const names = [...new Set(Object.keys(routes).flatMap(path => path.split('/').slice(1)))]
  .map(name => (name.startsWith(':') ? 'n1' : name))
  .concat('', 'v1', 'v2', 'a%2Fb', '%76%31', 'nod%65s', 'det%61il', 'ä'.normalize(), '..', ':ident')

const anyPath = fc.array(fc.constantFrom(...names), { maxLength: 6 }).map(parts => parts.join('/'))
const tablePath = fc
  .tuple(fc.constantFrom(...Object.keys(routes)), fc.constantFrom(...names))
  .map(([path, name]) => path.replaceAll(/:\w+/g, name).slice(1))

void describe('the spellings of a path', () => {
  it('reach the route that a route for each of them would reach', async () => {
    const ending = fc.constantFrom('', '/', '//', '?a=/nodes/', '/?limit=1', '#x/')
    const below = fc.constantFrom('/baremetal/', '/baremetal/v1/', '/baremetal/%761/')
    const check = async (start: string, path: string, end: string) => {
      const url = encodeURI(start + path + end).replaceAll('%25', '%')
      // With a slash behind it, the older spelling was no route; now the slash means nothing there either.
      fc.pre(!/^(v1\/)?nodes\/states\/.*\/$/.test(decodeURI(url.slice('/baremetal/'.length).split(/[?#]/)[0]!)))
      assert.equal(await answerOf(one, url), await answerOf(all, url), url)
    }
    await fc.assert(fc.asyncProperty(below, fc.oneof(anyPath, tablePath), ending, check), { numRuns })
  })

  it('are the same behind a scheme and a host', () => {
    for (const path of ['/baremetal/nodes', '/baremetal/v1/nodes/?a=/', '/baremetal/', '/placement/traits/', '/']) {
      assert.equal(plainUrl(`http://a.example:80${path}`), plainUrl(path))
      assert.equal(plainUrl(`https://[::1]${path}`), plainUrl(path))
    }
  })

  it('leave alone what is not of bare metal, and what cannot be decoded', () => {
    for (const url of [
      '/',
      '*',
      '/baremetal',
      '/baremetal/',
      '/baremetal/?a',
      '/placement/traits/',
      '/baremetals/x/',
    ]) {
      assert.equal(plainUrl(url), url)
    }
    assert.equal(plainUrl('/baremetal/%zz/'), '/baremetal/v1/%zz')
  })
})
