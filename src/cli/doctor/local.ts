// Checks the service on this machine, running or not: its settings, database, files and port.
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, constants, readFileSync, statfsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, resolve } from 'node:path'
import { systemClock } from '../../clock/clock.ts'
import { loadPolicy } from '../../api/policy.ts'
import { type Config, loadSettings } from '../../config/config.ts'
import { mask } from '../../config/mask.ts'
import { flagName } from '../../config/settings.ts'
import { readPair } from '../../http/tls.ts'
import { readUsersFile } from '../../identity/users-file.ts'
import { driversFor, enabledDrivers } from '../../process/drivers.ts'
import { migrationsOf } from '../../store/migrate.ts'
import { fileOf, type SettingFlags } from '../service/settings.ts'
import { seenInPostgres, seenInSqlite, type Seen } from './database.ts'
import { type Check, type Finding, ok, warning, wrong } from './examine.ts'
import { judgeCertificate, judgeDisk, judgeMigrations, judgeMode, judgeSchema, judgeSkew, skewOf } from './judgement.ts'
import { ask } from './wire.ts'

interface Local {
  flags: SettingFlags
  env: Record<string, string | undefined>
  config?: Config
  seen?: Seen | null
}

const SQLITE = 'sqlite:'
const fileIn = ({ config }: Local) =>
  config!.database.startsWith(SQLITE) ? config!.database.slice(SQLITE.length) : null
const isOnDisk = (local: Local) => ![null, ':memory:'].includes(fileIn(local))

export const localChecks: readonly Check<Local>[] = [
  { name: 'settings', look: readSettings },
  { name: 'policy', needs: ['settings'], when: ({ config }) => config!.policyFile !== null, look: readPolicy },
  { name: 'database', needs: ['settings'], look: lookIntoDatabase },
  {
    name: 'disk',
    needs: ['database'],
    when: isOnDisk,
    look: async local => {
      const folder = dirname(resolve(fileIn(local)!))
      const { bavail, bsize } = statfsSync(folder)
      return judgeDisk(bavail * bsize, folder)
    },
  },
  {
    name: 'migrations',
    needs: ['database'],
    when: ({ seen }) => seen !== null,
    look: async ({ seen }) => judgeMigrations(migrationsOf(seen!.dialect), seen!.applied),
  },
  {
    name: 'schema',
    needs: ['migrations'],
    when: ({ seen }) => (seen?.schema ?? null) !== null,
    look: async ({ seen, config }) => judgeSchema(seen!.schema!, config!.damagedSchema),
  },
  {
    name: 'clock',
    needs: ['database'],
    when: ({ seen }) => (seen?.clock ?? null) !== null,
    look: async ({ seen }) => judgeSkew(skewOf(seen!.clock!), "the database's"),
  },
  { name: 'compute', needs: ['database'], when: ({ config }) => config!.compute !== 'own', look: lookAtCompute },
  { name: 'drivers', needs: ['settings'], look: lookAtDrivers },
  { name: 'users', needs: ['settings'], when: ({ config }) => config!.auth === 'password', look: readUsers },
  { name: 'keystone', needs: ['settings'], when: ({ config }) => config!.auth === 'keystone', look: askKeystone },
  { name: 'tls', needs: ['settings'], when: ({ config }) => config!.tlsCert !== null, look: readCertificate },
  { name: 'port', needs: ['settings'], look: tryPort },
]

async function readSettings(local: Local): Promise<Finding> {
  const { config, origins } = loadSettings(local.flags, local.env, fileOf(local.flags, local.env))
  local.config = config
  const { default: byDefault = [], ...said } = Object.groupBy(origins.keys(), key => origins.get(key)!)
  const told = Object.entries(said).map(([from, keys]) => {
    const names = keys!.map(key => flagName(key as keyof Config)).join(', ')
    return `${names} from ${SOURCES[from] ?? from}`
  })
  return ok([...told, `${byDefault.length} by default`].join('; '))
}

const SOURCES: Record<string, string> = { environment: 'the environment', 'command line': 'the command line' }

async function readPolicy({ config }: Local): Promise<Finding> {
  loadPolicy(config!)
  return ok(`${config!.policyFile} can be used`)
}

