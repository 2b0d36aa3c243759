// holdfast run: allocates a node, runs a command, and releases the node when the command ends.
import { hostname, userInfo } from 'node:os'
import { type Command, Option } from 'commander'
import { type Clock, systemClock } from '../clock/clock.ts'
import { countdown } from '../clock/countdown.ts'
import { UsageError } from '../shared/usage-error.ts'
import { type Allocation, ApiError, type Ending, type Holdfast } from '../client/index.ts'
import { allocated } from './allocation.ts'
import { Child, codeOf } from './child.ts'
import { connectWith, countOf, durationOf, many, type ServerFlags, serverCommand } from './client-command.ts'
import type { Word } from './command.ts'
import { type DryRun, withDryRun } from './dry-run.ts'
import { CommandFailure, EXIT } from './failures.ts'
import { localTime } from './local-time.ts'
import { ended } from './notice.ts'
import { tell } from './output.ts'
import { keptOfLease } from './run-lease.ts'
import { printForecast } from './reasons.ts'
import { type Held, lasting, type Left, Renewal, type Term } from './renewal.ts'
import { environmentOf, serverFlagsOf } from './server-flags.ts'
import { terminal } from './terminal.ts'

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
  const { lease } = flags
  if (lease === undefined && flags.resourceClass === undefined)
    throw new UsageError('run needs --resource-class, or --lease')
  const server = await connectWith(flags)
  const forMs = flags.for === undefined ? Infinity : durationOf(flags.for)
  const term = termOf(flags.renewEvery * 1_000, () => clock.now())
  const wanted = wishOf(flags, term, clock)
  if (flags.dryRun) {
    printForecast(await server.allocations.forecast(wanted), { format: 'table' })
    return EXIT.ok
  }
  const signals = new Signals()
  let held: Held = wanted
  let renewal: Renewal | null = null
  const renewing = (left: Left) => new Renewal(held, term, server, () => connectWith(flags), left)
  try {
    let got: Allocation
    if (lease === undefined) {
      const left = countdown(term.lastsMs)
      const made = await server.allocations.create(wanted)
      renewal = renewing(left)
      const wait = { timeoutMs: null, signal: signals.aborted }
      got = await allocated(server, made, wait, flags.wait === undefined ? '--wait 10m waits for one' : '')
    } else {
      const kept = await keptOfLease(server, lease, wanted.keeper, term)
      held = kept.held
      got = kept.got
      renewal = renewing(kept.left)
    }
    const environment = await surroundings(server, got, flags)
    signals.aborted.throwIfAborted()
    const endsAt = clock.now() + forMs
    if (forMs !== Infinity) {
      const name = environment.HOLDFAST_NODE_NAME || environment.HOLDFAST_NODE_UUID
      tell(`${name} is yours until ${localTime(endsAt, clock.now())}`)
      await renewal.plan(endsAt)
    }
    return await commandEnds(words, environment, { uuid: got.uuid, signals, renewal, endsAt, term })
  } catch (error) {
    if (signals.first === null) throw error
    return codeOf(signals.first)
  } finally {
    renewal?.stop()
    const failure = await release(renewal?.server ?? server, held)
    // Without a renewal the allocation may not exist, so there is nothing to report.
    if (failure && renewal) tell(`the node is released when its allocation expires: ${failure}`)
    signals.stop()
  }
}

const wishOf = (flags: RunFlags, { lastsMs }: Term, clock: Clock) => ({
  // Chosen by us, so that we can release the allocation even if the answer is lost.
  uuid: clock.newUuid(),
  keeper: newKeeper(clock),
  resource_class: flags.resourceClass,
  traits: flags.trait,
  candidate_nodes: flags.candidateNode,
  name: flags.name,
  expires_at: lasting(lastsMs),
  wait_until: flags.wait === undefined ? undefined : lasting(durationOf(flags.wait)),
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

async function surroundings({ url, nodes }: Holdfast, { uuid, node_uuid }: Allocation, flags: ServerFlags) {
  const { name } = await nodes.show(node_uuid!, ['name'])
  return {
    ...terminal().env,
    ...environmentOf(flags),
    HOLDFAST_URL: url,
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
    tell(`${why}; the command is told to end, and has until ${localTime(Date.parse(news.until), now())}`)
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
