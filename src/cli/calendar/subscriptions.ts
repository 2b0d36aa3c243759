// holdfast calendar create, list and delete: calendars to subscribe to, of what ends.
import { type Command, Option } from 'commander'
import type { CalendarOf, Holdfast, NewCalendar } from '../../client/index.ts'
import { UsageError } from '../../shared/usage-error.ts'
import { type Flags, forEach, onServer, printingCommand, type ServerFlags, serverCommand } from '../client-command.ts'
import { idOf, namesIn } from '../names.ts'
import { printList, printOne, type Row, say } from '../output.ts'
import { terminal } from '../terminal.ts'

const COLUMNS = ['id', 'of', 'user', 'created_at', 'last_read_at']

interface CalendarFlags extends Flags {
  user?: string
  /** true for the project that is logged in. */
  project?: string | true
  node?: string
}

export function addSubscriptions(calendar: Command): void {
  printingCommand(
    calendar,
    'create',
    'make a calendar and print its secret URL, once; without an option, your own',
    'calendar create --node n1',
  )
    .addOption(new Option('--user <user>', "a user's leases and allocations").conflicts(['project', 'node']))
    .addOption(new Option('--project [project]', "a project's; yours if none is named").conflicts('node'))
    .option('--node <node>', "a node's")
    .action(
      onServer(async (server, flags: CalendarFlags) =>
        printMade(await server.calendars.create(await ofIn(server, flags)), flags),
      ),
    )
  printingCommand(calendar, 'list', 'list calendars', 'calendar list', COLUMNS).action(
    onServer(async (server, flags: Flags) => printList(await listed(server, flags), COLUMNS, flags)),
  )
  serverCommand(
    calendar,
    'delete <calendars...>',
    'delete calendars: their URLs open nothing any more',
    'calendar delete 5f9b0a2e-6f36-4b5e-9d0a-3a0f6a8f0c11',
  ).action(
    onServer(async ({ calendars }, ids: string[], _flags: ServerFlags) =>
      forEach(ids, async id => {
        await calendars.delete(id)
        say(`${id} is gone`)
      }),
    ),
  )
}

/** For people, whose they are by name. */
async function listed(server: Holdfast, flags: Flags): Promise<readonly Row[]> {
  const found = await server.calendars.list()
  if (flags.format !== 'table') return found
  const ids = found.flatMap(({ of, user }) => [...Object.values(of as Record<string, string>), user])
  const { users, projects } = await namesIn(server, ids)
  const shown = (of: CalendarOf): CalendarOf => {
    if ('user' in of) return { user: users.get(of.user) ?? of.user }
    return 'project' in of ? { project: projects.get(of.project) ?? of.project } : of
  }
  return found.map(one => ({ ...one, of: shown(one.of), user: users.get(one.user) ?? one.user }))
}

/** A table breaks long lines, and then the URL can't be copied. */
function printMade(made: NewCalendar, flags: Flags): void {
  if (flags.format !== 'table' || flags.column) return printOne(made, flags)
  const { url, ...calendar } = made
  printOne(calendar, flags)
  terminal().stdout.write(`${url}\n`)
}

async function ofIn(server: Holdfast, { user, project, node }: CalendarFlags): Promise<CalendarOf | undefined> {
  if (node !== undefined) return { node }
  if (user !== undefined) return { user: await idOf(server, 'user', user) }
  if (project === undefined) return undefined
  const meant = project === true ? server.project : await idOf(server, 'project', project)
  if (meant === null) throw new UsageError('say which project: nobody is logged in')
  return { project: meant }
}
