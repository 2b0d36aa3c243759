// The configuration: command line before environment before file before defaults, checked as a whole.
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { type Static, Type } from 'typebox'
import { parse as parseYaml } from 'yaml'
import { limits } from '../shared/limits.ts'
import { trustOf } from '../http/forwarded.ts'
import { InspectionRule, wrongIn } from '../metal/nodes/inspection.ts'
import { UsageError } from '../shared/usage-error.ts'

export { UsageError }

const oneOf = <T extends string>(...values: T[]) => Type.Unsafe<T>({ type: 'string', enum: values })

export const Config = Type.Object({
  host: Type.String({ minLength: 1 }),
  port: Type.Integer({ minimum: 0, maximum: 65_535 }),
  database: Type.String({ pattern: '^(sqlite:.+|postgres(ql)?://.*)$' }),
  auth: oneOf('none', 'noauth2', 'password', 'keystone'),
  insecure: Type.Boolean(),
  hostNames: Type.String({ pattern: '^[A-Za-z0-9._,:-]*$' }),
  users: Type.String({ minLength: 1 }),
  tokenHours: Type.Number({ exclusiveMinimum: 0, maximum: 8_760 }),
  keystoneUrl: Type.Union([Type.String({ pattern: '^https?://[^@]+$' }), Type.Null()]),
  keystoneUsername: Type.String({ minLength: 1 }),
  keystonePassword: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
  keystonePasswordFile: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
  keystoneProject: Type.String({ minLength: 1 }),
  keystoneUserDomain: Type.String({ minLength: 1 }),
  keystoneProjectDomain: Type.String({ minLength: 1 }),
  keystoneCacheSeconds: Type.Integer({ minimum: 0, maximum: 3_600 }),
  tlsCert: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
  tlsKey: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
  tlsClientCa: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
  placementPolicy: oneOf('secure', 'legacy', 'open'),
  policyFile: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
  randomizeCandidates: Type.Boolean(),
  corsOrigin: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
  logLevel: oneOf('debug', 'info', 'warn', 'error', 'silent'),
  databaseConnections: Type.Integer({ minimum: 1, maximum: 1_000 }),
  requestsMax: Type.Integer({ minimum: 2, maximum: 100_000 }),
  requestShare: Type.Integer({ minimum: 1, maximum: 100 }),
  trustForwarded: Type.String({ pattern: '^[0-9a-fA-F.:/, ]+$' }),
  conductorName: Type.Union([Type.String({ pattern: '^[A-Za-z0-9._-]{1,255}$' }), Type.Null()]),
  conductorPort: Type.Integer({ minimum: 0, maximum: 65_535 }),
  metricsPort: Type.Integer({ minimum: 0, maximum: 65_535 }),
  metricsToken: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
  conductorGroup: Type.String({ pattern: '^[a-z0-9._-]{0,255}$' }),
  takeOverMs: Type.Integer({ minimum: 200, maximum: limits.takeOverMsMax }),
  allocationCheckMs: Type.Integer({ minimum: 0, maximum: 3_600_000 }),
  reservationMs: Type.Integer({ minimum: 1_000, maximum: 31_536_000_000 }),
  reservationMaxMs: Type.Integer({ minimum: 1_000, maximum: 31_536_000_000 }),
  fakeDelayMs: Type.Integer({ minimum: 0, maximum: limits.fakeDelayMsMax }),
  audit: oneOf('on', 'off'),
  auditKeepDays: Type.Integer({ minimum: 0, maximum: limits.auditKeepDaysMax }),
  inspectionRules: Type.Array(InspectionRule, { maxItems: 256 }),
  testClock: Type.Boolean(),
  resizeConfirmMinutes: Type.Integer({ minimum: 0, maximum: limits.leaseMinutesMax }),
  leaseBeforeEndMinutes: Type.Integer({ minimum: 0, maximum: limits.leaseMinutesMax }),
  leaseCleaningMinutes: Type.Integer({ minimum: 0, maximum: limits.leaseMinutesMax }),
  leaseHealingMinutes: Type.Integer({ minimum: 0, maximum: limits.leaseMinutesMax }),
  leaseSecondsMax: Type.Integer({ minimum: 0 }),
  leaseExemptProjects: Type.String({ pattern: '^[^\\s]*$' }),
  leaseHoursMax: Type.Integer({ minimum: 0 }),
  leaseServiceUrl: Type.Union([Type.String({ pattern: '^https?://.+' }), Type.Null()]),
  leaseServiceToken: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
})
export type Config = Static<typeof Config>

interface Setting {
  flag: string
  fallback: Config[keyof Config]
  help: string
  /** How its value is shown where it could be read by others. */
  masked?: (value: string) => string
}

