// holdfast lease: capacity booked for a period of time.
import type { Command } from 'commander'
import { systemClock } from '../clock/clock.ts'
import type { Holdfast, Lease, LeaseChange, LeaseExplained, NewLease } from '../client/index.ts'
import { UsageError } from '../shared/usage-error.ts'
import {
  type Document,
  durationOf,
  type Flags,
  forEach,
  given,
  jsonOrText,
  many,
  onServer,
  pairsIn,
  printingCommand,
  type ServerFlags,
  serverCommand,
} from './client-command.ts'
import type { Word } from './command.ts'
import { type DryRun, sayTouched, withDryRun } from './dry-run.ts'
import { CommandFailure, EXIT } from './failures.ts'
import { printWhenStarted } from './lease-wait.ts'
import { printList, printOne, say } from './output.ts'
import { type KeepFlags, onServerWaiting, type Wait, withWait } from './wait-flags.ts'
import { printRows, type WatchFlags, withWatch } from './followed-list.ts'

const COLUMNS = ['id', 'name', 'status', 'start_date', 'end_date', 'degraded']

interface LeaseFlags extends Flags, DryRun, KeepFlags {
  name?: string
  startDate?: string
  endDate?: string
  for?: string
  beforeEndDate?: string
  prolongFor?: string
  reduceBy?: string
  reservation?: string[]
}

const INSTANCES = 'resource_type=virtual:instance,vcpus=2,memory_mb=1024,disk_gb=5,amount=3'

export function addCommands(program: Command, { name, help }: Word): void {
  const lease = program.command(name).description(help)
  withWait(
    withDryRun(
      withTerms(
        printingCommand(
          lease,
          'create <name>',
          'book capacity',
          `lease create week-7 --for 2d --reservation ${INSTANCES}`,
        ),
      ),
    ),
    'it has started',
  ).action(
    onServerWaiting(async (server, wait, name: string, flags: LeaseFlags) => createLease(server, wait, name, flags)),
  )
  withTerms(
    printingCommand(
      lease,
      'explain [name]',
      'say where a lease would go, or why it does not fit and when it would',
      `lease explain --for 2d --reservation ${INSTANCES}`,
    ),
  ).action(
    onServer(async ({ leases }, name: string | undefined, flags: LeaseFlags) =>
      printExplained(await leases.explain({ ...wantedIn(flags, systemClock.now()), name }), flags),
    ),
  )
  withWatch(printingCommand(lease, 'list', 'list leases', 'lease list', COLUMNS)).action(
    onServer(async (server, flags: WatchFlags) => {
      const rows = async () => ({ rows: await server.leases.list(), columns: COLUMNS })
      await printRows(server, { kinds: ['lease'], rows }, flags)
    }),
  )
  printingCommand(lease, 'show <lease>', 'show a lease', 'lease show week-7 -f yaml').action(
    onServer(async (server, ident: string, flags: Flags) => printOne(await server.leases.show(ident), flags)),
  )
  printingCommand(lease, 'update <lease>', 'change a lease', 'lease update week-7 --prolong-for 1h')
    .option('--name <name>', 'a new name')
    .option('--start-date <date>', 'UTC, as in "2030-01-01 10:00"')
    .option('--end-date <date>', 'likewise; now ends it')
    .option('--prolong-for <duration>', 'move the end so much later')
    .option('--reduce-by <duration>', 'move the end so much earlier')
    .option('--before-end-date <date>', 'when to be reminded of the end')
    .option('--reservation <id=ID,key=value,...>', 'what changes in a reservation; may be repeated', many)
    .action(
      onServer(async (server, ident: string, flags: LeaseFlags) => {
        const present = await server.leases.show(ident)
        printOne(await server.leases.update(present.id, changeIn(present, flags)), flags)
      }),
    )
  withDryRun(serverCommand(lease, 'delete <leases...>', 'end and delete leases', 'lease delete week-7')).action(
    onServer(async ({ leases }, idents: string[], { dryRun }: ServerFlags & DryRun) =>
      forEach(idents, async ident => {
        const { id } = await leases.show(ident)
        if (dryRun) return sayTouched(ident, await leases.explainDeletion(id))
        await leases.delete(id)
        say(`${ident} is gone`)
      }),
    ),
  )
}

const withTerms = (command: Command) =>
  command
    .option('--start-date <date>', 'UTC, as in "2030-01-01 10:00"', 'now')
    .option('--end-date <date>', 'likewise')
    .option('--for <duration>', 'how long, instead of the end')
    .option('--before-end-date <date>', 'when to be reminded of the end')
    .option('--reservation <key=value,...>', 'what is booked; may be repeated', many)

