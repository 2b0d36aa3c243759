// Runs holdfast demo: checks the options, shows the progress, and prints a summary.
import { styleText } from 'node:util'
import { systemClock } from '../../clock/clock.ts'
import { UsageError } from '../../shared/usage-error.ts'
import { gather, isOpen } from './crowd.ts'
import { fill, type Report } from './fill.ts'
import { fleetOf, NODES_MAX, NODES_MIN } from './fleet.ts'
import type { Said } from './live-things.ts'
import { live, PACE_MAX } from './live-run.ts'
import { remove } from './remove.ts'
import { DemoFailure, InTheWay, presentDemo, requireRoom } from './state.ts'
import { addPeople, type Passwords, removePeople } from './users.ts'
import { UsersFileError } from '../../identity/users-file.ts'
import { seeded } from '../../clock/chance.ts'
import { connectWith, durationOf } from '../client-command.ts'
import { printPeople, printSummary } from './summary.ts'
import type { DemoFlags } from './demo.ts'
import { CommandFailure, EXIT } from '../failures.ts'
import { say, visible } from '../output.ts'
import { Progress } from '../progress.ts'
import { terminal } from '../terminal.ts'

type Server = Awaited<ReturnType<typeof connectWith>>

const now = () => systemClock.now()

export async function demo(flags: DemoFlags): Promise<void> {
  checkFlags(flags)
  try {
    const server = await connectWith(flags)
    await (flags.remove ? removeDemo(server, flags) : fillDemo(server, flags))
  } catch (error) {
    if (error instanceof UsersFileError) throw new UsageError(`${flags.users}: ${error.message}`, { cause: error })
    if (!(error instanceof DemoFailure)) throw error
    throw new CommandFailure(error instanceof InTheWay ? EXIT.conflict : EXIT.failed, error.message, error.hint)
  }
}

function checkFlags({ nodes, pace, live, remove, ...flags }: DemoFlags): void {
  if (nodes < NODES_MIN || nodes > NODES_MAX) throw new UsageError(`--nodes is from ${NODES_MIN} to ${NODES_MAX}`)
  if (pace > PACE_MAX) throw new UsageError(`--pace is at most ${PACE_MAX}`)
  if (flags.for !== undefined && !live) throw new UsageError('--for goes with --live')
  if (remove && (live || flags.beside)) throw new UsageError('--remove goes alone, or with --users')
  if (flags.for !== undefined) durationOf(flags.for)
}

async function fillDemo(server: Server, flags: DemoFlags): Promise<void> {
  const started = now()
  const present = await presentDemo(server)
  if (present && !present.isComplete) {
    throw new InTheWay('an earlier demo was cut off before it was complete', 'holdfast demo --remove removes it')
  }
  const fleet = fleetOf(present ?? flags)
  if (!present) await requireRoom(server, fleet, flags.beside === true)
  const passwords = present && !flags.live ? null : await peopleOf(server, flags)
  const crowd = await gather(server, passwords, now)
  if (present) {
    say(`The demo is here already (${fleet.nodes} nodes, seed ${fleet.seed}); nothing was added.`)
  } else {
    await shown('holdfast demo --remove removes what was made', report => fill({ crowd, fleet, now, report }))
    say(`The demo is here, after ${Math.round((now() - started) / 1_000)} s.`)
  }
  if (!present || !flags.live) await printSummary(crowd, passwords, { url: flags.url ?? null, isAdded: !present })
  else if (passwords) printPeople(crowd, passwords)
  if (flags.live) await liveOn(flags, { crowd, fleet })
}

async function peopleOf(server: Server, { users }: DemoFlags): Promise<Passwords | null> {
  if (users === undefined) return null
  if (await isOpen(server.url)) {
    throw new UsageError('this server lets everyone in; --users is for one with users of its own')
  }
  return addPeople(users, bytes => systemClock.newSecret(bytes))
}

async function removeDemo(server: Server, { users }: DemoFlags): Promise<void> {
  const gone = await shown('holdfast demo --remove removes the rest', report => remove(server, now, report))
  say(gone === 0 ? 'There was nothing of the demo.' : `The demo is gone: ${gone} things.`)
  if (users !== undefined) say(`Users removed: ${removePeople(users).join(', ') || 'none'}`)
}

/** Shows progress. On Ctrl-C it tells how to remove what exists so far. */
async function shown<T>(onInterrupt: string, work: (report: Report) => Promise<T>): Promise<T> {
  const [started, progress, here] = [now(), new Progress(), terminal()]
  const interrupted = () => {
    progress.clear()
    here.stderr.write(`holdfast: interrupted; ${onInterrupt}\n`)
    here.exit(130)
  }
  here.once('SIGINT', interrupted)
  try {
    return await work((what, done, total) => {
      const count = here.stderr.isTTY ? `: ${done} of ${total}` : ''
      progress.show(`${what}${count}`, now() - started)
    })
  } finally {
    here.off('SIGINT', interrupted)
    progress.clear()
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

async function liveOn(flags: DemoFlags, { crowd, fleet }: Pick<Parameters<typeof live>[0], 'crowd' | 'fleet'>) {
  const enough = new AbortController()
  const stop = () => enough.abort()
  // Only once, so that a second signal ends the process at once.
  for (const signal of SIGNALS) terminal().once(signal, stop)
  const signal =
    flags.for === undefined
      ? enough.signal
      : AbortSignal.any([enough.signal, AbortSignal.timeout(durationOf(flags.for))])
  say('')
  say(`alice, bob and carol are at work${flags.for === undefined ? '; Ctrl-C ends it' : ` for ${flags.for}`}.`)
  try {
    const { events, refusals } = await live({
      crowd,
      fleet,
      random: seeded(fleet.seed),
      now,
      newUuid: () => systemClock.newUuid(),
      pace: flags.pace,
      signal,
      say: printEvent,
    })
    say(`${events} events, ${refusals} of them refusals; what was taken is given back.`)
  } finally {
    for (const signal of SIGNALS) terminal().off(signal, stop)
  }
}

function printEvent({ who, text, isRefused }: Said): void {
  const paint = (colour: 'dim' | 'yellow' | 'cyan', words: string) =>
    styleText(colour, words, { stream: terminal().stdout })
  const time = new Date(now()).toTimeString().slice(0, 8)
  const words = visible(text)
  const line = [paint('dim', time), paint('cyan', who.name.padEnd(6)), isRefused ? paint('yellow', words) : words]
  terminal().stdout.write(`${line.join('  ')}\n`)
}
