// holdfast serve, api, conductor, migrate: run the service, or prepare its database.
import type { Command } from 'commander'
import type { Config } from '../../config/config.ts'
import type { Word } from '../command.ts'
import { withExample } from '../example.ts'
import { configOf, printConfig, type SettingFlags, withPrintConfig, withSettings } from './settings.ts'
import { terminal } from '../terminal.ts'

/** Each returns the exit code. */
const RUN: Record<string, (config: Config) => Promise<number>> = {
  serve: async config => (await import('./serve.ts')).serve(config, 'serve'),
  api: async config => (await import('./serve.ts')).serve(config, 'api'),
  conductor: async config => (await import('./conductor.ts')).conductor(config),
  migrate: async config => (await import('./migrate.ts')).migrateDatabase(config),
}

const EXAMPLES: Record<string, readonly string[]> = {
  serve: ['serve', 'serve --database sqlite:./lab.db --auth password --users ./users.yaml'],
  api: ['api --database postgres://holdfast@db/holdfast'],
  conductor: ['conductor --database postgres://holdfast@db/holdfast'],
  migrate: ['migrate --database postgres://holdfast@db/holdfast'],
}

export function addCommands(program: Command, { name, help }: Word): void {
  const command = withPrintConfig(withSettings(program.command(name).description(help)))
  withExample(command, ...EXAMPLES[name]!).action(async (flags: SettingFlags) => {
    const config = configOf(flags)
    if (flags['printConfig']) printConfig(config)
    else terminal().exitCode = await RUN[name]!(config)
  })
}
