// holdfast lease: capacity booked for a period of time.
import type { Command } from 'commander'
import { systemClock } from '../clock/clock.ts'
import type { Holdfast, LeaseExplained, NewLease } from '../client/index.ts'
import { type Flags, forEach, onServer, printingCommand, type ServerFlags, serverCommand } from './client-command.ts'
import type { Word } from './command.ts'
import { type DryRun, sayTouched, withDryRun } from './dry-run.ts'
import { addChangeCommands } from './lease-change.ts'
import { createNext, startingAt } from './lease-next.ts'
import { type TermFlags, wantedIn, withTerms } from './lease-terms.ts'
import { printWhenStarted } from './lease-wait.ts'
import { COLUMNS, doesNotFit, inWords, isForPeople, rowOf, sheetFor, windowIn } from './lease-words.ts'
import { printList, printOne, say } from './output.ts'
import { type KeepFlags, onServerWaiting, type Wait, withWait } from './wait-flags.ts'
import type { Folds } from './table.ts'
import { printRows, type WatchFlags, withWatch } from './followed-list.ts'

interface LeaseFlags extends Flags, DryRun, KeepFlags, TermFlags {
  next?: boolean
}

/** Who has what, also on a narrow terminal. */
const FOLDS: Folds = { below: [['what'], ['who', 'what']] }
const TERMS = "--nodes gpu:3 --for 2d --start 'tue 9:00'"

export function addCommands(program: Command, { name, help }: Word): void {
  const lease = program.command(name).description(help)
  withWait(
    withDryRun(
      withTerms(printingCommand(lease, 'create <name>', 'book capacity', `lease create week-7 ${TERMS}`)).option(
        '--next',
        'if it does not fit then, book the first time at which it does',
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
      `lease explain ${TERMS}`,
    ),
  ).action(
    onServer(async ({ leases }, name: string | undefined, flags: LeaseFlags) =>
      printExplained(await leases.explain({ ...wantedIn(flags, systemClock.now()), name }), flags),
    ),
  )
  withWatch(printingCommand(lease, 'list', 'list leases', 'lease list', COLUMNS)).action(
    onServer(async (server, flags: WatchFlags) => {
      const isDocument = (flags.format === 'json' || flags.format === 'yaml') && !flags.column
      const rows = async () => {
        const found = await server.leases.list()
        const isWhole = isForPeople(flags) && !found.some(({ degraded }) => degraded)
        const columns = isWhole ? COLUMNS.filter(name => name !== 'degraded') : COLUMNS
        return { rows: isDocument ? found : found.map(rowOf), columns }
      }
      await printRows(server, { kinds: ['lease'], rows, folds: FOLDS }, flags)
    }),
  )
  printingCommand(lease, 'show <lease>', 'show a lease', 'lease show week-7 -f yaml').action(
    onServer(async (server, ident: string, flags: Flags) => {
      const found = await server.leases.show(ident)
      printOne(isForPeople(flags) ? sheetFor(found) : found, flags)
    }),
  )
  addChangeCommands(lease)
  withDryRun(serverCommand(lease, 'delete <leases...>', 'end and delete leases', 'lease delete week-7')).action(
    onServer(async (server, idents: string[], { dryRun }: ServerFlags & DryRun) =>
      forEach(idents, async ident => {
        const { id } = await server.leases.show(ident)
        if (dryRun) return sayTouched(server, ident, await server.leases.explainDeletion(id))
        await server.leases.delete(id)
        say(`${ident} is gone`)
      }),
    ),
  )
}

async function createLease(server: Holdfast, wait: Wait, name: string, flags: LeaseFlags): Promise<void> {
  const wanted: NewLease = { ...wantedIn(flags, systemClock.now()), name }
  if (flags.dryRun) return explainNew(server, wanted, flags)
  const asked = { reservations: wanted.reservations, next: '--next books that' }
  const make = (on: Holdfast, lease: NewLease) =>
    flags.next ? createNext(on, lease) : inWords(asked, () => on.leases.create(lease))
  if (flags.wait) return printWhenStarted(server, wanted, wait, flags, make)
  const made = await make(server, wanted)
  printOne(isForPeople(flags) ? sheetFor(made) : made, flags)
}

/** Fails as the real one does, with the same words. */
async function explainNew({ leases }: Holdfast, wanted: NewLease, flags: LeaseFlags): Promise<void> {
  const explained = await leases.explain(wanted)
  const [first] = explained.windows
  if (!explained.fits && flags.next && first) {
    if (isForPeople(flags)) say(`It would be booked from ${windowIn({ ...first, last_start_date: first.start_date })}.`)
    return printExplained(await leases.explain(startingAt(wanted, first)), flags)
  }
  if (explained.fits || !isForPeople(flags)) printExplained(explained, flags)
  if (!explained.fits) {
    throw doesNotFit(explained, { reservations: wanted.reservations, next: '--next books that' })
  }
}

function printExplained(explained: LeaseExplained, flags: Flags): void {
  if (flags.format === 'json' || flags.format === 'yaml') return printOne(explained, flags)
  const { fits, places, reasons, windows, most } = explained
  const isForTable = flags.format === 'table'
  if (isForTable) say(fits ? 'It would fit:' : 'It would not fit:')
  if (fits) {
    const rows = places.flatMap((place, reservation) =>
      Object.entries(place).map(([on, slots]) => ({ reservation, on, slots })),
    )
    return printList(rows, ['reservation', 'on', 'slots'], flags)
  }
  const rows = reasons.map(reason => ({
    ...reason,
    sample: reason.sample.map(({ name, detail }) => `${name}: ${detail}`),
  }))
  printList(rows, ['reservation', 'reason', 'count', 'sample'], flags)
  if (!isForTable) return
  for (const { count, of } of most) if (count < of) say(`${count} of ${of} are free then.`)
  for (const window of windows) say(`It would fit from ${windowIn(window)}.`)
}
