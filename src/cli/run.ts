// holdfast run: allocates a node, runs a command, and releases the node when the command ends.
import { hostname, userInfo } from 'node:os'
import { type Command, Option } from 'commander'
import { type Clock, systemClock } from '../clock/clock.ts'
import { countdown } from '../clock/countdown.ts'
import { UsageError } from '../shared/usage-error.ts'
import type { Allocation, Ending, Holdfast } from '../client/index.ts'
import { CANCEL_MAX_MS, GRACE_MAX_MS, newKeeper, release, termOf } from '../client/keeping.ts'
import { Child } from './child.ts'
import { connectWith, countOf, durationOf, many, type ServerFlags, serverCommand } from './client-command.ts'
import type { Word } from './command.ts'
import { type DryRun, withDryRun } from './dry-run.ts'
import { CommandFailure, EXIT } from './failures.ts'
import { codeOf, Interrupts, report } from './interrupt.ts'
import { localTime } from './local-time.ts'
import { tell } from './output.ts'
import { printForecast } from './reasons.ts'
import { lasting, type Left, type NodeSource, type Renewal, type Term } from '../client/renewal.ts'
import { LeasedNode } from '../client/run-lease.ts'
import { RunWait } from '../client/run-wait.ts'
import { untilInstant } from '../client/timers.ts'
import { lookForNode } from './allocation-wait.ts'
import { environmentOf, serverFlagsOf } from './server-flags.ts'
import { terminal } from './terminal.ts'
import { connectWaiting, type Wait, waitIn } from './wait-flags.ts'
import type { WaitOptions } from '../client/waiting.ts'
import { Progress, waitFor } from './progress.ts'

type RunFlags = ServerFlags &
  DryRun & {
    resourceClass?: string
    lease?: string
    trait?: string[]
    candidateNode?: string[]
    name?: string
    for?: string
    wait?: string
    renewEvery: number
  }

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** The exit code of timeout(1). */
const TIMED_OUT = 124
export function addCommands(program: Command, { name, help }: Word): void {
  withDryRun(
    serverCommand(
      program,
      `${name} <command...>`,
      help,
      'run --resource-class gpu --trait CUSTOM_A100 --for 2h -- ./train.sh --epochs 3',
    ),
  )
    .option('--resource-class <resource-class>', 'a node of this class')
    .addOption(
      new Option('--lease <lease>', 'a node that this lease has').conflicts([
        'resourceClass',
        'trait',
        'candidateNode',
        'name',
        'wait',
        'dryRun',
      ]),
    )
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
  if (flags.lease === undefined && flags.resourceClass === undefined)
    throw new UsageError('run needs --resource-class, or --lease')
  const wait = waitIn(flags, flags.wait)
  const server = await connectWaiting(flags, wait)
  const forMs = flags.for === undefined ? Infinity : durationOf(flags.for)
  const term = termOf(flags.renewEvery * 1_000, tell)
  const wanted = { ...wishIn(flags), keeper: newKeeper(`${userName()}@${hostname()}`) }
  if (flags.dryRun) {
    const forecast = await server.allocations.forecast({ ...wanted, expires_at: lasting(term.lastsMs) })
    printForecast(forecast, { format: 'table' })
    return EXIT.ok
  }
  const signals = new Signals()
  const isWaiting = flags.wait !== undefined
  const connect = () => connectWith(flags)
  const asked: NodeSource =
    flags.lease === undefined
      ? new RunWait(server, {
          wanted,
          term,
          wait,
          isWaiting,
          newUuid: () => clock.newUuid(),
          connect,
          lookFor: (at, uuid) => lookForNode(at, uuid, isWaiting ? '' : '--wait 10m waits for one'),
          progress: new Progress(),
          left: (uuid, waitsUntil) => leftOf(uuid, waitsUntil, term, wait),
        })
      : new LeasedNode(server, { lease: flags.lease, keeper: wanted.keeper, term, connect })
  const interrupts = new Interrupts(asked.left)
  let hasNode = false
  try {
    const got = await asked.node(interrupts.signal)
    hasNode = true
    interrupts.stop()
    const environment = await surroundings(server, got, flags, { timeoutMs: term.lastsMs, signal: signals.aborted })
    signals.aborted.throwIfAborted()
    const renewal = asked.renewal!
    const endsAt = clock.now() + forMs
    if (forMs !== Infinity) {
      const name = environment.HOLDFAST_NODE_NAME || environment.HOLDFAST_NODE_UUID
      tell(`${name} is yours until ${localTime(endsAt)}`)
      await renewal.plan(endsAt)
    }
    return await commandEnds(words, environment, { signals, renewal, endsAt, term })
  } catch (error) {
    if (signals.first === null) throw error
    return codeOf(signals.first)
  } finally {
    asked.renewal?.stop()
    const { held, renewal } = asked
    const holder = renewal?.server ?? server
    const from = hasNode ? holder : holder.within(AbortSignal.timeout(CANCEL_MAX_MS))
    const failure = held && (await release(from, held))
    if (held && !hasNode && signals.first !== null) {
      report(failure ? `${asked.left()} (${failure})` : `cancelled: allocation ${held.uuid} is deleted`)
    }
    if (failure && hasNode) tell(`the node is released when its allocation expires: ${failure}`)
    interrupts.stop()
    signals.stop()
  }
}