export const SETTINGS: Record<keyof Config, Setting> = {
  host: { flag: 'host <address>', fallback: '127.0.0.1', help: 'address to listen on' },
  port: { flag: 'port <number>', fallback: 8780, help: 'port to listen on; 0 takes any free one' },
  database: {
    flag: 'database <url>',
    fallback: 'sqlite:./holdfast.db',
    help: 'sqlite:FILE, sqlite::memory: or postgres://USER:PASSWORD@HOST/NAME',
    masked: mask,
  },
  auth: {
    flag: 'auth <mode>',
    fallback: 'none',
    help: 'none (all may do all), password (users of our own), keystone, or noauth2 (for tests)',
  },
  insecure: {
    flag: 'insecure',
    fallback: false,
    help: 'allow --auth none and noauth2 on an address that others can reach',
  },
  hostNames: {
    flag: 'host-names <list>',
    fallback: '',
    help: 'with --auth none and noauth2: names that clients may call this server besides localhost, with commas between them',
  },
  users: { flag: 'users <file>', fallback: './users.yaml', help: 'YAML file with the users of --auth password' },
  tokenHours: { flag: 'token-hours <number>', fallback: 12, help: 'hours after which a token of ours ends' },
  keystoneUrl: { flag: 'keystone-url <url>', fallback: null, help: 'http(s) address of Keystone for --auth keystone' },
  keystoneUsername: {
    flag: 'keystone-username <name>',
    fallback: 'holdfast',
    help: 'whom we are at Keystone; needs a role that may validate tokens (service or admin)',
  },
  keystonePassword: {
    flag: 'keystone-password <password>',
    fallback: null,
    help: 'our password there; others on this machine see command lines, so rather use the environment or a file',
    masked: () => '***',
  },
  keystonePasswordFile: {
    flag: 'keystone-password-file <file>',
    fallback: null,
    help: 'file that holds our password there',
  },
  keystoneProject: { flag: 'keystone-project <name>', fallback: 'service', help: 'our project there' },
  keystoneUserDomain: { flag: 'keystone-user-domain <name>', fallback: 'Default', help: "our user's domain there" },
  keystoneProjectDomain: {
    flag: 'keystone-project-domain <name>',
    fallback: 'Default',
    help: "our project's domain there",
  },
  keystoneCacheSeconds: {
    flag: 'keystone-cache-seconds <number>',
    fallback: 60,
    help: "how long Keystone's word on a token is believed, and so the most that a revocation takes",
  },
  tlsCert: { flag: 'tls-cert <file>', fallback: null, help: 'PEM file with the certificate, and those above it' },
  tlsKey: { flag: 'tls-key <file>', fallback: null, help: 'PEM file with the key of --tls-cert' },
  tlsClientCa: {
    flag: 'tls-client-ca <file>',
    fallback: null,
    help: 'PEM file with the authorities of which every client must show a certificate',
  },
  placementPolicy: { flag: 'placement-policy <name>', fallback: 'secure', help: 'secure, legacy or open' },
  policyFile: {
    flag: 'policy-file <file>',
    fallback: null,
    help: 'YAML file with rules in place of the built-in ones',
  },
  randomizeCandidates: {
    flag: 'randomize-candidates',
    fallback: false,
    help: 'answer allocation candidates in random order',
  },
  corsOrigin: { flag: 'cors-origin <url>', fallback: null, help: 'origin whose pages may call the APIs' },
  logLevel: { flag: 'log-level <level>', fallback: 'info', help: 'debug, info, warn, error or silent' },
  databaseConnections: {
    flag: 'database-connections <number>',
    fallback: limits.poolConnectionsMax,
    help: 'most connections to PostgreSQL at once for requests',
  },
  requestsMax: {
    flag: 'requests-max <number>',
    fallback: limits.requestsMax,
    help: 'most requests in flight at once; further ones are told to come back',
  },
  requestShare: {
    flag: 'request-share <percent>',
    fallback: limits.requestSharePercent,
    help: 'the part of these that one project or address may have once half of them are taken',
  },
  trustForwarded: {
    flag: 'trust-forwarded [proxies]',
    fallback: '0',
    help: 'believe X-Forwarded-For, -Host and -Proto of so many proxies in front (1 if it is not said), or of those at these addresses and networks',
  },
  conductorName: { flag: 'conductor-name <name>', fallback: null, help: "this conductor's name; else the machine's" },
  conductorPort: {
    flag: 'conductor-port <number>',
    fallback: 0,
    help: 'port where a conductor by itself answers /healthz, /readyz and /metrics; 0 for none',
  },
  metricsPort: {
    flag: 'metrics-port <number>',
    fallback: 0,
    help: 'port where /metrics, /healthz and /readyz are answered, and /metrics nowhere else; 0 for the port of the APIs',
  },
  metricsToken: {
    flag: 'metrics-token <token>',
    fallback: null,
    help: 'what /metrics asks for, as Authorization: Bearer; without it anyone may read them',
    masked: () => '***',
  },
  conductorGroup: {
    flag: 'conductor-group <name>',
    fallback: '',
    help: 'the group of nodes that this conductor works on',
  },
  takeOverMs: {
    flag: 'take-over-ms <number>',
    fallback: 10_000,
    help: 'milliseconds after which the work of a dead conductor is in other hands',
  },
  allocationCheckMs: {
    flag: 'allocation-check-ms <number>',
    fallback: 1_000,
    help: 'how often a conductor looks for allocations of dead ones; 0 for never',
  },
  reservationMs: {
    flag: 'reservation-ms <number>',
    fallback: 10 * 60_000,
    help: 'how long a reservation holds its node when the client does not say',
  },
  reservationMaxMs: {
    flag: 'reservation-max-ms <number>',
    fallback: 24 * 60 * 60_000,
    help: 'the longest that a reservation may hold its node',
  },
  fakeDelayMs: {
    flag: 'fake-delay-ms <number>',
    fallback: 0,
    help: 'milliseconds that each step of fake-hardware takes',
  },
  audit: { flag: 'audit <word>', fallback: 'on', help: 'on or off: write down who changed what' },
  auditKeepDays: {
    flag: 'audit-keep-days <number>',
    fallback: 0,
    help: 'days after which entries of the audit are dropped; 0 keeps them for ever',
  },
  inspectionRules: {
    flag: 'inspection-rules <json>',
    fallback: [],
    help: 'what inspection sets in a node: a list of {when: [{field, op, value}], set: {resource_class, traits, properties}}',
  },
  testClock: {
    flag: 'test-clock',
    fallback: false,
    help: 'for tests: POST /holdfast/v1/clock moves the time of all processes of this database',
  },
  resizeConfirmMinutes: {
    flag: 'resize-confirm-minutes <number>',
    fallback: 24 * 60,
    help: 'minutes after which a resize or migration that nobody confirmed is confirmed by itself; 0 for never',
  },
  leaseBeforeEndMinutes: {
    flag: 'lease-before-end-minutes <number>',
    fallback: 60,
    help: 'minutes between the event before_end_lease and the end; 0 for no such event',
  },
  leaseCleaningMinutes: {
    flag: 'lease-cleaning-minutes <number>',
    fallback: 0,
    help: 'minutes that a host or node stays free between two leases',
  },
  leaseHealingMinutes: {
    flag: 'lease-healing-minutes <number>',
    fallback: 60,
    help: "leases that start within this time move away from hosts that are down and nodes that can't be used; 0 for all",
  },
  leaseSecondsMax: { flag: 'lease-seconds-max <number>', fallback: 0, help: 'longest lease; 0 for no limit' },
  leaseExemptProjects: {
    flag: 'lease-exempt-projects <list>',
    fallback: '',
    help: 'projects that no limit on leases is for, with commas between them',
  },
  leaseHoursMax: {
    flag: 'lease-hours-max <number>',
    fallback: 0,
    help: 'hours of leases that a project may have before it at once; 0 for no limit',
  },
  leaseServiceUrl: {
    flag: 'lease-service-url <url>',
    fallback: null,
    help: 'a service that is asked before a lease is made or changed: URL/check-create, /check-update, /on-end',
    masked: mask,
  },
  leaseServiceToken: {
    flag: 'lease-service-token <token>',
    fallback: null,
    help: 'the X-Auth-Token that this service is called with',
    masked: () => '***',
  },
}

