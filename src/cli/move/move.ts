// holdfast move: what a running cloud has, from one service into another.
import type { Command } from 'commander'
import { plainClock } from '../../clock/plain.ts'
import { countOf, printingCommand } from '../client-command.ts'
import type { Word } from '../command.ts'
import { CommandFailure, EXIT } from '../failures.ts'
import { type OutputFlags, printList, say, visible } from '../output.ts'
import { Progress } from '../progress.ts'
import { serverFlagsOf } from '../server-flags.ts'
import { terminal } from '../terminal.ts'
import type { Compared } from './compare.ts'
import type { Copied } from './copy.ts'
import { KINDS, type Thing } from './differences.ts'
import type { Pair } from './pair.ts'
import type { LeaseMove } from './leases.ts'
import { openSide, openSides, type SideFlags, withSides } from './sides.ts'

interface MoveFlags extends SideFlags, OutputFlags {
  compare?: boolean
  delete?: boolean
  quick?: boolean
  show: string
}

/** How many of each kind are shown. */
const SHOWN = '10'

const DIFFERENCE_COLUMNS = ['kind', 'name', 'field', 'from', 'to']
const REFUSAL_COLUMNS = ['kind', 'id', 'reason']

export function addCommands(program: Command, { name, help }: Word): void {
  const move = program.command(name).description(help)
  const placement = printingCommand(
    move,
    'placement',
    'copy what one Placement has into another: classes, traits, providers and claims; run again, it copies the rest',
    'move placement --from http://placement:8778 --to http://holdfast:8780/placement --compare',
    DIFFERENCE_COLUMNS,
  )
  withSides(placement, 'Placement')
    .option('--compare', 'only say what differs; what moves meanwhile is read twice')
    .option('--delete', 'also remove consumers and providers that only the target has')
    .option('--quick', 'take consumers with the same amounts on both sides for the same: their owners are not read')
    .option('--show <count>', 'of each kind, how many are shown', SHOWN)
    .action(async (flags: MoveFlags, command: Command) => movePlacement({ ...flags, ...serverFlagsOf(command) }))
  addLeases(move)
}

interface LeaseFlags extends SideFlags, OutputFlags {
  compare?: boolean
  take?: boolean
  commands?: boolean
}

const LEASE_COLUMNS = ['kind', 'name', 'is', 'reason']

function addLeases(move: Command): void {
  const leases = printingCommand(
    move,
    'leases',
    'move hosts and the leases that have not started from one reservation service into another',
    'move leases --from http://blazar:1234/v1 --to http://holdfast:8780/reservation/v1 --compare',
    LEASE_COLUMNS,
  )
  withSides(leases, 'reservation service')
    .option('--compare', 'only say what would be moved')
    .option('--take', 'delete each lease at the source once the target has it; its reservations get new ids')
    .option('--commands', 'print the commands of the openstack client that make them again, and change nothing')
    .action(async (flags: LeaseFlags, command: Command) => moveLeases({ ...flags, ...serverFlagsOf(command) }))
}

async function moveLeases(flags: LeaseFlags): Promise<void> {
  const { LeaseMove, poolOf } = await import('./leases.ts')
  const now = plainClock.now()
  if (flags.commands) {
    const { commandsFor } = await import('./lease-terms.ts')
    const side = await openSide('from', 'reservation', flags)
    for (const line of commandsFor(await poolOf(side.api()), now)) terminal().stdout.write(`${visible(line)}\n`)
    return
  }
  const [progress, compares] = [new Progress(), flags.compare === true]
  const move = new LeaseMove(await openSides('reservation', flags), {
    compares,
    takes: flags.take === true,
    now,
    show: kind => progress.show(`${compares ? 'comparing' : 'moving'} ${kind}s`, plainClock.now() - now),
  })
  await move.run().finally(() => progress.clear())
  tellLeases(move, flags)
}

function tellLeases({ rows, lastEnd }: LeaseMove, flags: OutputFlags): void {
  if (rows.length > 0 || flags.format !== 'table') printList(rows, LEASE_COLUMNS, flags)
  const count = (...what: readonly string[]) => rows.filter(({ is }) => what.includes(is)).length
  if (flags.format === 'table') {
    say(`${count('created')} created, ${count('changed')} changed, ${count('same')} the same, ${count('over')} over`)
    if (lastEnd !== null) say(`leases run at the source until ${lastEnd} UTC: it must go on until then`)
  }
  const open = count('absent', 'different')
  if (count('refused') > 0) throw new CommandFailure(EXIT.conflict, `${count('refused')} refused`)
  if (open > 0) throw new CommandFailure(EXIT.failed, `${open} to move`)
}

