// Decides which server to use and as which user, from options, environment and clouds.yaml; by default this machine.
import { parseYaml } from '../shared/yaml.ts'
import { ConnectionUnclear } from './errors.ts'

export interface ConnectOptions {
  /** The address of Holdfast, such as http://127.0.0.1:8780. */
  url?: string | undefined
  /** A name in clouds.yaml. */
  cloud?: string | undefined
  /** Holds HOLDFAST_URL and OS_…; process.env isn't read. */
  env: Record<string, string | undefined>
  /** Settings from the command line, which win over all others. Named as in clouds.yaml: auth_url, username … */
  said?: Readonly<Record<string, string>> | undefined
  /** Called for a user without a password. */
  askPassword?: ((user: string) => Promise<string>) | undefined
}

export type Credentials =
  | { kind: 'nobody' }
  | { kind: 'token'; token: string }
  | { kind: 'basic'; username: string; password: string | null }
  | { kind: 'password'; user: Reference; password: string | null; project: Reference | null; isSystem: boolean }
  | { kind: 'application credential'; credential: Reference; user: Reference | null; secret: string }

/** A user or project by id, or by name in a domain. */
export type Reference = { id: string } | { name: string; domain?: { id: string } | { name: string } }

export interface Where {
  /** null if it must be looked up in the catalog of the identity service. */
  url: string | null
  /** null for Holdfast's own identity service. */
  authUrl: string | null
  credentials: Credentials
  region: string | null
  /** A file with certificates to trust. */
  cacert: string | null
  /** Which setting gave the address. */
  from: string
}

export const DEFAULT_URL = 'http://127.0.0.1:8780'

/** A cloud in clouds.yaml, with the members of `auth` lifted to the top. */
type Settings = Record<string, string | undefined>

export function whereIs({ url, cloud, env, said = {} }: ConnectOptions): Where {
  const name = cloud ?? (env['OS_CLOUD'] || undefined)
  const found = name === undefined ? fromEnvironment(env) : fromCloud(name, env)
  const settings = overridden(found.settings, said)
  // An option that names a server wins over HOLDFAST_URL.
  const isMeant = cloud !== undefined || 'endpoint' in said || 'auth_url' in said
  const place = (setting: string) => (setting in said ? `--os-${setting.replaceAll('_', '-')}` : found.from(setting))
  const candidates: [string | undefined, string][] = [
    [url, '--url'],
    [isMeant ? undefined : env['HOLDFAST_URL'], 'HOLDFAST_URL'],
    [settings['endpoint'], place('endpoint')],
  ]
  const given = candidates.find(([address]) => address)
  const authUrl = settings['auth_url'] ? identityAt(settings['auth_url']) : null
  return {
    url: given ? originOf(given[0]!) : authUrl === null ? DEFAULT_URL : null,
    authUrl,
    credentials: credentialsIn(settings),
    region: settings['region_name'] ?? null,
    cacert: settings['cacert'] ?? null,
    from: given ? given[1] : authUrl === null ? 'default' : place('auth_url'),
  }
}

const APPLICATION = ['application_credential_id', 'application_credential_name', 'application_credential_secret']

/** The settings that each setting on the command line cancels, besides its own old value. */
const INSTEAD_OF: Record<string, readonly string[]> = {
  auth_url: ['endpoint'],
  username: ['user_id', 'token', ...APPLICATION],
  token: ['auth_type', 'username', 'user_id', 'password', ...APPLICATION],
  project_name: ['project_id', 'tenant_id', 'tenant_name', 'system_scope'],
  user_domain_name: ['user_domain_id'],
  project_domain_name: ['project_domain_id'],
}

function overridden(settings: Settings, said: Readonly<Record<string, string>>): Settings {
  const gone = new Set(Object.keys(said).flatMap(name => INSTEAD_OF[name] ?? []))
  return { ...Object.fromEntries(Object.entries(settings).filter(([name]) => !gone.has(name))), ...textsOf(said) }
}

/** The common address of all APIs, from that of one of them. */
function originOf(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text)) throw new ConnectionUnclear(`'${text}' is no URL of a server`)
  const { origin, pathname } = new URL(text)
  return origin + withoutApi(pathname)
}

const API_PATH = /\/(baremetal|placement|reservation|compute|image|identity|holdfast)(\/v[\d.]+)?\/*$/
export const withoutApi = (path: string) => path.replace(API_PATH, '').replace(/\/+$/, '')

function identityAt(text: string): string {
  if (!URL.canParse(text)) throw new ConnectionUnclear(`'${text}' is no URL of an identity service`)
  return `${text.replace(/\/+$/, '').replace(/\/v3$/, '')}/v3`
}

const NAMES = ['clouds.yaml', 'clouds.yml']

/** Loaded only here: a browser has no files, and needs none without a cloud. */
function machine() {
  const process = globalThis.process as NodeJS.Process | undefined
  if (process?.getBuiltinModule === undefined) throw new ConnectionUnclear("there is no clouds.yaml here; say 'url'")
  const [{ existsSync, readFileSync }, { homedir }, { join }] = [
    process.getBuiltinModule('node:fs'),
    process.getBuiltinModule('node:os'),
    process.getBuiltinModule('node:path'),
  ]
  return { existsSync, readFileSync, homedir, join }
}

