// The options that name a server and a user: --url, --os-cloud, and the options of the openstack command.
// Each may come before the command or after it.
import { quoted } from '../shared/shell.ts'
import { type Command, Option } from 'commander'
import { UsageError } from '../shared/usage-error.ts'
import type { ConnectOptions } from '../client/index.ts'
import { terminal } from './terminal.ts'

/** Shown in the help of every command. */
const COMMON: Record<string, string> = {
  '--url <url>': 'where Holdfast is (HOLDFAST_URL; default: http://127.0.0.1:8780)',
  '--os-cloud <cloud>': 'the cloud in clouds.yaml to use (OS_CLOUD)',
}

/** Shown only in the main help. Without `--os-` they have the names of settings in clouds.yaml. */
const RARE: Record<string, string> = {
  '--os-auth-url <url>': 'the identity service (OS_AUTH_URL)',
  '--os-auth-type <type>': 'how to say who: password, token, v3applicationcredential, http_basic, none (OS_AUTH_TYPE)',
  '--os-username <name>': 'who (OS_USERNAME)',
  '--os-password <password>':
    'the password; others on this machine see command lines, so rather let it be asked for (OS_PASSWORD)',
  '--os-project-name <name>': 'in which project (OS_PROJECT_NAME)',
  '--os-user-domain-name <name>': "the user's domain (OS_USER_DOMAIN_NAME)",
  '--os-project-domain-name <name>': "the project's domain (OS_PROJECT_DOMAIN_NAME)",
  '--os-region-name <name>': 'the region whose Holdfast is meant, in the catalog (OS_REGION_NAME)',
  '--os-cacert <file>': 'certificates to trust (OS_CACERT)',
  '--os-token <token>': 'a token instead of a password (OS_TOKEN)',
  '--os-endpoint <url>': 'the address of any of the APIs (OS_ENDPOINT)',
}

const CONNECTION = [...Object.keys(COMMON), ...Object.keys(RARE)].map(flags => new Option(flags))
const OVERRIDES = Object.keys(RARE).map(flags => new Option(flags))

/** Whether the next word is the option's value. */
const takesValue = (word: string) => CONNECTION.some(({ long }) => long === word)

/** The words from the command on, without the options before it. */
export function withoutOptions(words: readonly string[]): readonly string[] {
  let at = 0
  while (words[at]?.startsWith('-')) at += takesValue(words[at]!) ? 2 : 1
  return words.slice(at)
}

/** Named as commander does: osCloud, osAuthUrl … */
export type ServerFlags = { url?: string; osCloud?: string } & Partial<Record<`os${string}`, string>>

export function withServerFlags(command: Command): Command {
  for (const [flags, help] of Object.entries(COMMON)) command.option(flags, help)
  for (const [flags, help] of Object.entries(RARE)) command.addOption(new Option(flags, help).hideHelp())
  return command
}

/** Allows the options before any command. A command that talks to no server refuses them. */
export function withServerFlagsForAll(program: Command): Command {
  for (const [flags, help] of Object.entries({ ...COMMON, ...RARE })) program.option(flags, help)
  return program.hook('preAction', (_, command) => {
    const [first] = Object.keys(chosen(program))
    if (first === undefined || takesServerFlags(command)) return
    const { long } = CONNECTION.find(option => option.attributeName() === first)!
    throw new UsageError(`holdfast ${command.name()} talks to no server, and doesn't take ${long}`)
  })
}

const takesServerFlags = (command: Command) => command.options.some(({ long }) => long === '--os-cloud')

/** The options that were given, anywhere in the line; a later one wins. */
export const serverFlagsOf = (command: Command): ServerFlags => ({
  ...(command.parent && serverFlagsOf(command.parent)),
  ...chosen(command),
})

function chosen(command: Command): ServerFlags {
  const given = command.opts<Record<string, string | undefined>>()
  const names = CONNECTION.map(option => option.attributeName()).filter(name => given[name] !== undefined)
  return Object.fromEntries(names.map(name => [name, given[name]]))
}

export const connectOptionsOf = (flags: ServerFlags): ConnectOptions => ({
  url: flags.url,
  cloud: flags.osCloud,
  env: terminal().env,
  said: saidIn(flags),
})

function saidIn(flags: ServerFlags): Record<string, string> {
  const given = flags as Record<string, string | undefined>
  return Object.fromEntries(
    OVERRIDES.flatMap(option => {
      const value = given[option.attributeName()]
      return value === undefined ? [] : [[option.long!.slice('--os-'.length).replaceAll('-', '_'), value]]
    }),
  )
}

const SECRETS = new Set(['--os-password', '--os-token'])

/** A command for the same server, to be shown to the user: with the options that were given, but without secrets. */
export function commandLineOf(flags: ServerFlags, words: string): string {
  const given = flags as Record<string, string | undefined>
  const options = CONNECTION.flatMap(option => {
    const value = given[option.attributeName()]
    return value === undefined || SECRETS.has(option.long!) ? [] : [option.long!, quoted(value)]
  })
  return ['holdfast', ...options, words].join(' ')
}

/** The same options as environment variables, for a command that this one starts. */
export const environmentOf = (flags: ServerFlags): Record<string, string> => ({
  ...(flags.osCloud !== undefined && { OS_CLOUD: flags.osCloud }),
  ...Object.fromEntries(Object.entries(saidIn(flags)).map(([name, value]) => [`OS_${name.toUpperCase()}`, value])),
})
