// holdfast serve, api, conductor, migrate, fsck: what runs the service or works on its database.
import type { Command } from 'commander'
import { type Config, loadConfig, printable, SETTINGS } from '../config.ts'
import { yamlOf } from '../yaml.ts'
import type { Word } from './command.ts'

/** Each answers the exit code. */
const RUN: Record<string, (config: Config) => Promise<number>> = {
  serve: async config => (await import('./serve.ts')).serve(config, 'serve'),
  api: async config => (await import('./serve.ts')).serve(config, 'api'),
  conductor: async config => (await import('./conductor.ts')).conductor(config),
  migrate: async config => (await import('./migrate.ts')).migrateDatabase(config),
  fsck: async config => (await import('./fsck.ts')).fsck(config),
}

export function addCommands(program: Command, { name, help }: Word): void {
  const command = program.command(name).description(help)
  for (const { flag, fallback, help } of Object.values(SETTINGS)) {
    const isWorthSaying = typeof fallback === 'number' || (typeof fallback === 'string' && fallback !== '')
    command.option(`--${flag}`, isWorthSaying ? `${help} (default: ${fallback})` : help)
  }
  command.option('--config <file>', 'YAML file with settings, named as the options are')
  command.option('--print-config', 'show the settings in effect and exit')
  command.action(async (flags: Record<string, unknown>) => {
    const { config: file, printConfig, ...given } = flags
    const config = loadConfig(given, process.env, (file as string | undefined) ?? process.env['HOLDFAST_CONFIG'])
    if (printConfig) process.stdout.write(yamlOf(printable(config)))
    else process.exitCode = await RUN[name]!(config)
  })
}
