// holdfast status: who has what, until when, who waits, and what comes.
import { type Command, Option } from 'commander'
import type { Holdfast, Machine, Status } from '../../client/index.ts'
import { hereAndNow } from '../local-time.ts'
import { onServer, printingCommand } from '../client-command.ts'
import type { Word } from '../command.ts'
import { printRows, type WatchFlags } from '../followed-list.ts'
import { soughtId } from '../names.ts'
import { printList, printOne } from '../output.ts'
import { screenOf } from '../table.ts'
import { terminal } from '../terminal.ts'
import { pictureOf } from './picture.ts'
import { redraw } from './redraw.ts'
import { type Asked, inOrder, MACHINE_COLUMNS, machineCells, STATES } from './words.ts'

/** For programs: as the server says it. */
const RAW_COLUMNS = ['name', 'class', 'state', 'who', 'project', 'what', 'since', 'until', 'next', 'note']
/** What may change who has what. */
const KINDS = ['node', 'allocation', 'hold', 'lease', 'server']

type StatusFlags = WatchFlags & Asked

export function addCommands(program: Command, { name, help }: Word): void {
  withFilters(printingCommand(program, name, help, 'status --class gpu --watch', MACHINE_COLUMNS))
    .addOption(new Option('--state <state>', 'in this state').choices(STATES))
    .option('-w, --watch', 'go on, and show what has changed, until Ctrl-C')
    .action(onServer(async (server, flags: StatusFlags) => show(server, flags)))
}

/** Which machines: for the status and for the calendar. */
export const withFilters = (command: Command): Command =>
  command
    .option('--mine', 'only what you have, hold and wait for')
    .option('--class <resource-class>', 'of this class')
    .option('--trait <trait>', 'with this trait')
    .option('--rack <rack>', 'in this rack')
    .option('--project <project>', 'that this project owns, leases or has')
    .option('--who <user>', 'that this user has')

export const askedIn = ({ mine, class: of, trait, rack, project, who, state }: Asked): Asked => ({
  ...(mine && { mine }),
  ...(of !== undefined && { class: of }),
  ...(trait !== undefined && { trait }),
  ...(rack !== undefined && { rack }),
  ...(project !== undefined && { project }),
  ...(who !== undefined && { who }),
  ...(state !== undefined && { state }),
})

/** Refuses people who aren't there: an empty picture would say that they have nothing. */
export async function requirePeople(server: Holdfast, { project, who }: Asked): Promise<void> {
  await soughtId(server, 'project', project)
  await soughtId(server, 'user', who)
}

async function show(server: Holdfast, flags: StatusFlags): Promise<void> {
  const asked = askedIn(flags)
  await requirePeople(server, asked)
  const { mine, ...where } = asked
  const look = () => server.status({ mine, where })
  const { stdout } = terminal()
  const isPicture = flags.format === 'table' && flags.column === undefined
  if (isPicture && flags.watch && stdout.isTTY) {
    const draw = (status: Status, rows: number) => pictureOf(status, asked, hereAndNow(), screenOf(stdout), rows)
    return redraw(server, { kinds: KINDS, look, draw, clock: timeNow })
  }
  if (flags.watch) return printRows(server, { kinds: KINDS, rows: async () => rowsOf(await look(), flags) }, flags)
  const status = await look()
  if (isPicture) return void stdout.write(pictureOf(status, asked, hereAndNow(), screenOf(stdout)))
  if ((flags.format === 'json' || flags.format === 'yaml') && !flags.column) return printOne(documentOf(status), flags)
  const { rows, columns } = rowsOf(status, flags)
  printList(rows, columns, flags)
}

function rowsOf(status: Status, { format }: StatusFlags) {
  const machines = inOrder(status.machines)
  if (format !== 'table') return { rows: machines.map(machine => rawRow(machine, status)), columns: RAW_COLUMNS }
  const around = hereAndNow()
  return {
    rows: machines.map(machine => ({ uuid: machine.uuid, ...machineCells(machine, around) })),
    columns: MACHINE_COLUMNS,
  }
}

const rawRow = (machine: Machine, { traits }: Status) => ({
  ...machine,
  next: machine.next?.start ?? null,
  traits: machine.traits.map(at => traits[at]!),
})

/** With names of traits instead of their places. */
const documentOf = (status: Status) => ({
  ...status,
  machines: inOrder(status.machines).map(machine => ({
    ...machine,
    traits: machine.traits.map(at => status.traits[at]!),
  })),
})

function timeNow(): string {
  const { now, zone } = hereAndNow()
  return new Intl.DateTimeFormat('sv', { timeStyle: 'medium', timeZone: zone }).format(now)
}
