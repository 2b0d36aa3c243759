// The limits of the machine: HTTP without a database, and the database without HTTP.
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { drive, warmUp, type Request } from './client.ts'
import { rawPostgresClaims } from './limit-postgres.ts'
import { rawSqliteClaims } from './limit-sqlite.ts'
import { freePort, startServer } from './server.ts'

const LIMIT_SERVER = fileURLToPath(new URL('limit-server.ts', import.meta.url))
const SETTLE_SECONDS = 0.3

export interface HttpLimit {
  requestsPerSecond: number
  cpuMicroseconds: number
}

/** Requests per second of a bare fastify with the same validation, for each kind of request. */
export async function httpLimits(
  kinds: Record<string, () => Request>,
  at: { connections: number; seconds: number; warmUpRequests: number },
): Promise<Record<string, HttpLimit>> {
  const port = await freePort()
  const server = await startServer({ argv: [process.execPath, LIMIT_SERVER, `${port}`], port })
  const limits: Record<string, HttpLimit> = {}
  try {
    for (const [kind, next] of Object.entries(kinds)) {
      const load = { port, connections: at.connections, expect: 204, next }
      // Only the first kind meets a cold server.
      if (Object.keys(limits).length === 0) await warmUp(load, at.warmUpRequests)
      await drive({ ...load, seconds: SETTLE_SECONDS })
      const cpuBefore = server.cpuSeconds()
      const { requestsPerSecond, requests, unexpected } = await drive({ ...load, seconds: at.seconds })
      if (Object.keys(unexpected).length > 0) throw new Error(`the bare server refused ${kind}`)
      const cpuMicroseconds = ((server.cpuSeconds() - cpuBefore) / requests) * 1e6
      limits[kind] = { requestsPerSecond, cpuMicroseconds }
    }
  } finally {
    await server.stop()
  }
  return limits
}

export interface RawLimit {
  classes: number
  connections: number
  claimsPerSecond: number
  /** Unknown if the database is a separate server. */
  cpuMicroseconds?: number
}

const CLASSES = [1, 3]

export function rawSqliteLimits(folder: string, providers: number, seconds: number): RawLimit[] {
  return CLASSES.map(classes => {
    const file = `${folder}/limit-${classes}.db`
    const limit = rawSqliteClaims({ file, providers, classes, seconds })
    for (const tail of ['', '-wal', '-shm']) rmSync(file + tail, { force: true })
    return { classes, connections: 1, ...limit }
  })
}

export async function rawPostgresLimits(
  url: string,
  at: { providers: number; connections: number[]; seconds: number },
): Promise<RawLimit[]> {
  const limits: RawLimit[] = []
  for (const classes of CLASSES) {
    for (const connections of new Set(at.connections)) {
      const claimsPerSecond = await rawPostgresClaims({ ...at, url, classes, connections })
      limits.push({ classes, connections, claimsPerSecond })
    }
  }
  return limits
}

/** A claim over HTTP takes at least its share of a bare request plus its share of the grouped statements. */
export function claimLimit(http: HttpLimit, claimsPerRequest: number, raw: RawLimit) {
  const cpuMicroseconds =
    raw.cpuMicroseconds === undefined ? undefined : http.cpuMicroseconds / claimsPerRequest + raw.cpuMicroseconds
  const claimsPerSecond = 1 / (1 / (http.requestsPerSecond * claimsPerRequest) + 1 / raw.claimsPerSecond)
  return { claimsPerSecond, cpuMicroseconds }
}
