// The command line: which words there are, and how a wrong one is told.
import { Command, CommanderError } from 'commander'
import { stringify } from 'yaml'
import { type Config, loadConfig, printable, SETTINGS, UsageError } from '../config.ts'
import { StoreUnavailable } from '../store/failure.ts'
import { addAllocationCommands } from './allocation.ts'
import { addAuditCommand } from './audit.ts'
import { addCandidateCommands } from './candidate.ts'
import { addDemoCommand } from './demo.ts'
import { EXIT, tell, verdictOn } from './failures.ts'
import { addHostCommands } from './host.ts'
import { addLeaseCommands } from './lease.ts'
import { addLedgerCommands } from './ledger.ts'
import { addNodeCommands } from './node.ts'
import { addReservationCommands } from './reservation.ts'
import { addRunCommand } from './run.ts'
import { addUserCommands } from './user.ts'
import { addVersionCommand } from './version.ts'

type Action = (config: Config) => Promise<number>

// The server is loaded only by those who run it: whoever types a command waits for what it loads.
const COMMANDS: Record<string, { help: string; run: Action }> = {
  serve: {
    help: 'run everything in one process, on SQLite or PostgreSQL',
    run: async config => (await import('./serve.ts')).serve(config, 'serve'),
  },
  api: {
    help: 'run only the APIs, on a migrated database',
    run: async config => (await import('./serve.ts')).serve(config, 'api'),
  },
  conductor: {
    help: 'run only the work on nodes, beside others, on PostgreSQL',
    run: async config => (await import('./conductor.ts')).conductor(config),
  },
  migrate: {
    help: 'bring the database up to this version',
    run: async config => (await import('./migrate.ts')).migrateDatabase(config),
  },
  fsck: { help: 'check the invariants of the ledger', run: async config => (await import('./fsck.ts')).fsck(config) },
}

export async function runCommand(argv: string[]): Promise<number> {
  let exitCode: number = EXIT.ok
  const program = new Command('holdfast')
    .description('Knows which machines and capacity exist, and who has which part of them.')
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({ outputError: (text, write) => write(inOneLine(text)) })
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
  addNodeCommands(program)
  addAllocationCommands(program)
  addReservationCommands(program)
  addRunCommand(program, code => (exitCode = code))
  addLeaseCommands(program)
  addHostCommands(program)
  addLedgerCommands(program)
  addCandidateCommands(program)
  addAuditCommand(program)
  addDemoCommand(program)
  addVersionCommand(program)
  try {
    await program.parseAsync(argv)
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    if (error instanceof UsageError) return fail(error, EXIT.usage)
    if (error instanceof StoreUnavailable || isListenError(error)) return fail(error as Error, EXIT.failed)
    const verdict = verdictOn(error)
    if (verdict) return tell(verdict)
    throw error
  }
}

function fail(error: Error, exitCode: number): number {
  const said = firstLine(error.message)
  const cause = error.cause instanceof Error ? firstLine(error.cause.message) : ''
  process.stderr.write(`holdfast: ${said}${cause && !said.includes(cause) ? ` (${cause})` : ''}\n`)
  return exitCode
}

/** A guess at what was meant comes on a line of its own. */
const inOneLine = (text: string) => text.replace(/^error: /, 'holdfast: ').replaceAll(/\n(?=.)/g, ' ')

/** What other libraries say may go on for lines. */
const firstLine = (text: string) => text.split('\n', 1)[0]!

function isListenError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'listen'
}
