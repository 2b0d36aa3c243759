// The command line: which words there are, and how a wrong one is told.
import { Command, CommanderError } from 'commander'
import { stringify } from 'yaml'
import { type Config, loadConfig, printable, SETTINGS, UsageError } from '../config.ts'
import { StoreUnavailable } from '../store/failure.ts'
import { conductor } from './conductor.ts'
import { fsck } from './fsck.ts'
import { migrateDatabase } from './migrate.ts'
import { serve } from './serve.ts'
import { addUserCommands } from './user.ts'

const OK = 0
const FAILED = 1
const USAGE = 2

type Action = (config: Config) => Promise<number>

const COMMANDS: Record<string, { help: string; run: Action }> = {
  serve: { help: 'run everything in one process, on SQLite or PostgreSQL', run: config => serve(config, 'serve') },
  api: { help: 'run only the APIs, on a migrated database', run: config => serve(config, 'api') },
  conductor: { help: 'run only the work on nodes, beside others, on PostgreSQL', run: conductor },
  migrate: { help: 'bring the database up to this version', run: migrateDatabase },
  fsck: { help: 'check the invariants of the ledger', run: fsck },
}

export async function runCommand(argv: string[]): Promise<number> {
  let exitCode = OK
  const program = new Command('holdfast')
    .description('Knows which machines and capacity exist, and who has which part of them.')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'holdfast: ')) })
  for (const [name, { help, run }] of Object.entries(COMMANDS)) {
    const command = program.command(name).description(help).exitOverride()
    for (const { flag, fallback, help } of Object.values(SETTINGS)) {
      const isWorthSaying = typeof fallback === 'number' || (typeof fallback === 'string' && fallback !== '')
      command.option(`--${flag}`, isWorthSaying ? `${help} (default: ${fallback})` : help)
    }
    command.option('--config <file>', 'YAML file with settings, named as the options are')
    command.option('--print-config', 'show the settings in effect and exit')
    command.action(async (flags: Record<string, unknown>) => {
      const { config: file, printConfig, ...given } = flags
      const config = loadConfig(given, process.env, (file as string | undefined) ?? process.env['HOLDFAST_CONFIG'])
      if (printConfig) process.stdout.write(stringify(printable(config)))
      else exitCode = await run(config)
    })
  }
  addUserCommands(program)
  try {
    await program.parseAsync(argv)
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? OK : USAGE
    if (error instanceof UsageError) return fail(error, USAGE)
    if (error instanceof StoreUnavailable || isListenError(error)) return fail(error as Error, FAILED)
    throw error
  }
}

function fail(error: Error, exitCode: number): number {
  const said = firstLine(error.message)
  const cause = error.cause instanceof Error ? firstLine(error.cause.message) : ''
  process.stderr.write(`holdfast: ${said}${cause && !said.includes(cause) ? ` (${cause})` : ''}\n`)
  return exitCode
}

/** What other libraries say may go on for lines. */
const firstLine = (text: string) => text.split('\n', 1)[0]!

function isListenError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'listen'
}
