// holdfast run: allocates a node, runs a command, and releases the node when the command ends.
import { type ChildProcess, spawn } from 'node:child_process'
import type { Command } from 'commander'
import { type Clock, systemClock } from '../clock/clock.ts'
import { type Allocation, ApiError, type Holdfast } from '../client/index.ts'
import { connectWith, countOf, durationOf, many, type ServerFlags, serverCommand } from './client-command.ts'
import type { Word } from './command.ts'
import { type DryRun, withDryRun } from './dry-run.ts'
import { CommandFailure, EXIT } from './failures.ts'
import { CANCEL_MAX_MS, codeOf, Interrupts, report } from './interrupt.ts'
import { printForecast } from './reasons.ts'
import type { Renewal, Term } from './renewal.ts'
import { RunWait } from './run-wait.ts'
import { environmentOf, serverFlagsOf } from './server-flags.ts'
import { terminal } from './terminal.ts'
import { connectWaiting, waitIn } from './wait-flags.ts'
import { waitFor, type WaitOptions } from './waiting.ts'

type RunFlags = ServerFlags &
  DryRun & {
    resourceClass: string
    trait?: string[]
    candidateNode?: string[]
    name?: string
    for?: string
    wait?: string
    renewEvery: number
  }

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** How long the command may take to end after a signal, before SIGKILL. */
const GRACE_MAX_MS = 10_000
/** The exit code of timeout(1). */
const TIMED_OUT = 124
/** Two renewals may fail before the node is lost. */
const RENEWALS_PER_TERM = 3

export function addCommands(program: Command, { name, help }: Word): void {
  withDryRun(
    serverCommand(
      program,
      `${name} <command...>`,
      help,
      'run --resource-class gpu --trait CUSTOM_A100 --for 2h -- ./train.sh --epochs 3',
    ),
  )
    .requiredOption('--resource-class <resource-class>', 'a node of this class')
    .option('--trait <trait>', 'with this trait; may be repeated', many)
    .option('--candidate-node <node>', 'one of these; may be repeated', many)
    .option('--name <name>', 'name of the allocation')
    .option('--for <duration>', 'end the command after so long')
    .option('--wait <duration>', 'wait so long for a node while there is none')
    .option('--renew-every <seconds>', 'how often to renew the allocation', countOf, 20)
    .addHelpText(
      'after',
      '\nThe command finds its node in HOLDFAST_NODE_UUID, HOLDFAST_NODE_NAME and HOLDFAST_ALLOCATION.',
    )
    .passThroughOptions()
    .action(async (words: string[], flags: RunFlags, command: Command) => {
      terminal().exitCode = await run(words, { ...flags, ...serverFlagsOf(command) }, systemClock)
    })
}

async function run(words: readonly string[], flags: RunFlags, clock: Clock): Promise<number> {
  const now = () => clock.now()
  const wait = waitIn(flags, flags.wait)
  const server = await connectWaiting(flags, wait)
  const endsAt = flags.for === undefined ? Infinity : now() + durationOf(flags.for)
  const term = termOf(flags.renewEvery * 1_000, endsAt, now)
  const wanted = {
    resource_class: flags.resourceClass,
    traits: flags.trait,
    candidate_nodes: flags.candidateNode,
    name: flags.name,
  }
  if (flags.dryRun) {
    printForecast(await server.allocations.forecast(wanted), { format: 'table' })
    return EXIT.ok
  }
  const signals = new Signals()
  const isWaiting = flags.wait !== undefined
  const newUuid = () => clock.newUuid()
  const asked = new RunWait(server, { wanted, term, wait, isWaiting, newUuid, connect: () => connectWith(flags) })
  const interrupts = new Interrupts(asked.left)
  let hasNode = false
  try {
    const got = await asked.node(interrupts.signal, isWaiting ? '' : '--wait 10m waits for one')
    hasNode = true
    interrupts.stop()
    const environment = await surroundings(server, got, flags, { timeoutMs: term.lastsMs, signal: signals.aborted })
    signals.aborted.throwIfAborted()
    return await commandEnds(words, environment, { signals, renewal: asked.renewal!, endsAt, term })
  } catch (error) {
    if (signals.first === null) throw error
    return codeOf(signals.first)
  } finally {
    asked.renewal?.stop()
    const holder = asked.renewal?.server ?? server
    const failure = await release(hasNode ? holder : holder.within(AbortSignal.timeout(CANCEL_MAX_MS)), asked.uuid)
    if (!hasNode && signals.first !== null) {
      report(failure ? `${asked.left()} (${failure})` : `cancelled: allocation ${asked.uuid} is deleted`)
    }
    if (failure && hasNode)
      terminal().stderr.write(`holdfast: the node is released when its allocation expires: ${failure}\n`)
    interrupts.stop()
    signals.stop()
  }
}

