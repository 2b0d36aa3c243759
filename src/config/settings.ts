// The table of all settings: flag, schema, default and help.
import type { Static } from 'typebox'
import { DEFAULT_RULES } from '../metal/nodes/inspection-defaults.ts'
import { HookSets } from '../metal/drivers/manual/hooks.ts'
import { InspectionRule } from '../metal/nodes/inspection.ts'
import { limits } from '../shared/limits.ts'
import { minutes, oneOf, orNull, port, type Setting, text, yesOrNo } from './kinds.ts'
import { COMPUTE_SETTINGS } from './compute-settings.ts'
import { LEASE_SETTINGS } from './lease-settings.ts'
import { mask } from './mask.ts'
import { REQUEST_SETTINGS } from './request-settings.ts'
import { WEBHOOK_SETTINGS } from './webhook-settings.ts'
import { Type } from '../shared/type.ts'

const TABLE = {
  host: { flag: 'host <address>', is: text, fallback: '127.0.0.1', help: 'address to listen on' },
  port: { flag: 'port <number>', is: port, fallback: 8780, help: 'port to listen on; 0 takes any free one' },
  database: {
    flag: 'database <url>',
    is: Type.String({ pattern: '^(sqlite:.+|postgres(ql)?://.*)$' }),
    fallback: 'sqlite:./holdfast.db',
    help: 'sqlite:FILE, sqlite::memory: or postgres://USER:PASSWORD@HOST/NAME',
    masked: mask,
  },
  auth: {
    flag: 'auth <mode>',
    is: oneOf('none', 'noauth2', 'password', 'keystone'),
    fallback: 'none',
    help: 'none (all may do all), password (users of our own), keystone, or noauth2 (for tests)',
  },
  insecure: {
    flag: 'insecure',
    is: yesOrNo,
    fallback: false,
    help: 'allow --auth none and noauth2 on an address that others can reach',
  },
  hostNames: {
    flag: 'host-names <list>',
    is: Type.String({ pattern: '^[A-Za-z0-9._,:-]*$' }),
    fallback: '',
    help: 'with --auth none and noauth2: names that clients may call this server besides localhost, with commas between them',
  },
  users: {
    flag: 'users <file>',
    is: text,
    fallback: './users.yaml',
    help: 'YAML file with the users of --auth password',
  },
  tokenHours: {
    flag: 'token-hours <number>',
    is: Type.Number({ exclusiveMinimum: 0, maximum: 8_760 }),
    fallback: 12,
    help: 'hours after which a token of ours ends',
  },
  keystoneUrl: {
    flag: 'keystone-url <url>',
    is: orNull(Type.String({ pattern: '^https?://[^@]+$' })),
    fallback: null,
    help: 'http(s) address of Keystone for --auth keystone',
  },
  keystoneUsername: {
    flag: 'keystone-username <name>',
    is: text,
    fallback: 'holdfast',
    help: 'whom we are at Keystone; needs a role that may validate tokens (service or admin)',
  },
  keystonePassword: {
    flag: 'keystone-password <password>',
    is: orNull(text),
    fallback: null,
    help: 'our password there; others on this machine see command lines, so rather use the environment or a file',
    masked: () => '***',
  },
  keystonePasswordFile: {
    flag: 'keystone-password-file <file>',
    is: orNull(text),
    fallback: null,
    help: 'file that holds our password there',
  },
  keystoneProject: { flag: 'keystone-project <name>', is: text, fallback: 'service', help: 'our project there' },
  keystoneUserDomain: {
    flag: 'keystone-user-domain <name>',
    is: text,
    fallback: 'Default',
    help: "our user's domain there",
  },
  keystoneProjectDomain: {
    flag: 'keystone-project-domain <name>',
    is: text,
    fallback: 'Default',
    help: "our project's domain there",
  },
  keystoneCacheSeconds: {
    flag: 'keystone-cache-seconds <number>',
    is: Type.Integer({ minimum: 0, maximum: 3_600 }),
    fallback: 60,
    help: "how long Keystone's word on a token is believed, and so the most that a revocation takes",
  },
  tlsCert: {
    flag: 'tls-cert <file>',
    is: orNull(text),
    fallback: null,
    help: 'PEM file with the certificate, and those above it',
  },
  tlsKey: { flag: 'tls-key <file>', is: orNull(text), fallback: null, help: 'PEM file with the key of --tls-cert' },
  tlsClientCa: {
    flag: 'tls-client-ca <file>',
    is: orNull(text),
    fallback: null,
    help: 'PEM file with the authorities of which every client must show a certificate',
  },
  placementPolicy: {
    flag: 'placement-policy <name>',
    is: oneOf('secure', 'legacy', 'open'),
    fallback: 'secure',
    help: 'secure, legacy or open',
  },
  policyFile: {
    flag: 'policy-file <file>',
    is: orNull(text),
    fallback: null,
    help: 'YAML file with rules in place of the built-in ones',
  },
  randomizeCandidates: {
    flag: 'randomize-candidates',
    is: yesOrNo,
    fallback: false,
    help: 'answer allocation candidates in random order',
  },
  corsOrigin: {
    flag: 'cors-origin <url>',
    is: orNull(text),
    fallback: null,
    help: 'origin whose pages may call the APIs',
  },
  ui: {
    flag: 'ui <word>',
    is: oneOf('on', 'off'),
    fallback: 'on',
    help: 'on or off: serve the dashboard at /ui/',
  },
  logLevel: {
    flag: 'log-level <level>',
    is: oneOf('debug', 'info', 'warn', 'error', 'silent'),
    fallback: 'info',
    help: 'debug, info, warn, error or silent',
  },
  databaseConnections: {
    flag: 'database-connections <number>',
    is: Type.Integer({ minimum: 1, maximum: 1_000 }),
    fallback: limits.poolConnectionsMax,
    help: 'most connections to PostgreSQL at once for requests',
  },
  damagedSchema: {
    flag: 'damaged-schema',
    is: yesOrNo,
    fallback: false,
    help: 'serve a database that lacks tables, constraints, indexes, triggers or functions of its schema; what these promise is not kept then',
  },
  ...REQUEST_SETTINGS,
  eventSource: {
    flag: 'event-source <name>',
    is: Type.String({ pattern: '^[!-~]{1,255}$' }),
    fallback: '/holdfast',
    help: 'the source that events name, to tell installations apart',
  },
  trustForwarded: {
    flag: 'trust-forwarded [proxies]',
    is: Type.String({ pattern: '^[0-9a-fA-F.:/, ]+$' }),
    fallback: '0',
    help: 'believe X-Forwarded-For, -Host and -Proto of so many proxies in front (1 if it is not said), or of those at these addresses and networks',
  },
  conductorName: {
    flag: 'conductor-name <name>',
    is: orNull(Type.String({ pattern: '^[A-Za-z0-9._-]{1,255}$' })),
    fallback: null,
    help: "this conductor's name; else the machine's",
  },
  conductorPort: {
    flag: 'conductor-port <number>',
    is: port,
    fallback: 0,
    help: 'port where a conductor by itself answers /healthz, /readyz and /metrics; 0 for none',
  },
  metricsPort: {
    flag: 'metrics-port <number>',
    is: port,
    fallback: 0,
    help: 'port where /metrics, /healthz and /readyz are answered, and /metrics nowhere else; 0 for the port of the APIs',
  },
  metricsToken: {
    flag: 'metrics-token <token>',
    is: orNull(text),
    fallback: null,
    help: 'what /metrics asks for, as Authorization: Bearer; without it anyone may read them',
    masked: () => '***',
  },
  conductorGroup: {
    flag: 'conductor-group <name>',
    is: Type.String({ pattern: '^[a-z0-9._-]{0,255}$' }),
    fallback: '',
    help: 'the group of nodes that this conductor works on',
  },
  enabledDrivers: {
    flag: 'enabled-drivers <names>',
    is: Type.String({ pattern: '^[a-z0-9, -]*$' }),
    fallback: '',
    help: 'the hardware drivers of this conductor, with commas between; without it all that can work on this machine',
  },
  takeOverMs: {
    flag: 'take-over-ms <number>',
    is: Type.Integer({ minimum: 200, maximum: limits.takeOverMsMax }),
    fallback: 10_000,
    help: 'milliseconds after which the work of a dead conductor is in other hands',
  },
  allocationCheckMs: {
    flag: 'allocation-check-ms <number>',
    is: Type.Integer({ minimum: 0, maximum: 3_600_000 }),
    fallback: 1_000,
    help: 'how often a conductor looks for allocations of dead ones; 0 for never',
  },
  reservationMs: {
    flag: 'reservation-ms <number>',
    is: Type.Integer({ minimum: 1_000, maximum: 31_536_000_000 }),
    fallback: 10 * 60_000,
    help: 'how long a reservation holds its node when the client does not say',
  },
  reservationMaxMs: {
    flag: 'reservation-max-ms <number>',
    is: Type.Integer({ minimum: 1_000, maximum: 31_536_000_000 }),
    fallback: 24 * 60 * 60_000,
    help: 'the longest that a reservation may hold its node',
  },
  fakeDelayMs: {
    flag: 'fake-delay-ms <number>',
    is: Type.Integer({ minimum: 0, maximum: limits.fakeDelayMsMax }),
    fallback: 0,
    help: 'milliseconds that each step of fake-hardware takes',
  },
  mediaUrl: {
    flag: 'media-url <url>',
    is: orNull(Type.String({ pattern: '^https?://([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:.]+\\])(:\\d{1,5})?(/[^@?#\\s]*)?$' })),
    fallback: null,
    help: 'http(s) address under which BMCs reach this service, for config drives and kernels',
  },
  audit: {
    flag: 'audit <word>',
    is: oneOf('on', 'off'),
    fallback: 'on',
    help: 'on or off: write down who changed what',
  },
  auditKeepDays: {
    flag: 'audit-keep-days <number>',
    is: Type.Integer({ minimum: 0, maximum: limits.auditKeepDaysMax }),
    fallback: 0,
    help: 'days after which entries of the audit are dropped; 0 keeps them for ever',
  },
  powerSyncSeconds: {
    flag: 'power-sync-seconds <number>',
    is: Type.Integer({ minimum: 0, maximum: 86_400 }),
    fallback: 60,
    help: 'how often each machine is asked whether it is on; 0 never',
  },
  historyKeep: {
    flag: 'history-keep <number>',
    is: Type.Integer({ minimum: 0, maximum: limits.historyKeepMax }),
    fallback: 300,
    help: 'lines of the history of each node that are kept; 0 keeps all',
  },
  historyKeepDays: {
    flag: 'history-keep-days <number>',
    is: Type.Integer({ minimum: 0, maximum: limits.auditKeepDaysMax }),
    fallback: 180,
    help: 'days after which lines of the history of nodes are dropped; 0 keeps them for ever',
  },
  inspectionRules: {
    flag: 'inspection-rules <json>',
    is: Type.Array(InspectionRule, { maxItems: 256 }),
    fallback: DEFAULT_RULES,
    help: 'what inspection sets in a node, in place of the built-in rules: a list of {when: [{field, op, value}], set: {resource_class, traits, properties}}; [] for nothing',
  },
  hooks: {
    flag: 'hooks <json>',
    is: HookSets,
    fallback: {},
    help: 'what is done to machines of the driver manual when they change hands: sets of hooks {NAME: {hand_over, return, clean, power}}, each {command: [...]} or {url, secret}, with seconds',
    masked: () => '***',
    secret: 'secret',
  },
  testClock: {
    flag: 'test-clock',
    is: yesOrNo,
    fallback: false,
    help: 'for tests: POST /holdfast/v1/clock moves the time of all processes of this database',
  },
  resizeConfirmMinutes: {
    flag: 'resize-confirm-minutes <number>',
    is: minutes,
    fallback: 24 * 60,
    help: 'minutes after which a resize or migration that nobody confirmed is confirmed by itself; 0 for never',
  },
  queue: {
    flag: 'queue <order>',
    is: oneOf('fifo', 'fair'),
    fallback: 'fifo',
    help: 'the order in which allocations that wait get nodes: fifo (as they came) or fair (by what projects used lately)',
  },
  queueHalfLifeHours: {
    flag: 'queue-half-life-hours <number>',
    is: Type.Number({ minimum: 1, maximum: limits.halfLifeHoursMax }),
    fallback: 168,
    help: 'hours after which the use of a node counts half in the fair order',
  },
  ...COMPUTE_SETTINGS,
  ...LEASE_SETTINGS,
  ...WEBHOOK_SETTINGS,
} satisfies Record<string, Setting>

export type Config = { [Key in keyof typeof TABLE]: Static<(typeof TABLE)[Key]['is']> }
export const SETTINGS: Readonly<Record<keyof Config, Setting>> = TABLE

/** Some of the settings, as given and not yet checked. */
export type Given = Partial<Record<keyof Config, unknown>>

export const KEYS = Object.keys(SETTINGS) as (keyof Config)[]
export const flagName = (key: keyof Config) => SETTINGS[key].flag.split(' ')[0]!
export const environmentName = (key: keyof Config) => `HOLDFAST_${flagName(key).replaceAll('-', '_').toUpperCase()}`

/** The configuration by the names of the file, with secrets masked. */
export function printable(config: Config): Record<string, unknown> {
  return Object.fromEntries(KEYS.map(key => [flagName(key), shown(key, config[key])]))
}

/** A value that is safe to show: secrets are masked. */
export function shown(key: keyof Config, value: unknown): unknown {
  const { masked, secret } = SETTINGS[key]
  if (secret !== undefined && typeof value === 'object')
    return JSON.parse(JSON.stringify(value, (name, inner: unknown) => (name === secret ? '***' : inner))) as unknown
  return masked && typeof value === 'string' ? masked(value) : value
}
