// The command line: all top-level commands, and how errors become messages and exit codes.
import { Command, CommanderError } from 'commander'
import { StoreUnavailable } from '../store/failure.ts'
import { UsageError } from '../shared/usage-error.ts'
import { showExamples, withExample } from './example.ts'
import { EXIT, tell, verdictOn } from './failures.ts'
import { withoutOptions, withServerFlagsForAll } from './server-flags.ts'
import { atTerminal, type Output, type Terminal, terminal } from './terminal.ts'

export interface Word {
  name: string
  help: string
}

interface Words {
  help: string
  /** Loads the command's module. Its `addCommands` adds the command with its subcommands. */
  load: () => Promise<{ addCommands: (program: Command, word: Word) => void }>
}

// Only the module of the typed command is loaded: loading them all would make every command slow to start.
const GROUPS: Record<string, Record<string, Words>> = {
  'Machines:': {
    status: { help: 'who has what, until when, and who waits', load: () => import('./status/status.ts') },
    node: { help: 'bare metal nodes', load: () => import('./node/node.ts') },
    driver: { help: 'how machines are driven, and by whom', load: () => import('./driver.ts') },
    allocation: { help: 'any node of a class, with traits', load: () => import('./allocation.ts') },
    reservation: { help: 'nodes held for a while', load: () => import('./reservation.ts') },
    queue: { help: 'who waits for a node, and whose turn is next', load: () => import('./queue.ts') },
    run: { help: 'run a command with a node allocated to it', load: () => import('./run.ts') },
  },
  'Time:': {
    lease: { help: 'capacity for a period of time', load: () => import('./lease.ts') },
    calendar: {
      help: 'who has what when, drawn; and calendars to subscribe to',
      load: () => import('./calendar/calendar.ts'),
    },
    host: { help: 'hypervisors for leases', load: () => import('./host.ts') },
  },
  'Capacity:': {
    provider: { help: 'what capacity there is', load: () => import('./provider.ts') },
    claim: { help: 'who has what', load: () => import('./claim/claim.ts') },
    candidate: { help: 'where a claim would fit', load: () => import('./candidate.ts') },
    usage: { help: 'how much is used, by a project or of a provider', load: () => import('./usage.ts') },
    quota: { help: 'how much a project may have', load: () => import('./quota.ts') },
  },
  'All of it:': {
    import: {
      help: 'create and change nodes, providers and hosts as files say; - is standard input',
      load: () => import('./import/import.ts'),
    },
    export: { help: 'write the fleet as one document', load: () => import('./export.ts') },
    move: {
      help: 'from a running Placement or Blazar into Holdfast, and back; and compare both',
      load: () => import('./move/move.ts'),
    },
    demo: { help: 'fill a server with a fleet to try things on', load: () => import('./demo/demo.ts') },
    watch: { help: 'what happens, as it happens', load: () => import('./watch.ts') },
    webhook: { help: 'who is told of events, and where', load: () => import('./webhook.ts') },
    audit: { help: 'who changed what, newest first', load: () => import('./audit.ts') },
    fsck: {
      help: 'check the invariants of the ledger, in the database or of a running server',
      load: () => import('./fsck/fsck.ts'),
    },
    doctor: {
      help: 'look for what is wrong with a server, or with this machine',
      load: () => import('./doctor/doctor.ts'),
    },
  },
  'The service:': {
    serve: {
      help: 'run everything in one process, on SQLite or PostgreSQL',
      load: () => import('./service/service.ts'),
    },
    api: { help: 'run only the APIs, on a migrated database', load: () => import('./service/service.ts') },
    conductor: {
      help: 'run only the work on nodes, beside others, on PostgreSQL',
      load: () => import('./service/service.ts'),
    },
    migrate: { help: 'bring the database up to this version', load: () => import('./service/service.ts') },
    user: { help: 'the users of --auth password, on the server or in the file', load: () => import('./user/user.ts') },
    project: { help: 'the projects of --auth password', load: () => import('./project.ts') },
  },
  'In other words:': {
    'reservation-create': { help: 'hold a node for an instance', load: () => import('./reservation.ts') },
    'reservation-list': { help: 'list reservations', load: () => import('./reservation.ts') },
    'reservation-show': { help: 'show a reservation', load: () => import('./reservation.ts') },
    'reservation-delete': { help: 'let the node go', load: () => import('./reservation.ts') },
  },
  'The command itself:': {
    completion: {
      help: 'print the script that completes commands and names in a shell',
      load: () => import('./completion/completion.ts'),
    },
    version: {
      help: 'say which version this is, and which one the server is if it answers',
      load: () => import('./version.ts'),
    },
  },
}

/** All commands with their help, but subcommands only for the one that was typed. */
export async function programWith(meant: string | undefined): Promise<Command> {
  const program = new Command('holdfast')
    .description('Knows which machines and capacity exist, and who has which part of them.')
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({
      writeOut: text => void terminal().stdout.write(text),
      writeErr: text => void terminal().stderr.write(text),
      outputError: (text, write) => write(inOneLine(text)),
      getOutHelpWidth: () => widthOf(terminal().stdout),
      getErrHelpWidth: () => widthOf(terminal().stderr),
    })
    .addHelpText('after', '\nholdfast completion --help says how to have names completed with the Tab key.')
  withServerFlagsForAll(program)
  for (const [title, words] of Object.entries(GROUPS)) {
    program.commandsGroup(title)
    for (const [name, { help, load }] of Object.entries(words)) {
      if (name === meant) (await load()).addCommands(program, { name, help })
      else program.command(name).description(help)
    }
  }
  // Added last, so that it is listed in the last group.
  program.helpCommand('help [command]', 'show the help of a command')
  showExamples(withExample(program, 'demo', 'status', 'run --resource-class gpu --wait 10m -- ./train.sh'))
  return program
}

const widthOf = ({ isTTY, columns }: Output) => (isTTY && columns ? columns : 80)

/** Returns the exit code. */
export const runCommand = (words: readonly string[], terminal: Terminal): Promise<number> =>
  atTerminal(terminal, () => run(words))

async function run(words: readonly string[]): Promise<number> {
  const [first, ...rest] = withoutOptions(words)
  if (first === '__complete') return (await import('./completion/next-words.ts')).complete(rest.slice(1), programWith)
  const program = await programWith(first === 'help' ? rest[0] : first)
  try {
    await program.parseAsync(words, { from: 'user' })
    return Number(terminal().exitCode ?? EXIT.ok)
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
  terminal().stderr.write(`holdfast: ${said}${cause && !said.includes(cause) ? ` (${cause})` : ''}\n`)
  return exitCode
}

/** Commander puts "Did you mean …?" on a second line. */
const inOneLine = (text: string) => text.replace(/^error: /, 'holdfast: ').replaceAll(/\n(?=.)/g, ' ')

/** Messages of libraries may have several lines. */
const firstLine = (text: string) => text.split('\n', 1)[0]!

function isListenError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'listen'
}
