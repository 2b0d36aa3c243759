// TLS: served with the certificate in the files, also when another comes while the service runs.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connect } from 'node:tls'
import { json } from 'node:stream/consumers'
import { passwordAuth, until } from '../support/identity.ts'
import { type Server, startServer } from '../support/server.ts'

const skip = spawnSync('openssl', ['version']).status !== 0 && 'needs openssl to make certificates'

describe('TLS', { skip }, () => {
  let folder = ''
  let server: Server
  const path = (name: string) => join(folder, name)
  const make = (name: string) =>
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
        .concat(['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'])
        .concat(['-keyout', path(`${name}.key`), '-out', path(`${name}.pem`)]),
      { stdio: 'ignore' },
    )
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-tls-'))
    for (const name of ['first', 'second']) make(name)
    for (const kind of ['pem', 'key']) copyFileSync(path(`first.${kind}`), path(`live.${kind}`))
    const files = { tlsCert: path('live.pem'), tlsKey: path('live.key') }
    server = await startServer('sqlite::memory:', { auth: 'none', ...files })
  })
  after(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true })
  })

  const send = async (where: string, method = 'GET', body?: object): Promise<IncomingMessage> => {
    const outgoing = request(`${server.origin}${where}`, { method, rejectUnauthorized: false, agent: false })
    outgoing.end(body && JSON.stringify(body))
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    return incoming
  }
  const certificate = async (): Promise<string> => {
    const socket = connect({ port: Number(new URL(server.origin).port), host: '127.0.0.1', rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const name = socket.getPeerCertificate().subject['CN'] as string
    socket.destroy()
    return name
  }

  test('the links and the catalog say https, and clients are told to stay with it', async () => {
    assert.match(server.origin, /^https:/)
    const answer = await send('/identity/v3/auth/tokens', 'POST', passwordAuth('ann'))
    assert.equal(answer.statusCode, 201)
    assert.match(answer.headers['strict-transport-security']!, /^max-age=\d+$/)
    const { token } = (await json(answer)) as { token: { catalog: { endpoints: { url: string }[] }[] } }
    for (const { endpoints } of token.catalog) for (const { url } of endpoints) assert.match(url, /^https:/)
  })

  test('a new certificate is taken up, a broken one is not', async () => {
    assert.equal(await certificate(), 'first')
    for (const kind of ['key', 'pem']) copyFileSync(path(`second.${kind}`), path(`live.${kind}`))
    assert.equal(await until(certificate, name => name === 'second'), 'second')
    writeFileSync(path('live.pem'), 'no certificate')
    process.emit('SIGHUP')
    assert.equal(await certificate(), 'second')
    for (const kind of ['key', 'pem']) copyFileSync(path(`first.${kind}`), path(`live.${kind}`))
    process.emit('SIGHUP')
    assert.equal(await certificate(), 'first')
  })

  test('only forward-secret ciphers are spoken', async () => {
    const speaks = async (ciphers: string) => {
      const port = Number(new URL(server.origin).port)
      const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ciphers, maxVersion: 'TLSv1.2' })
      const outcome = await once(socket, 'secureConnect').then(
        () => true,
        () => false,
      )
      socket.destroy()
      return outcome
    }
    assert.equal(await speaks('ECDHE-ECDSA-AES128-GCM-SHA256'), true)
    for (const old of ['ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES256-SHA384', 'AES128-GCM-SHA256', 'AES256-SHA']) {
      assert.equal(await speaks(old), false, old)
    }
  })

  test('with an authority for clients, only those with a certificate of it get in', async () => {
    const files = { tlsCert: path('first.pem'), tlsKey: path('first.key'), tlsClientCa: path('second.pem') }
    const guarded = await startServer('sqlite::memory:', { auth: 'none', ...files })
    const asks = (pair: { cert?: Buffer; key?: Buffer }) =>
      new Promise<number | null>(resolve => {
        const outgoing = request(`${guarded.origin}/healthz`, { rejectUnauthorized: false, agent: false, ...pair })
        outgoing.on('response', answer => resolve(answer.resume().statusCode!)).on('error', () => resolve(null))
        outgoing.end()
      })
    const pairOf = (name: string) => ({
      cert: readFileSync(path(`${name}.pem`)),
      key: readFileSync(path(`${name}.key`)),
    })
    assert.equal(await asks(pairOf('second')), 200)
    assert.equal(await asks(pairOf('first')), null)
    assert.equal(await asks({}), null)
    await guarded.stop()
  })
})