async function createLease(server: Holdfast, wait: Wait, name: string, flags: LeaseFlags): Promise<void> {
  const { leases } = server
  const wanted = { ...wantedIn(flags, systemClock.now()), name }
  if (!flags.dryRun && flags.wait) return printWhenStarted(server, wanted, wait, flags)
  if (!flags.dryRun) return printOne(await leases.create(wanted), flags)
  const explained = await leases.explain(wanted)
  printExplained(explained, flags)
  if (explained.fits) return
  const [next] = explained.windows
  const hint = next ? `it would from ${typed(next.start_date)} to ${typed(next.end_date)}` : null
  throw new CommandFailure(EXIT.conflict, `the lease would not fit; ${obstaclesIn(explained)}`, hint)
}

function obstaclesIn({ reasons }: LeaseExplained): string {
  if (reasons.length === 0) return 'there is nothing to be leased'
  return `hosts and nodes: ${reasons.map(({ reason, count }) => `${count} ${reason}`).join(', ')}`
}

function printExplained(explained: LeaseExplained, flags: Flags): void {
  if (flags.format === 'json' || flags.format === 'yaml') return printOne(explained, flags)
  const { fits, places, reasons, windows } = explained
  const isForPeople = flags.format === 'table'
  if (isForPeople) say(fits ? 'It would fit:' : 'It would not fit:')
  if (fits) {
    const rows = places.flatMap((place, reservation) =>
      Object.entries(place).map(([on, slots]) => ({ reservation, on, slots })),
    )
    return printList(rows, ['reservation', 'on', 'slots'], flags)
  }
  const rows = reasons.map(reason => ({
    ...reason,
    sample: reason.sample.map(({ host, detail }) => `${host}: ${detail}`),
  }))
  printList(rows, ['reservation', 'reason', 'count', 'sample'], flags)
  if (!isForPeople) return
  for (const { start_date, end_date } of windows) say(`It would fit from ${typed(start_date)} to ${typed(end_date)}.`)
}

function wantedIn(flags: LeaseFlags, now: number): Omit<NewLease, 'name'> {
  const { startDate = 'now', for: duration } = flags
  if ((flags.endDate === undefined) === (duration === undefined))
    throw new UsageError('say --end-date, or --for how long')
  if (!flags.reservation) throw new UsageError('say with --reservation what is to be booked')
  const end = flags.endDate ?? shownDate((startDate === 'now' ? now : timeOf(startDate)) + durationOf(duration!))
  return {
    start_date: startDate,
    end_date: end,
    reservations: flags.reservation.map(reservationIn),
    ...(flags.beforeEndDate !== undefined && { before_end_date: flags.beforeEndDate }),
  }
}

function changeIn(present: Lease, flags: LeaseFlags): LeaseChange {
  const { prolongFor, reduceBy, endDate } = flags
  const ends = [prolongFor, reduceBy, endDate].filter(one => one !== undefined)
  if (ends.length > 1) throw new UsageError('--end-date, --prolong-for and --reduce-by exclude each other')
  const by = prolongFor ? durationOf(prolongFor) : reduceBy ? -durationOf(reduceBy) : 0
  const change = given({
    name: flags.name,
    start_date: flags.startDate,
    end_date: by === 0 ? endDate : shownDate(timeOf(present.end_date) + by),
    before_end_date: flags.beforeEndDate,
    reservations: flags.reservation?.map(reservationIn),
  })
  if (Object.keys(change).length === 0) throw new UsageError('say what is to change; --help lists what can')
  return change
}

/** `key=value,key=value`; a comma separates only if another key follows, else it belongs to the value. */
function reservationIn(text: string): Document {
  const pairs = pairsIn(text.split(/,(?=[a-z_]+=)/), value => value)
  const { traits } = pairs
  if (traits === undefined) return pairs
  const read = jsonOrText(traits as string)
  return { ...pairs, traits: Array.isArray(read) ? read : (traits as string).split(/[,+]/) }
}

function timeOf(date: string): number {
  const ms = Date.parse(`${date.trim().replace(' ', 'T').replace(/Z$/, '')}Z`)
  if (Number.isNaN(ms)) throw new UsageError(`'${date}' is no date such as "2030-01-01 10:00"`)
  return ms
}

/** A date from the server in the form that users type. */
const typed = (date: string) => date.slice(0, 16).replace('T', ' ')

/** The server counts in whole minutes. */
const shownDate = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
