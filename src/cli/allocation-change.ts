// holdfast allocation renew, extend, note: what can be changed of an allocation.
import { inCommand } from '../shared/shell.ts'
import type { Command } from 'commander'
import { ApiError, type Holdfast } from '../client/index.ts'
import { UsageError } from '../shared/usage-error.ts'
import { durationOf, type Flags, onServer, printingCommand } from './client-command.ts'
import { type DryRun, withDryRun } from './dry-run.ts'
import { CommandFailure, EXIT } from './failures.ts'
import { END_FORMS, endFlag, instantSaid, localTime } from './local-time.ts'
import { printAllocation } from './allocation-sheet.ts'
import { printOne, say } from './output.ts'
import { inLocalTimes } from './wall-clock.ts'

type ExtendFlags = Flags & DryRun & { until?: string }

export function addChangeCommands(allocation: Command): void {
  withDryRun(
    printingCommand(
      allocation,
      'extend <allocation> [duration]',
      'keep the node longer: by so much, or until',
      'allocation extend job-17 2h',
    ),
  )
    .option('--until <time>', `its new end, instead: ${END_FORMS}`)
    .action(
      onServer(async (server, ident: string, duration: string | undefined, flags: ExtendFlags) =>
        extend(server, ident, duration, flags),
      ),
    )
  printingCommand(
    allocation,
    'renew <allocation>',
    'keep the node longer, or shorter',
    'allocation renew job-17 --expires-at 2h',
  )
    .requiredOption('--expires-at <time>', `until when, or how long from now: ${END_FORMS}`, endFlag('until'))
    .action(
      onServer(async (server, ident: string, flags: Flags & { expiresAt: string }) =>
        printAllocation(await server.allocations.renew(ident, flags.expiresAt), flags),
      ),
    )
  printingCommand(
    allocation,
    'note <allocation> [text]',
    'write what others should know about it',
    "allocation note job-17 'until the paper is out'",
  )
    .option('--clear', 'take the note away')
    .action(
      onServer(async ({ allocations }, ident: string, text: string | undefined, flags: Flags & { clear?: boolean }) => {
        if ((text === undefined) === !flags.clear) throw new UsageError('say what to note, or --clear')
        const after = await allocations.note(ident, text ?? null)
        if (flags.format !== 'table' || flags.column) return printOne(after, flags)
        say(`${after.name ?? after.uuid}: ${after.note ?? 'no note'}`)
      }),
    )
}

/** A dry run is refused as the real one is, with the same words. */
async function extend(server: Holdfast, ident: string, duration: string | undefined, flags: ExtendFlags) {
  if ((duration === undefined) === (flags.until === undefined))
    throw new UsageError('say by how much, such as 2h, or --until when')
  const { allocations } = server
  const present = await allocations.show(ident)
  const { expires_at, keeper, uuid } = present
  const name = present.name ?? uuid
  if (keeper !== null) {
    const help = 'the command decides how long: holdfast run --for'
    throw new CommandFailure(EXIT.conflict, `${name} is kept by ${keeper} while a command runs`, help)
  }
  if (expires_at === null)
    throw new CommandFailure(EXIT.conflict, `${name} has no end of its own`, await endOf(server, uuid))
  const end = Date.parse(expires_at)
  const until = duration === undefined ? instantSaid(flags.until!, { word: 'until' }) : end + durationOf(duration)
  if (until <= end) throw new UsageError(`${name} lasts until ${localTime(end)} already`)
  const at = new Date(until).toISOString()
  try {
    const after = flags.dryRun ? await allocations.explainRenewal(uuid, at) : await allocations.renew(uuid, at)
    if (flags.format !== 'table' || flags.column) return printOne(after, flags)
    say(`${name} ${flags.dryRun ? 'would last' : 'lasts'} until ${localTime(after.expires_at!)}`)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error
    throw new CommandFailure(EXIT.conflict, inLocalTimes(error.message))
  }
}

/** What a lease gave ends with it. */
async function endOf({ leases }: Holdfast, uuid: string): Promise<string | null> {
  const found = (await leases.list().catch(() => [])).find(({ reservations }) =>
    reservations.some(one =>
      ((one['nodes'] ?? []) as { allocation: string | null }[]).some(n => n.allocation === uuid),
    ),
  )
  return found ? `it ends with its lease: holdfast lease extend ${inCommand(found.name, found.id)}` : null
}