/** The places of clouds.yaml, in the search order of OpenStack's clients. */
function placesOf(env: ConnectOptions['env']): string[] {
  const { homedir, join } = machine()
  const config = env['XDG_CONFIG_HOME'] ?? join(env['HOME'] ?? homedir(), '.config')
  const folders = ['', join(config, 'openstack'), '/etc/openstack']
  const named = env['OS_CLIENT_CONFIG_FILE']
  return [...(named ? [named] : []), ...folders.flatMap(folder => NAMES.map(name => join(folder, name)))]
}

/** The valid values of `cloud`. */
export function cloudNames(env: ConnectOptions['env']): string[] {
  const file = placesOf(env).find(place => machine().existsSync(place))
  return file === undefined ? [] : Object.keys(cloudsIn(file))
}

/** Settings, and the source of each. */
interface Found {
  settings: Settings
  from: (setting: string) => string
}

function fromCloud(name: string, env: ConnectOptions['env']): Found {
  const places = placesOf(env)
  const file = places.find(place => machine().existsSync(place))
  if (file === undefined) throw new ConnectionUnclear(`there is no clouds.yaml; looked at ${places.join(', ')}`)
  const clouds = cloudsIn(file)
  const cloud = Object.hasOwn(clouds, name) ? clouds[name] : undefined
  if (!cloud) {
    throw new ConnectionUnclear(`${file} has no cloud ${name}; it has ${Object.keys(clouds).join(', ') || 'none'}`)
  }
  if (cloud['verify'] === false) {
    throw new ConnectionUnclear(`${file}: 'verify: false' is not supported; name the certificate with 'cacert'`)
  }
  const { auth, ...beside } = cloud
  const endpoint = cloud['baremetal_endpoint_override'] ?? cloud['placement_endpoint_override']
  const settings = { ...beside, ...(auth as object | undefined), ...(endpoint !== undefined && { endpoint }) }
  return { settings: textsOf(settings), from: () => `cloud ${name} in ${file}` }
}

function cloudsIn(file: string): Record<string, Record<string, unknown>> {
  let content: unknown
  try {
    content = parseYaml(machine().readFileSync(file, 'utf8'))
  } catch (error) {
    throw new ConnectionUnclear(`can't read ${file}: ${(error as Error).message.split('\n', 1)[0]}`, { cause: error })
  }
  const { clouds } = (content ?? {}) as { clouds?: unknown }
  if (typeof clouds !== 'object' || clouds === null) throw new ConnectionUnclear(`${file} has no 'clouds'`)
  return clouds as Record<string, Record<string, unknown>>
}

const fromEnvironment = (env: ConnectOptions['env']): Found => ({
  settings: textsOf(
    Object.fromEntries(
      Object.entries(env)
        .filter(([name]) => name.startsWith('OS_'))
        .map(([name, value]) => [name.slice('OS_'.length).toLowerCase(), value]),
    ),
  ),
  from: setting => `OS_${setting.toUpperCase()}`,
})

/** Leaves out empty values, because scripts clear variables that way. */
const textsOf = (given: object): Settings =>
  Object.fromEntries(
    Object.entries(given as Record<string, unknown>)
      .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value) && value !== '')
      .map(([name, value]) => [name, String(value)]),
  )

function credentialsIn(settings: Settings): Credentials {
  const { auth_type: type = '', token, username, password = null } = settings
  if (type === 'none' || type === 'admin_token') return token ? { kind: 'token', token } : { kind: 'nobody' }
  if (type === 'http_basic') {
    if (!username) throw new ConnectionUnclear('there is nobody to log in as; set OS_USERNAME, or say --os-username')
    return { kind: 'basic', username, password }
  }
  const secret = settings['application_credential_secret']
  const credential = referenceIn(settings, 'application_credential', null)
  if (secret && credential) {
    return { kind: 'application credential', credential, user: userIn(settings), secret }
  }
  if (credential && type.includes('applicationcredential')) {
    throw new ConnectionUnclear('the application credential has no secret; set OS_APPLICATION_CREDENTIAL_SECRET')
  }
  if (type.includes('applicationcredential')) {
    throw new ConnectionUnclear('there is no application credential; set OS_APPLICATION_CREDENTIAL_ID')
  }
  if (token && !type.includes('password')) return { kind: 'token', token }
  const user = userIn(settings)
  if (!user) return { kind: 'nobody' }
  const project =
    referenceIn(settings, 'project', 'project_domain') ?? referenceIn(settings, 'tenant', 'project_domain')
  return { kind: 'password', user, password, project, isSystem: settings['system_scope'] === 'all' }
}

const DEFAULT_DOMAIN = { id: 'default' }

function userIn(settings: Settings): Reference | null {
  const { user_id: id, username: name } = settings
  if (id) return { id }
  return name ? { name, domain: domainIn(settings, 'user_domain') } : null
}

function referenceIn(settings: Settings, what: string, domain: string | null): Reference | null {
  const [id, name] = [settings[`${what}_id`], settings[`${what}_name`]]
  if (id) return { id }
  if (!name) return null
  return domain === null ? { name } : { name, domain: domainIn(settings, domain) }
}

function domainIn(settings: Settings, what: string): { id: string } | { name: string } {
  for (const [id, name] of [
    [settings[`${what}_id`], settings[`${what}_name`]],
    [settings['default_domain_id'] ?? settings['default_domain'], settings['default_domain_name']],
  ]) {
    if (id) return { id }
    if (name) return { name }
  }
  return DEFAULT_DOMAIN
}
