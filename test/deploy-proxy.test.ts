// The nginx configurations in deploy/, before a server that says what reached it: web sockets pass, and no log has a token.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { type AddressInfo, createServer as createSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitFor } from './support/baremetal.ts'
import { programAt } from '../src/shared/program-at.ts'

const nginx = programAt('nginx', `${process.env['PATH']}:/usr/sbin`)
const TOKEN = 'the-token-itself'

async function freePort(): Promise<number> {
  const socket = createSocket().listen(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address() as AddressInfo
  socket.close()
  await once(socket, 'close')
  return port
}

/** What came through the proxy: its headers, and with an upgrade a socket that echoes. */
async function behind() {
  const server = createServer((asked, answer) => {
    if (asked.url!.endsWith('/broken.ics')) asked.socket.destroy()
    else answer.setHeader('content-type', 'application/json').end(JSON.stringify(asked.headers))
  })
  server.on('upgrade', (_, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
    socket.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, stop: () => (server.closeAllConnections(), server.close()) }
}

/** The file as it is, but for where it listens, what is behind, and where logs are. */
async function startProxy(file: string, upstream: number) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-proxy-'))
  mkdirSync(join(folder, 'logs'))
  const port = await freePort()
  let isListening = false
  const text = readFileSync(new URL(`../deploy/${file}`, import.meta.url), 'utf8')
    .replaceAll(/^\s*ssl_.*$/gm, '')
    .replaceAll(/^\s*listen .*$/gm, () => (isListening ? '' : ((isListening = true), `listen 127.0.0.1:${port};`)))
    .replaceAll(/server (127\.0\.0\.1:878\d|api-\d:8780);/g, `server 127.0.0.1:${upstream};`)
    .replaceAll('/var/log/nginx/', `${folder}/logs/`)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `${name}_temp_path ${folder}/${name};`)
  const conf = join(folder, 'nginx.conf')
  writeFileSync(
    conf,
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/logs/error.log warn;
    events {} http { access_log off; ${paths.join(' ')}\n${text} }`,
  )
  const child = spawn(nginx!, ['-p', folder, '-c', conf], { stdio: ['ignore', 'inherit', 'inherit'] })
  const origin = `http://127.0.0.1:${port}`
  for (let tries = 0; tries < 500; tries++) {
    if (await fetch(`${origin}/healthz`).catch(() => null)) break
    assert.equal(child.exitCode, null, 'nginx does not start')
    await sleep(20)
  }
  return {
    origin,
    logs: () =>
      ['holdfast.log', 'access.log', 'error.log']
        .map(name => spawnSync('cat', [join(folder, 'logs', name)], { encoding: 'utf8' }).stdout)
        .join(''),
    stop: async () => {
      child.kill('SIGQUIT')
      if (child.exitCode === null) await once(child, 'exit')
      rmSync(folder, { recursive: true })
    },
  }
}

for (const file of ['nginx.conf', 'compose.nginx.conf']) {
  describe(file, { skip: nginx === null && 'nginx is not installed' }, () => {
    const opened: { stop: () => unknown }[] = []
    after(async () => {
      for (const one of opened.toReversed()) await one.stop()
    })

    test('passes web sockets, keeps other connections, and writes no token into a log', async () => {
      const server = await behind()
      opened.push(server)
      const proxy = await startProxy(file, server.port)
      opened.push(proxy)

      const asked = request(`${proxy.origin}/holdfast/v1/nodes/n1/console`, {
        headers: { connection: 'Upgrade', upgrade: 'websocket' },
      }).end()
      const [answer, socket] = (await once(asked, 'upgrade')) as [{ statusCode: number }, NodeJS.ReadWriteStream]
      assert.equal(answer.statusCode, 101)
      socket.write('typed')
      assert.equal(String((await once(socket, 'data'))[0]), 'typed')
      ;(socket as unknown as { destroy(): void }).destroy()

      const headers = (await (await fetch(`${proxy.origin}/v1/nodes?name=x`)).json()) as Record<string, string>
      assert.deepEqual([headers['upgrade'], headers['connection']], [undefined, undefined])
      assert.equal(headers['x-forwarded-for'], '127.0.0.1')
      assert.equal((await fetch(`${proxy.origin}/metrics`)).status, 404)

      for (const path of [
        `/holdfast/v1/calendar/${TOKEN}.ics`,
        `/HOLDFAST/v1/Calendar/${TOKEN}/broken.ics`,
        `/holdfast/v1/calendar/${TOKEN}/broken.ics`,
        `/holdfast/v1/media/n1/${TOKEN}/boot.iso`,
        `/holdfast/v1/events?ticket=${TOKEN}`,
      ]) {
        await fetch(proxy.origin + path)
      }
      const [first, last] = ['GET /v1/nodes', '/holdfast/v1/events']
      await waitFor('the requests are in the log', async () => [first, last].every(line => proxy.logs().includes(line)))
      assert.match(proxy.logs(), /GET \/holdfast\/v1\/calendar\/\*\*\*/)
      assert.doesNotMatch(proxy.logs(), new RegExp(TOKEN))
    })
  })
}
