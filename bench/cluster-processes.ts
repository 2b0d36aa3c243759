// A cluster as it is deployed: API processes behind nginx, two conductors, one PostgreSQL.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, holdfast, runCommand, type Server, startServer } from './server.ts'
import type { BenchStore } from './stores.ts'

const NGINX = '/usr/sbin/nginx'
const CONDUCTORS = 2

export const PARTS = ['API', 'conductors', 'database', 'proxy', 'client'] as const
export type Part = (typeof PARTS)[number]

export interface Cluster {
  /** Of the proxy. */
  port(): number
  /** CPU seconds so far. */
  cpuSeconds(): Record<Part, number>
  /** Starts API processes until there are so many, and tells the proxy. */
  growTo(processes: number): Promise<void>
  /** Ends an API process and starts it again, while the proxy uses the others. */
  restartOne(): Promise<void>
  stop(): Promise<void>
}

/** What is missing, in words; undefined if nothing is. */
export function missingForCluster(): string | undefined {
  const isThere = spawnSync(NGINX, ['-v']).status === 0
  return isThere ? undefined : "nginx isn't here: apt-get install --no-install-recommends nginx-light"
}

/** The conductors alone, at first. */
export async function startCluster(store: BenchStore, database: string): Promise<Cluster> {
  const conductors: Server[] = []
  const apis: Server[] = []
  let proxy: Server | undefined
  let endedCpuSeconds = 0
  const startInto = (servers: Server[], count: number, start: (at: number) => Promise<Server>) =>
    Promise.all(Array.from({ length: count }, async (_, at) => servers.push(await start(at))))
  const stop = async () => {
    await proxy?.stop()
    await Promise.all([...apis, ...conductors].map(server => server.stop()))
  }
  const sum = (servers: readonly Server[]) => servers.reduce((all, server) => all + server.cpuSeconds(), 0)
  try {
    await startInto(conductors, CONDUCTORS, at => startConductor(database, `conductor-${at}`))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    port: () => proxy?.port ?? 0,
    cpuSeconds: () => ({
      API: sum(apis) + endedCpuSeconds,
      conductors: sum(conductors),
      database: store.cpuSeconds(),
      proxy: proxy?.cpuSeconds() ?? 0,
      client: process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
    }),
    async growTo(processes) {
      await startInto(apis, processes - apis.length, async () => startApi(database, await freePort()))
      await proxy?.stop()
      proxy = await startNginx(apis.map(({ port }) => port))
    },
    async restartOne() {
      const last = apis.pop()!
      endedCpuSeconds += last.cpuSeconds()
      await last.stop()
      apis.push(await startApi(database, last.port))
    },
    stop,
  }
}

export async function migrate(database: string): Promise<string> {
  const { status, output } = await runCommand([holdfast, 'migrate', '--database', database])
  if (status !== 0) throw new Error(`migrate: ${output}`)
  return output
}

function startApi(database: string, port: number): Promise<Server> {
  const argv = [holdfast, 'api', '--port', `${port}`, '--database', database, '--auth', 'noauth2']
  return startServer({ argv, port, readyPath: '/readyz' })
}

function startConductor(database: string, name: string): Promise<Server> {
  const argv = [holdfast, 'conductor', '--database', database, '--conductor-name', name]
  return startServer({ argv, port: 0, readyText: 'is working on' })
}

/** As deploy/nginx.conf, without TLS. */
async function startNginx(ports: readonly number[]): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-nginx-'))
  // Its worker is another user.
  chmodSync(folder, 0o777)
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  const port = await freePort()
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `${name}_temp_path ${folder}/${name};`)
  const servers = ports.map(at => `server 127.0.0.1:${at};`)
  const config = `
    daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
    events { worker_connections 4096; }
    http {
      access_log off; ${paths.join(' ')} keepalive_requests 1000000;
      upstream holdfast { ${servers.join(' ')} keepalive 64; keepalive_requests 1000000; }
      server {
        listen 127.0.0.1:${port};
        client_max_body_size 4m;
        location / {
          proxy_pass http://holdfast; proxy_http_version 1.1;
          proxy_set_header Connection ''; proxy_set_header Host $http_host;
          proxy_connect_timeout 2s; proxy_read_timeout 60s;
          proxy_next_upstream error timeout; proxy_next_upstream_tries 2;
        }
      }
    }`
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, config)
  const argv = [NGINX, '-p', folder, '-e', `${folder}/error.log`, '-c', file]
  const server = await startServer({ argv, port, readyPath: '/readyz' })
  return { ...server, stop: async () => server.stop().finally(remove) }
}
