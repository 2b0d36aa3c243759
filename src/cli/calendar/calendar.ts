// holdfast calendar: who has what when, drawn in the terminal. Its subcommands are about calendars to subscribe to.
import { styleText } from 'node:util'
import { type Command, Option } from 'commander'
import type { Holdfast } from '../../client/index.ts'
import { type Around, instantIn } from '../../shared/when.ts'
import { UsageError } from '../../shared/usage-error.ts'
import { durationOf, type Flags, onServer, printingCommand } from '../client-command.ts'
import type { Word } from '../command.ts'
import { hereAndNow } from '../local-time.ts'
import { printList, say, visible } from '../output.ts'
import { askedIn, requirePeople, withFilters } from '../status/status.ts'
import type { Asked } from '../status/words.ts'
import { screenOf } from '../table.ts'
import { type Terminal, terminal } from '../terminal.ts'
import { type Chart, drawn, legendOf, type Piece } from './drawing.ts'
import { chartRowsOf, sentenceOf, spanRowsOf } from './spans.ts'
import { addSubscriptions } from './subscriptions.ts'

const COLUMNS = ['machine', 'kind', 'name', 'who', 'project', 'start', 'end']
const DAY_MS = 24 * 3_600_000
/** A pipe has no width. */
const PIPE_WIDTH = 80

type CalendarFlags = Flags & Asked & { from?: string; for: number; ascii?: boolean }

export function addCommands(program: Command, { name, help }: Word): void {
  const calendar = printingCommand(program, name, help, 'calendar --class gpu --for 2w', COLUMNS)
  withFilters(calendar)
    .option('--from <time>', 'from when: today, mon 9:00, 2030-01-31; today if it is not said')
    .addOption(
      new Option('--for <duration>', 'how much of it: 12h, 2d, 2w')
        .argParser(durationOf)
        .default(durationOf('1w'), '1w'),
    )
    .option('--ascii', 'draw with plain characters; so it is too where the locale is not UTF-8')
    // Otherwise `calendar create --project` would be the project of the drawing.
    .enablePositionalOptions()
    .action(onServer(async (server, flags: CalendarFlags) => draw(server, flags)))
  addSubscriptions(calendar)
}

async function draw(server: Holdfast, flags: CalendarFlags): Promise<void> {
  const around = hereAndNow()
  const { from, to } = windowIn(flags, around)
  const { mine, ...where } = askedIn(flags)
  await requirePeople(server, where)
  const iso = (at: number) => new Date(at).toISOString()
  const status = await server.status({ spans: { from: iso(from), to: iso(to) }, mine, where })
  if (flags.format !== 'table' || flags.column) return printList(spanRowsOf(status), COLUMNS, flags)
  const rows = chartRowsOf(status, from).map(({ name, bars, ...row }) => ({
    ...row,
    name: visible(name),
    bars: bars.map(bar => ({ ...bar, label: visible(bar.label) })),
  }))
  if (rows.length === 0) return say('There is no machine to draw, or none that you may see.')
  const here = terminal()
  const { width } = screenOf(here.stdout)
  const chart: Chart = {
    rows,
    from,
    to,
    now: around.now,
    zone: around.zone,
    width: width === Infinity ? PIPE_WIDTH : width,
    isAscii: flags.ascii === true || !isUtf8(here),
  }
  say(sentenceOf(rows, chart))
  for (const line of [...drawn(chart), ...legendOf(chart)]) print(line)
}

function windowIn({ from: said, for: span }: CalendarFlags, around: Around) {
  const from = said === undefined ? beginningOf(around, span) : instantIn(said, around)
  if (from === null) throw new UsageError(`'${said}' is no time such as today, mon 9:00 or 2030-01-31`)
  return { from, to: from + span }
}

/** A long calendar begins with the day, a short one with the hour. */
function beginningOf({ now, zone }: Around, span: number): number {
  const here = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone)
  const smallestUnit = span > 2 * DAY_MS ? 'day' : 'hour'
  return here.round({ smallestUnit, roundingMode: 'floor' }).epochMilliseconds
}

/** As programs in C find out: the first of these that is set. */
function isUtf8({ env }: Terminal): boolean {
  return /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '')
}

const COLOURS = {
  taken: 'blue',
  held: 'yellow',
  booked: 'magenta',
  maintenance: 'dim',
  setup: 'dim',
  retired: 'dim',
  broken: 'red',
  now: 'bold',
  grid: 'dim',
  axis: null,
  heading: 'bold',
} as const

function print(pieces: readonly Piece[]): void {
  const { stdout } = terminal()
  const { hasColour } = screenOf(stdout)
  const painted = withoutTail(pieces).map(({ text, look }) => {
    const colour = look === null ? null : COLOURS[look]
    return hasColour && colour ? styleText(colour, text, { validateStream: false }) : text
  })
  stdout.write(`${painted.join('')}\n`)
}

/** Without the spaces at the end of the line. */
function withoutTail(pieces: readonly Piece[]): Piece[] {
  const last = pieces.findLastIndex(({ text }) => text.trimEnd() !== '')
  return pieces.slice(0, last + 1).map((piece, at) => (at === last ? { ...piece, text: piece.text.trimEnd() } : piece))
}
