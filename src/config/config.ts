// Loads the configuration: command line before environment before file before defaults, checked as a whole.
import { readFileSync } from 'node:fs'
import { UsageError } from '../shared/usage-error.ts'
import { yaml } from '../shared/yaml.ts'
import { checked } from './checks.ts'
import { type Config, environmentName, flagName, type Given, KEYS, SETTINGS } from './settings.ts'

export type { Config }

/** Loads the configuration, or throws: which setting is wrong and where it came from. */
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
  const given: Given = {}
  const origins = new Map<string, string>()
  for (const [source, settings] of sources) {
    for (const key of KEYS) {
      if (settings[key] === undefined) continue
      given[key] = settings[key]
      origins.set(key, source)
    }
  }
  return { config: checked(given, origins), origins }
}

function fromEnvironment(environment: NodeJS.ProcessEnv): Given {
  return Object.fromEntries(KEYS.map(key => [key, environment[environmentName(key)]]))
}

function fromFile(file: string): Given {
  let content: unknown
  try {
    content = yaml().parse(readFileSync(file, 'utf8')) ?? {}
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