async function movePlacement(flags: MoveFlags): Promise<void> {
  const [shownMax, quick] = [countOf(flags.show), flags.quick === true]
  const { pairOf } = await import('./pair.ts')
  const pair = await pairOf(await openSides('placement', flags))
  const progress = new Progress()
  const startedAt = plainClock.now()
  const show = (verb: string) => (kind: string, count: number) =>
    progress.show(
      // The count is of use only in a line that changes.
      `${verb} ${PLURALS[kind as Thing['kind']]}${terminal().stderr.isTTY ? `: ${count}` : ''}`,
      plainClock.now() - startedAt,
      `${verb} ${kind}`,
    )
  if (flags.compare) {
    const { comparePlacements } = await import('./compare.ts')
    const compared = await comparePlacements(pair, { shownMax, quick, show: show('comparing') }).finally(() =>
      progress.clear(),
    )
    return tellCompared(pair, compared, flags)
  }
  const { Copy } = await import('./copy.ts')
  const copy = new Copy(pair, { deletes: flags.delete === true, quick, show: show('copying') })
  try {
    await copy.run()
  } catch (error) {
    progress.clear()
    tellCounts(copy.outcome)
    throw error
  }
  progress.clear()
  tellCopied(copy.outcome, shownMax, flags)
}

const PLURALS: Record<Thing['kind'], string> = {
  class: 'classes',
  trait: 'traits',
  provider: 'providers',
  consumer: 'consumers',
}

const counted = (count: number, kind: Thing['kind']) => `${count} ${count === 1 ? kind : PLURALS[kind]}`

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((total, one) => total + one, 0)

function tellCounts({ counts, leftOut }: Copied): void {
  for (const kind of KINDS) {
    const { same, created, changed, removed } = counts[kind]
    if (same + created + changed + removed === 0) continue
    const gone = removed > 0 ? `, ${removed} removed` : ''
    say(`${PLURALS[kind]}: ${created} created, ${changed} changed, ${same} as they were${gone}`)
  }
  if (leftOut > 0) say(leftOutWords(leftOut))
}

const leftOutWords = (count: number) =>
  `left out: ${counted(count, 'provider')} that Holdfast keeps by itself (its nodes, and the children of its hosts for leases)`

function tellCopied(copied: Copied, shownMax: number, flags: OutputFlags): void {
  const { refused, extra } = copied
  if (flags.format === 'table') tellCounts(copied)
  const rows = [
    ...refused.values(),
    ...extra.map(thing => ({ ...thing, reason: 'only the target has it; --delete removes it' })),
  ]
  const shown = KINDS.flatMap(kind => rows.filter(row => row.kind === kind).slice(0, shownMax))
  if (rows.length > 0 || flags.format !== 'table') printList(shown, REFUSAL_COLUMNS, flags)
  if (refused.size > 0) {
    const hint = 'run it again when the reasons are gone; what is copied stays'
    throw new CommandFailure(EXIT.conflict, `${refused.size} refused by the target`, hint)
  }
  if (extra.length > 0) throw new CommandFailure(EXIT.failed, `${extra.length} only at the target`)
}

function tellCompared(pair: Pair, { counts, differing, shown, moved, leftOut }: Compared, flags: OutputFlags): void {
  if (shown.length > 0 || flags.format !== 'table')
    printList(
      shown.map(one => ({ ...one })),
      DIFFERENCE_COLUMNS,
      flags,
    )
  if (flags.format === 'table') {
    say(`compared: ${counted(counts.provider, 'provider')}, ${counted(counts.consumer, 'consumer')}`)
    say('generations are not compared: each side counts its own')
    if (leftOut > 0) say(leftOutWords(leftOut))
    if (!pair.hasTypes) say('the types of consumers are not compared: one side is older than 1.38')
    if (moved > 0) say(`moved while they were read, and not counted: ${moved}`)
  }
  if (sum(differing) === 0) {
    if (flags.format === 'table') say('no differences')
    return
  }
  const kinds = KINDS.filter(kind => differing[kind] > 0).map(kind => counted(differing[kind], kind))
  throw new CommandFailure(EXIT.failed, `different: ${kinds.join(', ')}`)
}