type Given = Partial<Record<keyof Config, unknown>>

const KEYS = Object.keys(SETTINGS) as (keyof Config)[]
export const flagName = (key: keyof Config) => SETTINGS[key].flag.split(' ')[0]!
export const environmentName = (key: keyof Config) => `HOLDFAST_${flagName(key).replaceAll('-', '_').toUpperCase()}`

const validate = new Ajv({ coerceTypes: true, allErrors: false, strict: false }).compile<Config>(Config)

/** Puts the configuration together, or says which setting is wrong and where it came from. */
export const loadConfig = (flags: Given, environment: NodeJS.ProcessEnv, file: string | undefined): Config =>
  loadSettings(flags, environment, file).config

/** The configuration, and where each of its settings came from. */
export function loadSettings(
  flags: Given,
  environment: NodeJS.ProcessEnv,
  file: string | undefined,
): { config: Config; origins: ReadonlyMap<string, string> } {
  const sources: [string, Given][] = [
    ['default', Object.fromEntries(KEYS.map(key => [key, SETTINGS[key].fallback]))],
    ...(file === undefined ? [] : [[file, fromFile(file)] as [string, Given]]),
    ['environment', fromEnvironment(environment)],
    ['command line', flags],
  ]
  const config: Given = {}
  const origin = new Map<string, string>()
  for (const [source, given] of sources) {
    for (const key of KEYS) {
      if (given[key] === undefined) continue
      config[key] = given[key]
      origin.set(key, source)
    }
  }
  if (typeof config.inspectionRules === 'string') config.inspectionRules = parsedRules(config.inspectionRules)
  config.trustForwarded = proxiesIn(config.trustForwarded)
  if (!validate(config)) throw wrongSetting(config, origin)
  return { config: checkTogether(config), origins: origin }
}