function termOf(everyMs: number, endsAt: number, now: () => number): Term {
  const graceMs = Math.min(GRACE_MAX_MS, everyMs / 2)
  return { everyMs, lastsMs: everyMs * RENEWALS_PER_TERM, graceMs, endsAt: endsAt + graceMs, now }
}

async function surroundings(
  server: Holdfast,
  { uuid, node_uuid }: Allocation,
  flags: ServerFlags,
  options: WaitOptions,
) {
  const look = async (signal: AbortSignal) => ({ done: await server.within(signal).nodes.show(node_uuid!, ['name']) })
  const { name } = await waitFor(look, options)
  return {
    ...terminal().env,
    ...environmentOf(flags),
    HOLDFAST_URL: server.url,
    HOLDFAST_ALLOCATION: uuid,
    HOLDFAST_NODE_UUID: node_uuid!,
    HOLDFAST_NODE_NAME: name ?? '',
  }
}

/** Records the signals that we get, and forwards them to the command once it runs. */
class Signals {
  first: NodeJS.Signals | null = null
  readonly #terminal = terminal()
  #child: ChildProcess | null = null
  readonly #abort = new AbortController()
  readonly #listen = (signal: NodeJS.Signals) => {
    this.first ??= signal
    this.#abort.abort()
    if (this.#child) this.#forward(this.#child, signal)
  }

  constructor() {
    for (const signal of SIGNALS) this.#terminal.on(signal, this.#listen)
  }

  get aborted(): AbortSignal {
    return this.#abort.signal
  }

  follow(child: ChildProcess): void {
    this.#child = child
  }

  stop(): void {
    for (const signal of SIGNALS) this.#terminal.off(signal, this.#listen)
  }

  /** A terminal sends Ctrl-C to the command too, which may handle it; so it isn't forwarded then. */
  #forward(child: ChildProcess, signal: NodeJS.Signals): void {
    if (signal !== 'SIGINT') end(child, signal, GRACE_MAX_MS)
    else if (!this.#terminal.stdin.isTTY) child.kill(signal)
  }
}

function end(child: ChildProcess, signal: NodeJS.Signals, graceMs: number): void {
  child.kill(signal)
  setTimeout(() => child.kill('SIGKILL'), graceMs).unref()
}

interface Watch {
  signals: Signals
  renewal: Renewal
  endsAt: number
  term: Term
}

/** Runs the command until it ends, the time is up or the node is lost. Returns the exit code. */
async function commandEnds(
  words: readonly string[],
  env: Record<string, string | undefined>,
  { signals, renewal, endsAt, term: { graceMs, now } }: Watch,
): Promise<number> {
  const [file, ...args] = words
  const child = spawn(file!, args, { env, stdio: 'inherit' })
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', error => reject(notStarted(file!, error)))
    child.once('exit', (code, signal) => resolve(signal ? codeOf(signal) : code!))
  })
  signals.follow(child)
  let verdict: number | CommandFailure | null = null
  const giveUp = (reason: string) => {
    verdict ??= new CommandFailure(EXIT.conflict, `the node is lost: ${reason}; the command was ended`)
    end(child, 'SIGTERM', graceMs)
  }
  void renewal.lost.then(giveUp)
  const timer = untilInstant(endsAt, now, () => {
    verdict ??= TIMED_OUT
    end(child, 'SIGTERM', graceMs)
  })
  try {
    const code = await ended
    const said = verdict as number | CommandFailure | null
    if (said instanceof CommandFailure) throw said
    return said ?? code
  } finally {
    timer.stop()
  }
}

/** The longest delay that setTimeout takes. */
const TIMER_MAX_MS = 2 ** 31 - 1

function untilInstant(at: number, now: () => number, act: () => void) {
  let timer: NodeJS.Timeout | undefined
  const arm = () => {
    const left = at - now()
    if (left <= 0) act()
    else timer = setTimeout(arm, Math.min(left, TIMER_MAX_MS))
  }
  if (at !== Infinity) arm()
  return { stop: () => clearTimeout(timer) }
}

function notStarted(file: string, { message, ...error }: Error): CommandFailure {
  const isMissing = 'code' in error && error.code === 'ENOENT'
  return new CommandFailure(EXIT.usage, isMissing ? `there is no command ${file}` : `can't run ${file}: ${message}`)
}

/** Releases the node. Returns the reason if it can't: then the allocation expires by itself. */
async function release({ allocations }: Holdfast, uuid: string): Promise<string | null> {
  try {
    await allocations.delete(uuid)
    return null
  } catch (error) {
    if (!(error instanceof ApiError)) return (error as Error).message
    if (error.status === 404) return null
    // 409: the command has deployed the node. It is torn down when its allocation ends, so that ends now.
    const isEnding = error.status === 409 && (await endsNow(allocations, uuid))
    return isEnding ? null : error.message
  }
}

async function endsNow(allocations: Holdfast['allocations'], uuid: string): Promise<boolean> {
  try {
    await allocations.renew(uuid, '1s')
    return true
  } catch {
    return false
  }
}
