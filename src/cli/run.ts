// holdfast run: allocates a node, runs a command, and releases the node when the command ends.
import { hostname, userInfo } from 'node:os'
import { type Command, Option } from 'commander'
import { type Clock, systemClock } from '../clock/clock.ts'
import { countdown } from '../clock/countdown.ts'
import { UsageError } from '../shared/usage-error.ts'
import { type Allocation, ApiError, type Ending, type Holdfast } from '../client/index.ts'
import { Child } from './child.ts'
import { connectWith, countOf, durationOf, many, type ServerFlags, serverCommand } from './client-command.ts'
import type { Word } from './command.ts'
import { type DryRun, withDryRun } from './dry-run.ts'
import { CommandFailure, EXIT } from './failures.ts'
import { CANCEL_MAX_MS, codeOf, Interrupts, report } from './interrupt.ts'
import { localTime } from './local-time.ts'
import { ended } from './notice.ts'
import { tell } from './output.ts'
import { printForecast } from './reasons.ts'
import { type Held, lasting, type Left, type NodeSource, type Renewal, type Term } from './renewal.ts'
import { LeasedNode } from './run-lease.ts'
import { RunWait } from './run-wait.ts'
import { environmentOf, serverFlagsOf } from './server-flags.ts'
import { terminal } from './terminal.ts'
import { connectWaiting, waitIn } from './wait-flags.ts'
import { waitFor, type WaitOptions } from './waiting.ts'

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
/** How long the command may take to end after a signal, before SIGKILL. */
const GRACE_MAX_MS = 10_000
/** The exit code of timeout(1). */
const TIMED_OUT = 124
/** For a busy machine, and for clocks that differ: the command is over this long before the node may be another's. */
const MARGIN_MAX_MS = 2_000
/** Two renewals may fail before the node is lost. */
const RENEWALS_PER_TERM = 3
const KEEPER_NAME_MAX = 100
const KEEPER_PROOF_BYTES = 18

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
        'note',
        'wait',
        'dryRun',
      ]),
    )
    .option('--trait <trait>', 'with this trait; may be repeated', many)
    .option('--candidate-node <node>', 'one of these; may be repeated', many)
    .option('--name <name>', 'name of the allocation')
    .option('--note <text>', 'what others should know about it')
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
  const term = termOf(flags.renewEvery * 1_000, () => clock.now())
  const wanted = { ...wishIn(flags), keeper: newKeeper(clock) }
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
      ? new RunWait(server, { wanted, term, wait, isWaiting, newUuid: () => clock.newUuid(), connect })
      : new LeasedNode(server, { lease: flags.lease, keeper: wanted.keeper, term, connect })
  const interrupts = new Interrupts(asked.left)
  let hasNode = false
  try {
    const got = await asked.node(interrupts.signal, isWaiting ? '' : '--wait 10m waits for one')
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
    return await commandEnds(words, environment, { uuid: got.uuid, signals, renewal, endsAt, term })
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

const wishIn = (flags: RunFlags) => ({
  resource_class: flags.resourceClass,
  traits: flags.trait,
  candidate_nodes: flags.candidateNode,
  name: flags.name,
  note: flags.note,
})

function termOf(everyMs: number, now: () => number): Term {
  const graceMs = Math.min(GRACE_MAX_MS, everyMs / 2)
  const marginMs = Math.min(MARGIN_MAX_MS, graceMs / 2)
  return { everyMs, lastsMs: everyMs * RENEWALS_PER_TERM, graceMs, marginMs, now, countdown }
}

/** Who runs it, for others to read, and a proof that nobody else can give. */
function newKeeper(clock: Clock): string {
  const name = `${userName()}@${hostname()}`.replaceAll(/[/\p{C}]/gu, '-').slice(0, KEEPER_NAME_MAX)
  return `${name}/${clock.newSecret(KEEPER_PROOF_BYTES).toString('base64url')}`
}

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
  uuid: string
  signals: Signals
  renewal: Renewal
  endsAt: number
  term: Term
}

/** Runs the command until it ends, the time is up, the node is lost or someone ends the allocation: an exit code. */
async function commandEnds(
  words: readonly string[],
  env: Record<string, string | undefined>,
  { uuid, signals, renewal, endsAt, term: { graceMs, marginMs, now } }: Watch,
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
  const hear = (news: Ending | string) => {
    if (over.signal.aborted) return
    if (news === 'gone') return giveUp(lost('it is gone'), countdown(graceMs))
    if (typeof news === 'string') return giveUp(lost(news), renewal.left)
    const why = endingIn(news)
    tell(`${why}; the command is told to end, and has until ${localTime(news.until)}`)
    giveUp(new CommandFailure(EXIT.conflict, `${why}; the command was ended`), renewal.left)
  }
  void renewal.lost.then(hear)
  void ended(() => renewal.server, uuid, over.signal).then(hear)
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

/** Releases the node. Returns the reason if it can't: then the allocation expires by itself. */
async function release({ allocations }: Holdfast, { uuid, keeper }: Held): Promise<string | null> {
  try {
    await allocations.delete(uuid, { keeper })
    return null
  } catch (error) {
    if (!(error instanceof ApiError)) return (error as Error).message
    if (error.status === 404) return null
    // 409: the command has deployed the node. It is torn down when its allocation ends, so that ends now.
    const isEnding = error.status === 409 && (await endsNow(allocations, { uuid, keeper }))
    return isEnding ? null : error.message
  }
}

async function endsNow(allocations: Holdfast['allocations'], { uuid, keeper }: Held): Promise<boolean> {
  try {
    await allocations.renew(uuid, '1s', { keeper })
    return true
  } catch {
    return false
  }
}