function wrongSetting(config: Given, origin: Map<string, string>): UsageError {
  const key = validate.errors![0]!.instancePath.slice(1).split('/')[0] as keyof Config
  const { help } = SETTINGS[key]
  const value = shown(key, config[key])
  const given = typeof value === 'string' ? value : JSON.stringify(value)
  return new UsageError(`${flagName(key)} (from the ${origin.get(key)}): '${given}' is not valid; expected: ${help}`)
}

/** What is wrong only in combination. */
function checkTogether(config: Config): Config {
  const { auth, tlsCert, tlsKey } = config
  if (isOpen(auth) && !config.insecure && !isLoopback(config.host)) {
    throw new UsageError(
      `auth '${auth}' lets everyone in who can reach ${config.host}; ` +
        'listen on 127.0.0.1, use --auth password or keystone, or say --insecure if you mean it',
    )
  }
  if (config.reservationMs > config.reservationMaxMs)
    throw new UsageError('reservation-ms must not be above reservation-max-ms')
  if (auth === 'keystone') {
    if (config.keystoneUrl === null) throw new UsageError('--auth keystone needs --keystone-url')
    const ways = [config.keystonePassword, config.keystonePasswordFile].filter(way => way !== null)
    if (ways.length !== 1) {
      throw new UsageError('--auth keystone needs one of keystone-password and keystone-password-file')
    }
  }
  trustOf(config.trustForwarded)
  if ((tlsCert === null) !== (tlsKey === null)) throw new UsageError('tls-cert and tls-key go together')
  if (config.tlsClientCa !== null && tlsCert === null) throw new UsageError('tls-client-ca needs tls-cert and tls-key')
  const [wrong] = wrongIn(config.inspectionRules)
  if (wrong !== undefined) throw new UsageError(`inspection-rules: '${wrong}' can be neither a trait nor a pattern`)
  return config
}

/** Yes is one proxy, as most have it. */
function proxiesIn(given: unknown): unknown {
  if (given === true || given === 'true') return '1'
  return given === false || given === 'false' || given === '' ? '0' : given
}

/** On the command line and in the environment the rules are JSON; anything else is left for the check to refuse. */
function parsedRules(text: string): unknown {
  try {
    return text === '' ? [] : (JSON.parse(text) as unknown)
  } catch {
    return text
  }
}

/** Everyone is let in, and is whom they say. */
export const isOpen = (auth: Config['auth']): boolean => auth === 'none' || auth === 'noauth2'

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

function fromEnvironment(environment: NodeJS.ProcessEnv): Given {
  return Object.fromEntries(KEYS.map(key => [key, environment[environmentName(key)]]))
}

function fromFile(file: string): Given {
  let content: unknown
  try {
    content = parseYaml(readFileSync(file, 'utf8')) ?? {}
  } catch (error) {
    throw new UsageError(`can't read the configuration file ${file}: ${(error as Error).message}`, { cause: error })
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new UsageError(`the configuration file ${file} must hold settings as "name: value" lines`)
  }
  const names = new Map(KEYS.map(key => [flagName(key), key]))
  const given: Given = {}
  for (const [name, value] of Object.entries(content)) {
    const key = names.get(name)
    if (!key) throw new UsageError(`${file}: there is no setting '${name}'; there are ${[...names.keys()].join(', ')}`)
    given[key] = value as unknown
  }
  return given
}

/** An address fit for logs. */
export function mask(database: string): string {
  // Up to the last @: a password may contain some itself, and too much hidden is better than too little.
  return database.replace(/(:\/\/[^:@/]*):.*@/, '$1:***@').replace(/(password=)[^&]*/gi, '$1***')
}

/** The configuration as a file would have it, without its secrets. */
export function printable(config: Config): Record<string, unknown> {
  return Object.fromEntries(KEYS.map(key => [flagName(key), shown(key, config[key])]))
}

/** A value fit for other eyes. */
function shown(key: keyof Config, value: unknown): unknown {
  const { masked } = SETTINGS[key]
  return masked && typeof value === 'string' ? masked(value) : value
}