async function lookIntoDatabase(local: Local): Promise<Finding> {
  const file = fileIn(local)
  const { database } = local.config!
  const { finding, seen } = file === null ? await seenInPostgres(database) : seenInSqlite(file)
  local.seen = seen
  return file === null ? { ...finding, found: `${mask(database)}: ${finding.found}` } : finding
}

/** Servers of our own that were made before compute was someone else's are not forgotten. */
async function lookAtCompute({ config, seen }: Local): Promise<Finding> {
  const { compute, novaUrl } = config!
  const found = compute === 'nova' ? `servers are those of the Nova at ${novaUrl}` : 'compute is off'
  const servers = seen?.servers ?? 0
  if (servers === 0) return ok(found)
  const count = servers === 1 ? '1 server' : `${servers} servers`
  const hint = 'they keep their claims: start once with --compute own and delete them there'
  return warning(`${found}, but ${count} of our own compute ${servers === 1 ? 'is' : 'are'} left`, hint)
}

/** Which drivers a conductor here would offer, and what is missing for the others. */
async function lookAtDrivers({ config }: Local): Promise<Finding> {
  const all = driversFor(config!, {
    now: () => systemClock.now(),
    namesOf: async () => ({ user: null, project: null }),
  })
  const offered = enabledDrivers(config!, all)
  const lacking = [...all.values()].flatMap(driver => {
    const lack = driver.lacks?.() ?? null
    return lack === null ? [] : [`${driver.name}: ${lack}`]
  })
  const found = `a conductor here offers ${[...offered.keys()].join(', ')}`
  return ok(lacking.length === 0 ? found : `${found}; not ${lacking.join('; ')}`)
}

async function readUsers({ config }: Local): Promise<Finding> {
  const file = config!.users
  try {
    const count = Object.keys(readUsersFile(file).users).length
    if (count === 0) return warning(`${file} has no users`, 'holdfast user add NAME --role admin')
    return judgeMode(statSync(file).mode, file, `${count} users in ${file}`)
  } catch (error) {
    return wrong(`${file}: ${(error as Error).message}`, 'holdfast user add NAME --role admin makes one')
  }
}

async function askKeystone({ config }: Local): Promise<Finding> {
  const { keystoneUrl: url, keystonePasswordFile: file } = config!
  if (file !== null) accessSync(file, constants.R_OK)
  try {
    const { status } = await ask(url!)
    return status < 500 ? ok(`${url} answers`) : wrong(`${url} answers ${status}`, 'look at Keystone')
  } catch (error) {
    return wrong((error as Error).message, 'without it only tokens that were checked a moment ago are let in')
  }
}

async function readCertificate({ config }: Local): Promise<Finding> {
  const { tlsCert, tlsKey } = config!
  readPair(config!)
  const { validFrom, validTo } = new X509Certificate(readFileSync(tlsCert!))
  const dates = judgeCertificate(Date.parse(validFrom), Date.parse(validTo), systemClock.now())
  return dates.grade === 'ok' ? judgeMode(statSync(tlsKey!).mode, tlsKey!, dates.found) : dates
}

/** Listens on the port for a moment: the only sure way to know that it is free. */
async function tryPort({ config }: Local): Promise<Finding> {
  const { host, port } = config!
  if (port === 0) return ok('any that is free')
  const server = createServer()
  try {
    server.listen({ host, port })
    await once(server, 'listening')
    return ok(`${port} on ${host} is free`)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') return whoseIs(config!)
    const hint = code === 'EACCES' ? 'ports below 1024 are for root: take another with --port' : 'correct --host'
    return wrong(message, hint)
  } finally {
    server.close()
  }
}

async function whoseIs({ host, port, tlsCert }: Config): Promise<Finding> {
  const there = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host
  // With TLS the certificate may not cover this address, so we can't ask who listens there.
  if (tlsCert !== null)
    return warning(`${port} is taken, perhaps by this service`, `holdfast doctor --url https://NAME:${port}`)
  const isOurs = await ask(`http://${there}:${port}/`).then(
    ({ body }) => (body as { name?: unknown } | undefined)?.name === 'holdfast',
    () => false,
  )
  if (isOurs) return ok(`a Holdfast listens on ${port}`)
  return wrong(`something else listens on ${port}`, 'stop that, or take another port with --port')
}
