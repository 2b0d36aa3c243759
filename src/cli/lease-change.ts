// holdfast lease update, extend, move: changes what is booked, or says what a change would come to.
import type { Command } from 'commander'
import type { Holdfast, Lease, LeaseChange } from '../client/index.ts'
import { UsageError } from '../shared/usage-error.ts'
import { durationOf, type Flags, given, many, onServer, printingCommand } from './client-command.ts'
import { type DryRun, withDryRun } from './dry-run.ts'
import { dateText, reservationIn, timeOf } from './lease-terms.ts'
import { doesNotFit, inWords, isForPeople, minuteShown, sheetFor, whatIn } from './lease-words.ts'
import { END_FORMS, instantSaid } from './local-time.ts'
import { printOne, say } from './output.ts'

interface UpdateFlags extends Flags {
  name?: string
  startDate?: string
  endDate?: string
  beforeEndDate?: string
  prolongFor?: string
  reduceBy?: string
  reservation?: string[]
}

interface MoveFlags extends Flags, DryRun {
  start?: string
  until?: string
}

export function addChangeCommands(lease: Command): void {
  withDryRun(
    printingCommand(
      lease,
      'extend <lease> [duration]',
      'keep it longer: by so much, or until',
      'lease extend week-7 1d',
    ),
  )
    .option('--until <time>', `its new end, instead: ${END_FORMS}`)
    .action(
      onServer(async (server, ident: string, duration: string | undefined, flags: MoveFlags) =>
        extend(server, ident, duration, flags),
      ),
    )
  withDryRun(
    printingCommand(
      lease,
      'move <lease>',
      'book another time for it, as long as before',
      "lease move week-7 --start 'tue 9:00' --dry-run",
    ),
  )
    .requiredOption('--start <time>', `its new start: ${END_FORMS}`)
    .action(onServer(async (server, ident: string, flags: MoveFlags) => move(server, ident, flags)))
  printingCommand(lease, 'update <lease>', 'change a lease', 'lease update week-7 --prolong-for 1h')
    .option('--name <name>', 'a new name')
    .option('--start-date <date>', 'UTC, as in "2030-01-01 10:00"')
    .option('--end-date <date>', 'likewise; now ends it')
    .option('--prolong-for <duration>', 'move the end so much later')
    .option('--reduce-by <duration>', 'move the end so much earlier')
    .option('--before-end-date <date>', 'when to be reminded of the end')
    .option('--reservation <id=ID,key=value,...>', 'what changes in a reservation; may be repeated', many)
    .action(
      onServer(async (server, ident: string, flags: UpdateFlags) => {
        const present = await server.leases.show(ident)
        const change = changeIn(present, flags)
        const asked = { reservations: present.reservations, end: timeOf(present.end_date) }
        const after = await inWords(asked, () => server.leases.update(present.id, change))
        printOne(isForPeople(flags) ? sheetFor(after) : after, flags)
      }),
    )
}

async function extend(server: Holdfast, ident: string, duration: string | undefined, flags: MoveFlags): Promise<void> {
  if ((duration === undefined) === (flags.until === undefined))
    throw new UsageError('say by how much, such as 1d, or --until when')
  const present = await server.leases.show(ident)
  const end = timeOf(present.end_date)
  const until = duration === undefined ? instantSaid(flags.until!, { word: 'until' }) : end + durationOf(duration)
  if (until <= end) throw new UsageError(`${present.name} lasts until ${minuteShown(end)} already`)
  await change(server, present, { end_date: dateText(until) }, flags)
}

async function move(server: Holdfast, ident: string, flags: MoveFlags): Promise<void> {
  const present = await server.leases.show(ident)
  const start = instantSaid(flags.start!, { word: 'from' })
  const length = timeOf(present.end_date) - timeOf(present.start_date)
  await change(server, present, { start_date: dateText(start), end_date: dateText(start + length) }, flags)
}

/** A dry run is refused as the real change is, with the same words. */
async function change(server: Holdfast, present: Lease, wanted: LeaseChange, flags: MoveFlags): Promise<void> {
  const isMove = wanted.start_date !== undefined
  const asked = { reservations: present.reservations, ...(!isMove && { end: timeOf(present.end_date) }) }
  const { name } = present
  if (flags.dryRun) {
    const explained = await server.leases.explainChange(present.id, wanted)
    if (!isForPeople(flags)) printOne(explained, flags)
    if (!explained.fits) throw doesNotFit(explained, asked)
    const places = explained.places.flatMap(place => Object.keys(place)).filter(place => !place.startsWith('#'))
    const on = places.length === 0 ? '' : ` on ${[...new Set(places)].join(', ')}`
    if (isForPeople(flags)) say(`${name} would be from ${spanOf({ ...present, ...given(wanted) })}${on}`)
    return
  }
  const after = await inWords(asked, () => server.leases.update(present.id, wanted))
  if (!isForPeople(flags)) return printOne(after, flags)
  say(`${name} is from ${spanOf(after)}, with ${whatIn(after)}`)
}

const spanOf = ({ start_date, end_date }: Pick<Lease, 'start_date' | 'end_date'>) =>
  `${minuteShown(timeOf(start_date))} to ${minuteShown(timeOf(end_date))}`

function changeIn(present: Lease, flags: UpdateFlags): LeaseChange {
  const { prolongFor, reduceBy, endDate } = flags
  const ends = [prolongFor, reduceBy, endDate].filter(one => one !== undefined)
  if (ends.length > 1) throw new UsageError('--end-date, --prolong-for and --reduce-by exclude each other')
  const by = prolongFor ? durationOf(prolongFor) : reduceBy ? -durationOf(reduceBy) : 0
  const change = given({
    name: flags.name,
    start_date: flags.startDate,
    end_date: by === 0 ? endDate : dateText(timeOf(present.end_date) + by),
    before_end_date: flags.beforeEndDate,
    reservations: flags.reservation?.map(reservationIn),
  })
  if (Object.keys(change).length === 0) throw new UsageError('say what is to change; --help lists what can')
  return change
}
