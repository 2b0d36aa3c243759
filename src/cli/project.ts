// holdfast project: the projects of a server that keeps them itself.
import { type Command, Option } from 'commander'
import { UsageError } from '../shared/usage-error.ts'
import {
  type Flags,
  forEach,
  given,
  onServer,
  printingCommand,
  type ServerFlags,
  serverCommand,
} from './client-command.ts'
import type { Word } from './command.ts'
import { idOf } from './names.ts'
import { printList, printOne, say } from './output.ts'
import { ApiError, type Holdfast, type Project } from '../client/index.ts'

const COLUMNS = ['name', 'description', 'enabled', 'id']

interface SetFlags extends Flags {
  name?: string
  description?: string
  enable?: true
  disable?: true
}

const shown = ({ name, description, enabled, id }: Project) => ({ name, description, enabled, id })

/** Nothing for those who may not know who has which role. */
async function peopleOf(server: Holdfast, id: string): Promise<{ users?: string }> {
  try {
    const people = (await server.users.grants()).filter(grant => grant.project.id === id)
    const users = [...Map.groupBy(people, ({ user }) => user.name)]
    return { users: users.map(([user, some]) => `${user}: ${some.map(({ role }) => role.name).join(', ')}`).join('; ') }
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return {}
    throw error
  }
}

export function addCommands(program: Command, { name, help }: Word): void {
  const project = program.command(name).description(help)
  printingCommand(project, 'list', 'list projects', 'project list', COLUMNS).action(
    onServer(async (server, flags: Flags) => printList((await server.projects.list()).map(shown), COLUMNS, flags)),
  )
  printingCommand(project, 'show <project>', 'show a project, and who is in it', 'project show lab').action(
    onServer(async (server, ident: string, flags: Flags) => {
      const id = await idOf(server, 'project', ident)
      const found = await server.projects.show(id)
      printOne({ ...shown(found), ...(await peopleOf(server, id)) }, flags)
    }),
  )
  printingCommand(project, 'create <name>', 'make a project', "project create lab --description 'our own machines'")
    .option('--description <text>', 'what it is for')
    .action(
      onServer(async (server, wanted: string, { description, ...flags }: SetFlags) =>
        printOne(shown(await server.projects.create({ name: wanted, description })), flags),
      ),
    )
  printingCommand(project, 'set <project>', 'change a project', 'project set lab --name vision-lab')
    .option('--name <name>', 'a new name; it keeps what it has, and its tokens end')
    .option('--description <text>', 'what it is for')
    .addOption(new Option('--disable', 'let nobody work in it').conflicts('enable'))
    .option('--enable', 'let its people work in it again')
    .action(
      onServer(async (server, ident: string, flags: SetFlags) => {
        const { name: renamed, description, enable, disable } = flags
        const enabled = enable ? true : disable ? false : undefined
        const change = given({ name: renamed, description, enabled })
        if (Object.keys(change).length === 0) throw new UsageError('say what is to change; --help lists what can')
        printOne(shown(await server.projects.change(await idOf(server, 'project', ident), change)), flags)
      }),
    )
  serverCommand(project, 'delete <projects...>', 'delete projects that have nothing', 'project delete lab').action(
    onServer(async (server, idents: string[], _flags: ServerFlags) =>
      forEach(idents, async ident => {
        await server.projects.delete(await idOf(server, 'project', ident))
        say(`${ident} is gone`)
      }),
    ),
  )
}
