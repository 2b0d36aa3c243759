// The thresholds of the checks: which values are ok, a warning, or wrong. Pure.
import { faultsInWords, type SchemaReport } from '../../store/catalogue/compare.ts'
import { type Finding, ok, warning, wrong } from './examine.ts'

const SECOND_MS = 1_000
const DAY_MS = 86_400_000
const MIB = 1_048_576

const SKEW_MS_MAX = 2 * SECOND_MS
/** Leaves time to get a new certificate. */
const CERTIFICATE_DAYS_MIN = 14
/** SQLite needs room for its write-ahead log too. */
const DISK_MIB_WANTED = 1_024
const DISK_MIB_MIN = 100
const POSTGRES_MIN = 130_000

export interface Exchange {
  sentAt: number
  receivedAt: number
  /** What the other clock said between the two, rounded down to a multiple of `stepMs`. */
  saidAt: number
  stepMs: number
}

/** How far the other clock is ahead: the smallest skew that is certain, 0 if both may agree. */
export function skewOf({ sentAt, receivedAt, saidAt, stepMs }: Exchange): number {
  const [least, most] = [saidAt - receivedAt, saidAt + stepMs - sentAt]
  return least > 0 ? least : most < 0 ? most : 0
}

export function judgeSkew(skewMs: number, whose: string): Finding {
  const seconds = (Math.abs(skewMs) / SECOND_MS).toFixed(1)
  const found = skewMs === 0 ? `${whose} clock agrees with this one` : `${whose} clock is ${seconds} s ${word(skewMs)}`
  if (Math.abs(skewMs) <= SKEW_MS_MAX) return ok(found)
  return warning(found, 'let both machines take their time from NTP: ends of leases and allocations depend on it')
}

const word = (skewMs: number) => (skewMs > 0 ? 'ahead' : 'behind')

export function judgeCertificate(from: number, until: number, now: number): Finding {
  const date = (at: number) => new Date(at).toISOString().slice(0, 10)
  if (now < from) return wrong(`the certificate is valid only from ${date(from)} on`, 'check the clock of this machine')
  const days = Math.floor((until - now) / DAY_MS)
  const found = `the certificate is valid until ${date(until)}`
  if (now >= until) return wrong(`the certificate ended on ${date(until)}`, 'put a new one in its place (tls-cert)')
  if (days >= CERTIFICATE_DAYS_MIN) return ok(found)
  return warning(
    `${found}, ${days === 1 ? '1 more day' : `${days} more days`}`,
    'put a new one in its place; a running server takes it up by itself',
  )
}

export function judgeDisk(freeBytes: number, folder: string): Finding {
  const mib = Math.floor(freeBytes / MIB)
  const found = `${mib >= 10_240 ? `${Math.floor(mib / 1_024)} GiB` : `${mib} MiB`} free in ${folder}`
  const hint = 'make room: without any, every change is refused'
  if (mib < DISK_MIB_MIN) return wrong(found, hint)
  return mib < DISK_MIB_WANTED ? warning(found, hint) : ok(found)
}

/** `mode` is that of fs.stat. */
export function judgeMode(mode: number, file: string, found: string): Finding {
  if (mode & 0o002) return wrong(`${found}, and everyone may change it`, `chmod 600 ${file}`)
  return mode & 0o004 ? warning(`${found}, and everyone may read it`, `chmod 600 ${file}`) : ok(found)
}

export function judgePostgres(version: number, text: string): Finding {
  const found = `PostgreSQL ${text}`
  return version >= POSTGRES_MIN ? ok(found) : wrong(`${found} is too old`, 'Holdfast needs PostgreSQL 13 or newer')
}

export function judgeMigrations(known: readonly string[], applied: readonly string[]): Finding {
  const [has, knows] = [new Set(applied), new Set(known)]
  const newer = applied.filter(name => !knows.has(name))
  if (newer.length > 0) {
    return wrong(`the database has ${newer.join(', ')}, which this version doesn't know`, 'run the newer Holdfast')
  }
  const pending = known.filter(name => !has.has(name))
  if (pending.length === 0) return ok(`all ${known.length} migrations are there`)
  return warning(`lacks ${pending.join(', ')}`, 'run holdfast migrate; holdfast serve does it by itself when it starts')
}

export function judgeSchema(report: SchemaReport, mayBeDamaged: boolean): Finding {
  const words = faultsInWords(report)
  const own = report.extras.length === 0 ? '' : `; not made by a migration: ${report.extras.join(', ')}`
  if (words === null) return ok(`all that the migrations make is there${own}`)
  const hint = 'holdfast fsck names all of it; bring back a backup whole'
  return mayBeDamaged ? warning(`${words}; it is served all the same (damaged-schema)`, hint) : wrong(words, hint)
}

export function judgeVersions(server: string | null, own: string): Finding {
  const hint = 'use the same version on both sides'
  if (server === null) return warning(`this command is ${own}; the server doesn't say what it is`, hint)
  if (server === own) return ok(`server and command are ${own}`)
  return warning(`the server is ${server}, this command ${own}`, hint)
}
