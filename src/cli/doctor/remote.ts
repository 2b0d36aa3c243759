// Checks a server from the client's side: address, connection, login, and the health of its parts.
import { lookup } from 'node:dns/promises'
import {
  ApiError,
  bearerOf,
  type Holdfast,
  holdfastAt,
  type Login,
  logIn,
  type Where,
  whereIs,
} from '../../client/index.ts'
import { systemClock } from '../../clock/clock.ts'
import { VERSION } from '../../shared/version.ts'
import { passwordAsker, trust } from '../client-command.ts'
import { connectOptionsOf, type ServerFlags } from '../server-flags.ts'
import { type Check, type Finding, ok, unknown, warning, wrong } from './examine.ts'
import { askMachines, lookAtDrivers, lookForTwins, someNames } from './hardware.ts'
import { judgeSkew, judgeVersions, skewOf } from './judgement.ts'
import { lookAtNova } from './nova.ts'
import { type Answer, ask, isAddress, knock, placeOf, shakeHands } from './wire.ts'

/** Filled in check by check; the `needs` of a check say which members it can rely on. */
interface Remote {
  flags: ServerFlags
  where?: Where
  login?: Login
  server?: Holdfast
  heartbeat?: Answer
}

/** Counting stops here. */
const NODES_MAX = 10_000
const HTTP_DATE_STEP_MS = 1_000

/** The address of Holdfast, or of the identity service until its catalog was read. */
const addressOf = ({ where, login }: Remote) => login?.url ?? where!.url ?? where!.authUrl!

export const remoteChecks: readonly Check<Remote>[] = [
  { name: 'address', look: findAddress },
  { name: 'name', needs: ['address'], when: remote => !isAddress(addressOf(remote)), look: resolveName },
  { name: 'port', needs: ['name'], look: remote => knock(addressOf(remote)) },
  {
    name: 'tls',
    needs: ['port'],
    when: remote => addressOf(remote).startsWith('https:'),
    look: remote => shakeHands(addressOf(remote), systemClock.now()),
  },
  { name: 'catalog', needs: ['tls'], when: ({ where }) => where!.url === null, look: askCatalog },
  { name: 'alive', needs: ['catalog'], look: isAlive },
  { name: 'ready', needs: ['alive'], look: isReady },
  { name: 'version', needs: ['alive'], look: compareVersions },
  { name: 'clock', needs: ['alive'], look: compareClocks },
  { name: 'login', needs: ['alive'], look: logInAndSay },
  ...['placement', 'baremetal', 'compute', 'image', 'reservation', 'identity'].map((name): Check<Remote> => ({
    name,
    needs: ['login'],
    look: remote => askVersions(remote, name),
  })),
  { name: 'conductors', needs: ['login'], look: countConductors },
  { name: 'drivers', needs: ['conductors'], look: ({ server }) => lookAtDrivers(server!) },
  { name: 'nodes', needs: ['login'], look: countNodes },
  { name: 'twins', needs: ['login'], look: ({ server }) => lookForTwins(server!) },
  { name: 'machines', needs: ['conductors'], look: ({ server }) => askMachines(server!) },
  { name: 'hosts', needs: ['login'], look: countHosts },
  { name: 'nova', needs: ['login'], look: ({ server }) => lookAtNova(server!) },
  { name: 'fsck', needs: ['login', 'ready'], look: countViolations },
]

async function findAddress(remote: Remote): Promise<Finding> {
  const where = (remote.where = whereIs(connectOptionsOf(remote.flags)))
  if (where.cacert !== null) trust(where.cacert)
  const more = where.cacert === null ? '' : `, trusting ${where.cacert}`
  return ok(`${where.url ?? `the catalog of ${where.authUrl}`} (from: ${where.from})${more}`)
}

async function resolveName(remote: Remote): Promise<Finding> {
  const { host } = placeOf(addressOf(remote))
  try {
    const found = await lookup(host, { all: true })
    return ok(`${host} is ${found.map(({ address }) => address).join(', ')}`)
  } catch {
    return wrong(`there is no host ${host}`, 'check how it is written, and the name servers of this machine')
  }
}

async function askCatalog(remote: Remote): Promise<Finding> {
  remote.login = await logIn(remote.where!, passwordAsker())
  return ok(`Holdfast is at ${remote.login.url}`)
}

async function isAlive(remote: Remote): Promise<Finding> {
  const address = addressOf(remote)
  const isOurs = ({ body }: Answer) => (body as { status?: unknown } | undefined)?.status === 'alive'
  try {
    remote.heartbeat = await ask(`${address}/healthz`)
  } catch (error) {
    return wrong((error as Error).message, 'http:// and https:// may be mixed up, or a proxy is in between')
  }
  if (isOurs(remote.heartbeat)) return ok('/healthz says alive')
  const found = `what answers at ${address} is no Holdfast (/healthz: ${remote.heartbeat.status})`
  return wrong(found, 'say with --url where it is')
}

