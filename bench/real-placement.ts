// Debian's real Placement on a PostgreSQL of ours, as Debian would serve it: several processes of uwsgi.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, runCommand, type Server, startServer } from './server.ts'

const PYTHON = '/usr/bin/python3'
const UWSGI = '/usr/bin/uwsgi'
const API = '/usr/bin/placement-api'
const PROCESSES = 2 * availableParallelism()

/** What is missing to run it here, in words; undefined if nothing is. */
export function missingForPlacement(): string | undefined {
  const packages = [
    spawnSync(PYTHON, ['-c', 'import placement']).status === 0 ? [] : ['placement-api', 'python3-placement'],
    spawnSync(PYTHON, ['-c', 'import psycopg2']).status === 0 ? [] : ['python3-psycopg2'],
    spawnSync(UWSGI, ['--plugin', 'python3', '--version']).status === 0 ? [] : ['uwsgi-plugin-python3'],
  ].flat()
  if (packages.length === 0) return undefined
  return `the real Placement isn't here: apt-get install --no-install-recommends ${packages.join(' ')}`
}

/** Any token is an admin's. */
export async function startPlacement(database: string): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-placement-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  const config = join(folder, 'placement.conf')
  const { hostname, pathname } = new URL(database)
  const connection = `postgresql+psycopg2://postgres@${pathname}?host=${decodeURIComponent(hostname)}`
  const text = `[DEFAULT]
log_file = ${folder}/log
use_stderr = false
[api]
auth_strategy = noauth2
[placement_database]
connection = ${connection}
`
  writeFileSync(config, text)
  const sync = await runCommand(['/usr/bin/placement-manage', '--config-file', config, 'db', 'sync'])
  if (sync.status !== 0) throw new Error(`placement-manage db sync: ${sync.output.slice(-1000)}`)
  const port = await freePort()
  const served = ['--http-socket', `127.0.0.1:${port}`, '--wsgi-file', API, '--need-app', '--die-on-term']
  // Each process opens its own connections; requests aren't logged.
  const processes = ['--master', '--lazy-apps', '--processes', `${PROCESSES}`, '--disable-logging']
  const argv = [UWSGI, '--plugin', 'python3', ...served, ...processes]
  const server = await startServer({ argv, port, env: { OS_PLACEMENT_CONFIG_DIR: folder } })
  return { ...server, stop: async () => server.stop().finally(remove) }
}

/** Sends a request on a connection of its own, because uwsgi closes it after each answer. */
export function askOnce(port: number, request: string): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(request, 'latin1'))
  const parts: Buffer[] = []
  socket.on('data', (part: Buffer) => parts.push(part))
  socket.on('error', reject)
  socket.on('end', () => {
    socket.end()
    const answer = Buffer.concat(parts).toString()
    resolve({ status: Number(answer.slice(9, 12)), text: answer.slice(answer.indexOf('\r\n\r\n') + 4) })
  })
  return promise
}