/** What is left if the allocation can't be deleted. */
function leftOf(uuid: string, waitsUntil: string | null, { lastsMs }: Term, wait: Wait): string {
  const until = waitsUntil === null ? '' : ` until ${localTime(waitsUntil)}`
  const end = `end it with: ${wait.line(`allocation delete ${uuid}`)}`
  return `allocation ${uuid} may still be waiting${until}, and ends by itself within ${lasting(lastsMs)}; ${end}`
}

const wishIn = (flags: RunFlags) => ({
  resource_class: flags.resourceClass,
  traits: flags.trait,
  candidate_nodes: flags.candidateNode,
  name: flags.name,
})

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run as a user without a name.
    return 'someone'
  }
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
  #child: Child | null = null
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

  follow(child: Child): void {
    this.#child = child
  }

  stop(): void {
    for (const signal of SIGNALS) this.#terminal.off(signal, this.#listen)
  }

  /** A terminal sends Ctrl-C to the command too, which may handle it; so it isn't forwarded then. */
  #forward(child: Child, signal: NodeJS.Signals): void {
    if (signal !== 'SIGINT') child.end(signal, countdown(GRACE_MAX_MS))
    else if (!this.#terminal.stdin.isTTY) child.send(signal)
  }
}

interface Watch {
  signals: Signals
  renewal: Renewal
  endsAt: number
  term: Term
}

/** Runs the command until it ends, the time is up, the node is lost or someone ends the allocation: an exit code. */
async function commandEnds(
  words: readonly string[],
  env: Record<string, string | undefined>,
  { signals, renewal, endsAt, term: { graceMs, marginMs, now } }: Watch,
): Promise<number> {
  if (renewal.left() <= 0) throw lost('it could not be renewed in time')
  const child = new Child(words, env, { graceMs: graceMs - marginMs })
  signals.follow(child)
  const over = new AbortController()
  let verdict: number | CommandFailure | null = null
  const giveUp = (reason: CommandFailure, left: Left) => {
    verdict ??= reason
    renewal.stop()
    over.abort()
    child.endInTime(left)
  }
  const hear = ({ news, left }: { news: Ending | string; left: Left }) => {
    if (over.signal.aborted) return
    if (typeof news === 'string') return giveUp(lost(news === 'gone' ? 'it is gone' : news), left)
    const why = endingIn(news)
    tell(`${why}; the command is told to end, and has until ${localTime(news.until)}`)
    giveUp(new CommandFailure(EXIT.conflict, `${why}; the command was ended`), left)
  }
  void renewal.taken(over.signal).then(hear)
  const timer = untilInstant(endsAt, now, () => {
    verdict ??= TIMED_OUT
    child.end('SIGTERM', countdown(graceMs))
  })
  try {
    const code = await child.over
    const said = verdict as number | CommandFailure | null
    if (said instanceof CommandFailure) throw said
    return said ?? code
  } finally {
    timer.stop()
    over.abort()
  }
}

const lost = (reason: string) => new CommandFailure(EXIT.conflict, `the node is lost: ${reason}; the command was ended`)

const endingIn = ({ by, message }: Ending) => `${by} ends this allocation${message === null ? '' : `: ${message}`}`