async function isReady(remote: Remote): Promise<Finding> {
  const { status, body } = await ask(`${addressOf(remote)}/readyz`)
  const { damage, error } = (body ?? {}) as { damage?: string; error?: { message?: string } }
  if (status === 200 && damage) return warning(damage, 'bring back a backup whole: it is served by --damaged-schema')
  if (status === 200) return ok('/readyz says ready')
  if (error?.message) return wrong(`/readyz says ${status}: ${error.message}`, "look at the server's log")
  const hint = "it can't reach its database; on its machine: holdfast doctor --config FILE, and look at its log"
  return wrong(`/readyz says ${status}`, hint)
}

async function compareVersions(remote: Remote): Promise<Finding> {
  const { body } = await ask(`${addressOf(remote)}/`)
  const { version } = (body ?? {}) as { version?: unknown }
  return judgeVersions(typeof version === 'string' ? version : null, VERSION)
}

async function compareClocks({ heartbeat }: Remote): Promise<Finding> {
  const { headers, sentAt, receivedAt } = heartbeat!
  const saidAt = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(saidAt)) return unknown("the server doesn't say its time")
  return judgeSkew(skewOf({ sentAt, receivedAt, saidAt, stepMs: HTTP_DATE_STEP_MS }), "the server's")
}

async function logInAndSay(remote: Remote): Promise<Finding> {
  const where = remote.where!
  const login = (remote.login ??= await logIn(where, passwordAsker()))
  remote.server = holdfastAt(login)
  const { credentials } = where
  const who = login.who ?? (credentials.kind === 'token' ? await bearerOf(where, credentials.token) : null)
  try {
    await remote.server.nodes.list({ fields: ['uuid'], limit: 1 })
  } catch (error) {
    // 403 still proves that the login works.
    if (!(error instanceof ApiError) || error.status !== 403) throw error
  }
  if (who) return ok(`${who.user} in ${who.project ?? 'no project'}: ${who.roles.join(', ') || 'without a role'}`)
  if (credentials.kind === 'basic') return ok(`${credentials.username}, with HTTP Basic`)
  return ok(credentials.kind === 'token' ? 'the token is accepted' : 'everyone is let in')
}

interface Version {
  id: string
  status?: string
  min_version?: string
  max_version?: string
  version?: string
  links?: { rel: string; href: string }[]
}

async function askVersions({ login }: Remote, api: string): Promise<Finding> {
  const { status, body } = await ask(`${login!.url}/${api}/`, login!.headers)
  // With an external Keystone, Holdfast serves no identity API.
  if (api === 'identity' && status === 404) return ok('served elsewhere')
  const { versions } = (body ?? {}) as { versions?: Version[] | { values: Version[] } }
  const [newest] = Array.isArray(versions) ? versions : (versions?.values ?? [])
  if (api === 'compute' && versions && !newest) return ok('off')
  if (!newest) return wrong(`/${api}/ answers ${status}, without versions`, 'is a proxy in between that leaves it out?')
  const { id, min_version: min, max_version: max = newest.version } = newest
  const self = newest.links?.find(({ rel }) => rel === 'self')?.href
  if (api === 'compute' && max === '' && self !== undefined) return ok(`served by the Nova at ${self}`)
  return ok(`/${api}/ ${id}${min && max && min !== max ? `, microversions ${min} to ${max}` : ''}`)
}

async function countConductors({ server }: Remote): Promise<Finding> {
  const all = await server!.conductors.list()
  const dead = all.filter(({ alive }) => !alive).map(({ hostname }) => hostname)
  const alive = all.length - dead.length
  if (alive === 0)
    return wrong('no conductor is alive', 'start holdfast serve or holdfast conductor: nodes wait for it')
  const found = `${alive} alive`
  if (dead.length === 0) return ok(found)
  return warning(`${found}, ${dead.length} not: ${dead.join(', ')}`, 'start them again; others do their work meanwhile')
}

async function countNodes({ server }: Remote): Promise<Finding> {
  const fields = ['uuid', 'name', 'provision_state', 'maintenance', 'fault']
  const nodes = await server!.nodes.list({ fields, limit: NODES_MAX })
  const resting = nodes.filter(({ maintenance }) => maintenance).length
  const failed = nodes.filter(({ provision_state: state }) => /fail|error/.test(state))
  // Out of use by itself: a person who set the maintenance knows of it.
  const silent = nodes.filter(({ fault }) => typeof fault === 'string')
  const count = nodes.length === NODES_MAX ? `${NODES_MAX} and more` : nodes.length
  const found = `${count} in sight, ${resting} in maintenance, ${failed.length} in a failed state`
  const out = [...failed, ...silent]
  if (out.length === 0) return ok(found)
  const names = someNames([...new Set(out.map(({ name, uuid }) => name ?? uuid))])
  return warning(`${found}. Out of use: ${names}`, 'why, in words: holdfast status --state broken')
}

async function countHosts({ server }: Remote): Promise<Finding> {
  const hosts = await server!.hosts.list()
  return ok(`${hosts.length} for leases, ${hosts.filter(({ reservable }) => !reservable).length} not reservable`)
}

async function countViolations({ server }: Remote): Promise<Finding> {
  const { violations, invariants } = await server!.fsck()
  if (violations === 0) return ok(`${invariants.length} invariants hold`)
  const broken = invariants.filter(found => found.violations > 0).map(({ invariant }) => invariant)
  return wrong(`${violations} violations: ${broken.join('; ')}`, 'keep a backup, and report this: it must never happen')
}
