// holdfast user create, show, set, delete, grant, revoke, password: the users of a server that keeps them itself.
import { quoted } from '../../shared/shell.ts'
import { type Command, Option } from 'commander'
import { ApiError, type Grant, type Holdfast, type User } from '../../client/index.ts'
import { type Role, ROLES } from '../../identity/roles.ts'
import { UsageError } from '../../shared/usage-error.ts'
import {
  type Flags,
  forEach,
  given,
  onServer,
  printingCommand,
  type ServerFlags,
  serverCommand,
} from '../client-command.ts'
import { CommandFailure, EXIT, verdictOn } from '../failures.ts'
import { idOf } from '../names.ts'
import { printList, printOne, say, tell } from '../output.ts'
import { newPassword, passwordChange, type PasswordFlags, withPassword } from './new-password.ts'

/** The columns of a list of users. */
export const PEOPLE = ['name', 'roles', 'enabled', 'id']

type CreateFlags = Flags & PasswordFlags & { project?: string; role: Role[] }
type SetFlags = Flags & PasswordFlags & { name?: string; newPassword?: true; enable?: true; disable?: true }
type RoleFlags = ServerFlags & { role: Role[] }

const roleOption = () => new Option('--role <roles...>', 'what the user may do there').choices(ROLES)

export function addPeopleCommands(user: Command): void {
  withPassword(
    printingCommand(user, 'create <name>', 'make a user of the server', 'user create ada --project lab --role member'),
  )
    .option('--project <project>', 'a project that the user works in')
    .addOption(roleOption().default(['member']))
    .action(onServer(async (server, name: string, flags: CreateFlags) => createUser(server, name, flags)))
  printingCommand(user, 'show <user>', 'show a user of the server, with the roles', 'user show ada').action(
    onServer(async (server, ident: string, flags: Flags) => showUser(server, await idOf(server, 'user', ident), flags)),
  )
  withPassword(printingCommand(user, 'set <user>', 'change a user of the server', 'user set ada --name ada-lovelace'))
    .option('--name <name>', 'a new name; tokens of the old one end')
    .option('--new-password', 'a new password, which is asked for; tokens of the old one end')
    .addOption(new Option('--disable', 'let the user in no more').conflicts('enable'))
    .option('--enable', 'let the user in again')
    .action(onServer(async (server, ident: string, flags: SetFlags) => changeUser(server, ident, flags)))
  serverCommand(
    user,
    'delete <users...>',
    'delete users of the server; what they made stays with its project',
    'user delete ada',
  ).action(
    onServer(async (server, idents: string[], _flags: ServerFlags) =>
      forEach(idents, async ident => {
        await server.users.delete(await idOf(server, 'user', ident))
        say(`${ident} is gone`)
      }),
    ),
  )
  addRoleCommands(user)
  serverCommand(user, 'password', 'change your own password; your tokens end', 'user password').action(
    onServer(async (server, _flags: ServerFlags) => {
      if (server.user === null) throw new UsageError('log in with a name and a password to change that password')
      const { original, password } = await passwordChange()
      try {
        await server.users.changePassword(server.user, original, password)
      } catch (error) {
        const isWrong = error instanceof ApiError && error.status === 401
        throw isWrong ? new CommandFailure(EXIT.notAllowed, 'that is not your present password') : error
      }
      say('you have a new password; whoever used the old one logs in again')
    }),
  )
}

function addRoleCommands(user: Command): void {
  const change = (verb: 'grant' | 'revoke', help: string, becomes: string) =>
    serverCommand(user, `${verb} <user> <project>`, help, `user ${verb} ada lab --role member`)
      .addOption(roleOption().default(['member']))
      .action(
        onServer(async (server, ident: string, where: string, { role: roles }: RoleFlags) => {
          const [id, project] = [await idOf(server, 'user', ident), await idOf(server, 'project', where)]
          for (const role of roles) await server.users[verb]({ user: id, project, role })
          say(`${ident} ${becomes} ${roles.join(', ')} in ${where}`)
        }),
      )
  change('grant', 'give a user roles in a project', 'is')
  change('revoke', "take a user's roles in a project away", 'is no longer')
}

async function createUser(server: Holdfast, name: string, flags: CreateFlags): Promise<void> {
  const project = await idOf(server, 'project', flags.project)
  const { id } = await server.users.create({ name, password: await newPassword(flags) })
  if (project !== undefined) {
    for (const role of flags.role) await grantNew(server, { user: id, project, role }, name, flags)
  }
  await showUser(server, id, flags)
  if (project === undefined) tell(`${name} has no role yet; give one with holdfast user grant ${quoted(name)} PROJECT`)
}

/** The user is there already, so whoever tries again has to know how to go on. */
async function grantNew(
  { users }: Holdfast,
  grant: { user: string; project: string; role: string },
  name: string,
  { project, role }: CreateFlags,
): Promise<void> {
  try {
    await users.grant(grant)
  } catch (error) {
    const { exitCode, message } = verdictOn(error) ?? { exitCode: EXIT.failed, message: (error as Error).message }
    const next = `holdfast user grant ${quoted(name)} ${quoted(project ?? 'PROJECT')} --role ${role.join(' ')}`
    throw new CommandFailure(exitCode, `${name} is there, but has no role yet: ${message}`, `go on with ${next}`)
  }
}

async function changeUser(server: Holdfast, ident: string, flags: SetFlags): Promise<void> {
  const { name, enable, disable } = flags
  const hasPassword = flags.newPassword || flags.password !== undefined || flags.passwordStdin
  const password = hasPassword ? await newPassword(flags) : undefined
  const change = given({ name, password, enabled: enable ? true : disable ? false : undefined })
  if (Object.keys(change).length === 0) throw new UsageError('say what is to change; --help lists what can')
  const id = await idOf(server, 'user', ident)
  await server.users.change(id, change)
  await showUser(server, id, flags)
}

async function showUser(server: Holdfast, id: string, flags: Flags): Promise<void> {
  printOne(rowOf(await server.users.show(id), await server.users.grants(id)), flags)
}

/** Of the server that the flags name. */
export async function listPeople(server: Holdfast, flags: Flags): Promise<void> {
  const [users, grants] = [await server.users.list(), await server.users.grants()]
  const byUser = Map.groupBy(grants, ({ user }) => user.id)
  printList(
    users.map(user => rowOf(user, byUser.get(user.id) ?? [])),
    PEOPLE,
    flags,
  )
}

/** `lab: admin, member; office: reader` */
function rowOf({ id, name, enabled }: User, grants: readonly Grant[]) {
  const byProject = Map.groupBy(grants, ({ project }) => project.name)
  const roles = [...byProject].map(([project, some]) => `${project}: ${some.map(({ role }) => role.name).join(', ')}`)
  return { name, id, enabled, roles: roles.join('; ') }
}
