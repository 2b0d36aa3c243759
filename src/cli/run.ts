// holdfast run: allocates a node, runs a command, and releases the node when the command ends.
import { hostname, userInfo } from 'node:os'
import { type Command, Option } from 'commander'
import { type Clock, systemClock } from '../clock/clock.ts'
import { countdown } from '../clock/countdown.ts'
import { UsageError } from '../shared/usage-error.ts'
import type { Allocation, Ending, Holdfast } from '../client/index.ts'
import { GRACE_MAX_MS, givenBack, newKeeper, termOf } from '../client/keeping.ts'
import { Child } from './child.ts'
import { connectWith, countOf, durationOf, listed, type ServerFlags, serverCommand } from './client-command.ts'
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
    note?: string
    for?: string
    wait?: string
    renewEvery: number
  }

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** The exit code of timeout(1). */
const TIMED_OUT = 124
/** Traits are of capitals, and commands hardly ever. */
function traitsOf(value: string, before: string[] | undefined): string[] {
  if (!/^[A-Z0-9_, ]+$/.test(value)) throw new UsageError(`'${value}' is no trait; put -- before the command`)
  return listed(value, before)
}

export function addCommands(program: Command, { name, help }: Word): void {
  const traits = new Option('--trait <traits...>', 'with all of these traits').argParser(traitsOf)
  // Several only where -- says where the command begins. Commander's types leave out the words that were typed.
  program.hook('preSubcommand', () => {
    traits.variadic = (program as Command & { rawArgs: string[] }).rawArgs.includes('--')
  })
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
        'note',
        'wait',
        'dryRun',
      ]),
    )
    .addOption(traits)
    .option('--candidate-node <node>', 'one of these; may be repeated, or a,b', listed)
    .option('--name <name>', 'name of the allocation')
    .option('--note <text>', 'a line for others to read, such as what it is for')
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
  let ended: { why: string; name: string } | null = null
  try {
    const got = await asked.node(interrupts.signal)
    hasNode = true
    interrupts.stop()
    const environment = await surroundings(server, got, flags, { timeoutMs: term.lastsMs, signal: signals.aborted })
    signals.aborted.throwIfAborted()
    const renewal = asked.renewal!
    const endsAt = clock.now() + forMs
    const name = environment.HOLDFAST_NODE_NAME || environment.HOLDFAST_NODE_UUID
    tell(`${name} is yours until ${endOf(Math.min(endsAt, asked.held?.leaseEndsAt ?? Infinity))}`)
    if (forMs !== Infinity) await renewal.plan(endsAt)
    const watch = { name, signals, renewal, endsAt, term }
    const { code, why } = await commandEnds(words, environment, watch)
    ended = { why, name }
    return code
  } catch (error) {
    if (signals.first === null) throw error
    return codeOf(signals.first)
  } finally {
    asked.renewal?.stop()
    const { held, renewal } = asked
    const failure = held && (await givenBack(renewal?.server ?? server, held, renewal !== null))
    if (held && !hasNode && signals.first !== null) {
      report(failure ? `${asked.left()} (${failure})` : `cancelled: allocation ${held.uuid} is deleted`)
    } else if (failure && !hasNode && renewal) report(`${asked.left()} (${failure})`)
    const after = failure ? `is free when its allocation expires (${failure})` : 'is given back'
    if (ended) tell(`${ended.why}; ${ended.name} ${after}`)
    else if (failure && hasNode) tell(`the node ${after}`)
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
  note: flags.note,
})

const endOf = (at: number) => (at === Infinity ? 'the command ends' : localTime(at))

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
  /** Of the node. */
  name: string
  signals: Signals
  renewal: Renewal
  endsAt: number
  term: Term
}

interface Ended {
  code: number
  why: string
}

/** Runs the command until it ends or the time is up. Throws if the node is lost or someone takes it back. */
async function commandEnds(
  words: readonly string[],
  env: Record<string, string | undefined>,
  { name, signals, renewal, endsAt, term: { graceMs, marginMs, now } }: Watch,
): Promise<Ended> {
  if (renewal.left() <= 0) throw lost('it could not be renewed in time')
  const child = new Child(words, env, { graceMs: graceMs - marginMs })
  signals.follow(child)
  const over = new AbortController()
  let verdict: Ended | CommandFailure | null = null
  const giveUp = (reason: CommandFailure, left: Left) => {
    verdict ??= reason
    renewal.stop()
    over.abort()
    child.endInTime(left)
  }
  const hear = ({ news, left }: { news: Ending | string; left: Left }) => {
    if (over.signal.aborted) return
    if (typeof news === 'string')
      return giveUp(lost(news === 'gone' ? 'someone has deleted its allocation' : news), left)
    const why = `${news.by} takes ${name} back${news.message === null ? '' : `: ${news.message}`}`
    tell(`${why}; the command is told to end, and has until ${localTime(news.until)}`)
    giveUp(new CommandFailure(EXIT.conflict, `${why}; the command was ended`), left)
  }
  void renewal.taken(over.signal).then(hear)
  const timer = untilInstant(endsAt, now, () => {
    if (verdict === null) tell('the time of --for ran out; the command is told to end')
    verdict ??= { code: TIMED_OUT, why: 'the command was ended, because the time of --for ran out' }
    child.end('SIGTERM', countdown(graceMs))
  })
  try {
    const code = await child.over
    const said = verdict as Ended | CommandFailure | null
    if (said instanceof CommandFailure) throw said
    const after = signals.first === null ? '' : ` after ${signals.first}`
    return said ?? { code, why: `the command exited with ${code}${after}` }
  } finally {
    timer.stop()
    over.abort()
  }
}

const lost = (reason: string) => new CommandFailure(EXIT.conflict, `the node is lost: ${reason}; the command was ended`)
