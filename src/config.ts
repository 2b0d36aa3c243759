// The configuration: command line before environment before file before defaults, checked as a whole.
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { type Static, Type } from 'typebox'
import { parse as parseYaml } from 'yaml'
import { limits } from './limits.ts'
import { InspectionRule, wrongIn } from './metal/inspection.ts'

/** Something is wrong with how Holdfast was started; said in one line, exit code 2. */
export class UsageError extends Error {}

const oneOf = <T extends string>(...values: T[]) => Type.Unsafe<T>({ type: 'string', enum: values })

export const Config = Type.Object({
  host: Type.String({ minLength: 1 }),
  port: Type.Integer({ minimum: 0, maximum: 65_535 }),
  database: Type.String({ pattern: '^(sqlite:.+|postgres(ql)?://.*)$' }),
  auth: oneOf('none', 'noauth2'),
  insecure: Type.Boolean(),
  placementPolicy: oneOf('secure', 'legacy', 'open'),
  policyFile: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
  randomizeCandidates: Type.Boolean(),
  corsOrigin: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
  logLevel: oneOf('debug', 'info', 'warn', 'error', 'silent'),
  databaseConnections: Type.Integer({ minimum: 1, maximum: 1_000 }),
  trustForwarded: Type.Boolean(),
  conductorName: Type.Union([Type.String({ pattern: '^[A-Za-z0-9._-]{1,255}$' }), Type.Null()]),
  conductorGroup: Type.String({ pattern: '^[a-z0-9._-]{0,255}$' }),
  takeOverMs: Type.Integer({ minimum: 200, maximum: 600_000 }),
  allocationCheckMs: Type.Integer({ minimum: 0, maximum: 3_600_000 }),
  reservationMs: Type.Integer({ minimum: 1_000, maximum: 31_536_000_000 }),
  reservationMaxMs: Type.Integer({ minimum: 1_000, maximum: 31_536_000_000 }),
  fakeDelayMs: Type.Integer({ minimum: 0, maximum: limits.fakeDelayMsMax }),
  audit: oneOf('on', 'off'),
  auditKeepDays: Type.Integer({ minimum: 0, maximum: limits.auditKeepDaysMax }),
  inspectionRules: Type.Array(InspectionRule, { maxItems: 256 }),
})
export type Config = Static<typeof Config>

export const SETTINGS: Record<keyof Config, { flag: string; fallback: Config[keyof Config]; help: string }> = {
  host: { flag: 'host <address>', fallback: '127.0.0.1', help: 'address to listen on' },
  port: { flag: 'port <number>', fallback: 8780, help: 'port to listen on; 0 takes any free one' },
  database: {
    flag: 'database <url>',
    fallback: 'sqlite:./holdfast.db',
    help: 'sqlite:FILE, sqlite::memory: or postgres://USER:PASSWORD@HOST/NAME',
  },
  auth: { flag: 'auth <mode>', fallback: 'none', help: 'none (all may do all) or noauth2 (for tests)' },
  insecure: {
    flag: 'insecure',
    fallback: false,
    help: 'allow --auth none and noauth2 on an address that others can reach',
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
    help: 'most connections to PostgreSQL at once',
  },
  trustForwarded: {
    flag: 'trust-forwarded',
    fallback: false,
    help: 'build links from X-Forwarded-Host and -Proto, as a proxy in front of this says',
  },
  conductorName: { flag: 'conductor-name <name>', fallback: null, help: "this conductor's name; else the machine's" },
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
}

type Given = Partial<Record<keyof Config, unknown>>

const KEYS = Object.keys(SETTINGS) as (keyof Config)[]
export const flagName = (key: keyof Config) => SETTINGS[key].flag.split(' ')[0]!
const environmentName = (key: keyof Config) => `HOLDFAST_${flagName(key).replaceAll('-', '_').toUpperCase()}`

const validate = new Ajv({ coerceTypes: true, allErrors: false, strict: false }).compile<Config>(Config)

/** Puts the configuration together, or says which setting is wrong and where it came from. */
export function loadConfig(flags: Given, environment: NodeJS.ProcessEnv, file: string | undefined): Config {
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
  if (!validate(config)) throw wrongSetting(config, origin)
  return checkTogether(config)
}

function wrongSetting(config: Given, origin: Map<string, string>): UsageError {
  const key = validate.errors![0]!.instancePath.slice(1).split('/')[0] as keyof Config
  const { help } = SETTINGS[key]
  const value = config[key]
  const given = key === 'database' ? mask(String(value)) : typeof value === 'string' ? value : JSON.stringify(value)
  return new UsageError(`${flagName(key)} (from the ${origin.get(key)}): '${given}' is not valid; expected: ${help}`)
}

/** What is wrong only in combination. */
function checkTogether(config: Config): Config {
  if (!config.insecure && !isLoopback(config.host)) {
    throw new UsageError(
      `auth '${config.auth}' lets everyone in who can reach ${config.host}; ` +
        'listen on 127.0.0.1, or say --insecure if you mean it',
    )
  }
  if (config.reservationMs > config.reservationMaxMs)
    throw new UsageError('reservation-ms must not be above reservation-max-ms')
  const [wrong] = wrongIn(config.inspectionRules)
  if (wrong !== undefined) throw new UsageError(`inspection-rules: '${wrong}' can be neither a trait nor a pattern`)
  return config
}

/** On the command line and in the environment the rules are JSON; anything else is left for the check to refuse. */
function parsedRules(text: string): unknown {
  try {
    return text === '' ? [] : (JSON.parse(text) as unknown)
  } catch {
    return text
  }
}

function isLoopback(host: string): boolean {
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

/** A database address fit for logs. */
export function mask(database: string): string {
  return database.replace(/(:\/\/[^:@/]*):[^@/]*@/, '$1:***@').replace(/(password=)[^&]*/gi, '$1***')
}

/** The configuration as a file would have it, without its secrets. */
export function printable(config: Config): Record<string, unknown> {
  return Object.fromEntries(KEYS.map(key => [flagName(key), key === 'database' ? mask(config.database) : config[key]]))
}
