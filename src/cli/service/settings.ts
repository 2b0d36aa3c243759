// The settings of the service as options of a command.
import { type Command, Option } from 'commander'
import { type Config, loadConfig } from '../../config/config.ts'
import { printable, SETTINGS } from '../../config/settings.ts'
import { yamlOf } from '../../shared/yaml.ts'
import { type Terminal, terminal } from '../terminal.ts'

export type SettingFlags = Record<string, unknown>

/** `shown` are the settings in the help; all by default. */
export function withSettings(command: Command, shown?: readonly (keyof Config)[]): Command {
  for (const [name, { flag, fallback, help }] of Object.entries(SETTINGS)) {
    const isWorthSaying = typeof fallback === 'number' || (typeof fallback === 'string' && fallback !== '')
    const option = new Option(`--${flag}`, isWorthSaying ? `${help} (default: ${fallback})` : help)
    command.addOption(shown && !shown.includes(name as keyof Config) ? option.hideHelp() : option)
  }
  return command.option('--config <file>', 'YAML file with settings, named as the options are')
}

export const withPrintConfig = (command: Command): Command =>
  command.option('--print-config', 'show the settings in effect and exit')

export const printConfig = (config: Config) => void terminal().stdout.write(yamlOf(printable(config)))

/** Whether the command line has any setting of the service. */
export const saysSettings = (flags: SettingFlags): boolean =>
  ['config', ...Object.keys(SETTINGS)].some(name => flags[name] !== undefined)

type Environment = Terminal['env']

export const fileOf = (flags: SettingFlags, env: Environment): string | undefined =>
  (flags['config'] as string | undefined) ?? env['HOLDFAST_CONFIG']

export function configOf(flags: SettingFlags): Config {
  const { env } = terminal()
  return loadConfig(flags, env, fileOf(flags, env))
}
