// The settings of the service as options of a command.
import type { Command } from 'commander'
import { stringify } from 'yaml'
import { type Config, loadConfig, printable, SETTINGS } from '../config.ts'

export type SettingFlags = Record<string, unknown>

export function withSettings(command: Command): Command {
  for (const { flag, fallback, help } of Object.values(SETTINGS)) {
    const isWorthSaying = typeof fallback === 'number' || (typeof fallback === 'string' && fallback !== '')
    command.option(`--${flag}`, isWorthSaying ? `${help} (default: ${fallback})` : help)
  }
  return command.option('--config <file>', 'YAML file with settings, named as the options are')
}

export const withPrintConfig = (command: Command): Command =>
  command.option('--print-config', 'show the settings in effect and exit')

export const printConfig = (config: Config) => void process.stdout.write(stringify(printable(config)))

/** Whether the command line says anything about the service. */
export const saysSettings = (flags: SettingFlags): boolean =>
  ['config', ...Object.keys(SETTINGS)].some(name => flags[name] !== undefined)

export const fileOf = (flags: SettingFlags): string | undefined =>
  (flags['config'] as string | undefined) ?? process.env['HOLDFAST_CONFIG']

export const configOf = (flags: SettingFlags): Config => loadConfig(flags, process.env, fileOf(flags))
