// Checks a configuration: each setting by itself, and all of them together.
import { Ajv } from 'ajv'
import { trustOf } from '../http/forwarded.ts'
import { wronglyOwn } from '../identity/catalog.ts'
import { readCatalog } from '../identity/catalog-setting.ts'
import { isLoopback } from '../identity/networks.ts'
import { isOpen } from '../identity/settings.ts'
import { wrongIn as wrongRules } from '../metal/nodes/inspection.ts'
import { UsageError } from '../shared/usage-error.ts'
import { type Config, flagName, type Given, KEYS, SETTINGS, shown } from './settings.ts'
import { Type } from '../shared/type.ts'

/** Returns the settings with their right types, or throws: which setting is wrong and where it came from. */
export function checked(given: Given, origins: ReadonlyMap<string, string>): Config {
  if (typeof given.inspectionRules === 'string') given.inspectionRules = parsed(given.inspectionRules, [])
  if (typeof given.hooks === 'string') given.hooks = parsed(given.hooks, {})
  if (typeof given.catalog === 'string') given.catalog = parsed(given.catalog, {})
  given.trustForwarded = proxiesIn(given.trustForwarded)
  const wrong = wrongIn(given, origins)
  if (wrong !== null) throw wrongSetting(given, origins, wrong)
  checkTogether(given as Config)
  return given as Config
}

/** The setting that is wrong. Gives the others their right types. Defaults have them: compiling what checks all takes longer than all else here. */
function wrongIn(given: Given, origins: ReadonlyMap<string, string>): keyof Config | null {
  const keys = KEYS.filter(key => origins.get(key) !== 'default')
  const schema = Type.Object(Object.fromEntries(keys.map(key => [key, SETTINGS[key].is])))
  const validate = new Ajv({ coerceTypes: true, allErrors: false, strict: false }).compile(schema)
  if (validate(given)) return null
  return validate.errors![0]!.instancePath.slice(1).split('/')[0] as keyof Config
}

function wrongSetting(config: Given, origins: ReadonlyMap<string, string>, key: keyof Config): UsageError {
  const { help } = SETTINGS[key]
  const value = shown(key, config[key])
  const given = typeof value === 'string' ? value : JSON.stringify(value)
  return new UsageError(`${flagName(key)} (from the ${origins.get(key)}): '${given}' is not valid; expected: ${help}`)
}

/** Refuses settings that are wrong only in combination. */
function checkTogether(config: Config): void {
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
  if (config.compute === 'nova') {
    if (config.novaUrl === null) throw new UsageError('--compute nova needs --nova-url')
    if (auth !== 'password' && auth !== 'keystone')
      throw new UsageError('--compute nova needs --auth password or keystone: Nova checks the tokens of its callers')
  }
  if (config.mailSmtp !== null && (config.mailFrom === null || config.mailToDomains === '')) {
    throw new UsageError('mail-smtp needs mail-from, and mail-to-domains: nobody may have strangers written to')
  }
  checkCatalog(config)
  trustOf(config.trustForwarded)
  if ((tlsCert === null) !== (tlsKey === null)) throw new UsageError('tls-cert and tls-key go together')
  if (config.tlsClientCa !== null && tlsCert === null) throw new UsageError('tls-client-ca needs tls-cert and tls-key')
  const [wrong] = wrongRules(config.inspectionRules)
  if (wrong !== undefined) throw new UsageError(`inspection-rules: '${wrong}' can be neither a trait nor a pattern`)
}

function checkCatalog(config: Config): void {
  const catalog = readCatalog(config.catalog)
  const type = wronglyOwn(catalog, config)
  if (type !== null) {
    const reason = type === 'compute' ? `with compute '${config.compute}' there is none here` : 'there is none here'
    throw new UsageError(`catalog: ${type} can't be own: ${reason}; say its URL, or hidden`)
  }
  if (config.auth === 'keystone' && catalog.size > 0)
    throw new UsageError("catalog: with --auth keystone clients are shown Keystone's; make the endpoints there")
}

/** `true` means one proxy, the most common setup. */
function proxiesIn(given: unknown): unknown {
  if (given === true || given === 'true') return '1'
  return given === false || given === 'false' || given === '' ? '0' : given
}

/** On the command line and in the environment these are JSON. Other text is returned, and the schema refuses it. */
function parsed(text: string, none: unknown): unknown {
  try {
    return text === '' ? none : (JSON.parse(text) as unknown)
  } catch {
    return text
  }
}
