// holdfast user add, passwd, list, sign-out, remove, clouds-yaml: the users file of this machine, with or without a
// server. What a server is asked for is in people.ts, and `user keys` in keys.ts.
import { type Command, Option } from 'commander'
import { stringify } from 'yaml'
import { systemClock } from '../../clock/clock.ts'
import { loadConfig } from '../../config/config.ts'
import { SETTINGS } from '../../config/settings.ts'
import { UsageError } from '../../shared/usage-error.ts'
import { REGION } from '../../identity/catalog-setting.ts'
import { FileDirectory } from '../../identity/directory.ts'
import { hashPassword } from '../../identity/passwords.ts'
import { type Role, ROLES } from '../../identity/roles.ts'
import { addUserTo } from '../../identity/user-edits.ts'
import { editUsersFile, NAME_PATTERN, readUsersFile, UsersFileError } from '../../identity/users-file.ts'
import { connectWith, type Flags as ServerListFlags, printingCommand, type ServerFlags } from '../client-command.ts'
import type { Word } from '../command.ts'
import { serverFlagsOf } from '../server-flags.ts'
import { withExample } from '../example.ts'
import { addKeyCommands } from './keys.ts'
import { givenPassword, newPassword, type PasswordFlags, withPassword } from './new-password.ts'
import { printList } from '../output.ts'
import { addPeopleCommands, listPeople, PEOPLE } from './people.ts'
import { terminal } from '../terminal.ts'

interface Flags extends PasswordFlags {
  users?: string
  config?: string
}
interface AddFlags extends Flags {
  project: string
  role: Role[]
}
interface CloudFlags extends Flags {
  url: string
  cloud: string
  project?: string
}

type ListFlags = ServerListFlags & Flags

export function addCommands(program: Command, { name, help }: Word): void {
  const user = program.command(name).description(help)
  subcommand(user, 'add <name>', 'adds a user, and the project if there is none of that name', true)
    .addOption(new Option('--project <name>', 'the project that the user works in').default('default'))
    .addOption(new Option('--role <names...>', 'what the user may do there').choices(ROLES).default(['member']))
    .action(told(addUser))
  subcommand(user, 'passwd <name>', 'sets a new password; tokens of the old one end', true).action(told(setPassword))
  addListCommand(user)
  addPeopleCommands(user)
  subcommand(user, 'sign-out <name>', 'ends all tokens of a user, wherever they are').action(told(signOut))
  subcommand(user, 'remove <name>', 'removes a user; their tokens end').action(told(removeUser))
  subcommand(user, 'clouds-yaml <name>', 'prints a clouds.yaml for the openstack command', true)
    .option('--url <url>', 'the address of Holdfast for this user', 'http://127.0.0.1:8780')
    .option('--cloud <name>', 'the name of the cloud', 'holdfast')
    .option('--project <name>', "another than the user's default project")
    .action(told(printClouds))
  addKeyCommands(user)
}

const EXAMPLES: Record<string, string> = {
  'add <name>': 'add ada --project vision --role member',
  'passwd <name>': 'passwd ada',
  'sign-out <name>': 'sign-out ada',
  'remove <name>': 'remove ada',
  'clouds-yaml <name>': 'clouds-yaml ada --url http://lab.example.org:8780',
}

function subcommand(user: Command, usage: string, help: string, hasPassword = false): Command {
  const command = withExample(user.command(usage).description(help), `user ${EXAMPLES[usage]!}`)
  command.option('--users <file>', `${SETTINGS.users.help} (default: ${SETTINGS.users.fallback as string})`)
  command.option('--config <file>', 'YAML file with settings, named as the options are')
  return hasPassword ? withPassword(command) : command
}

/** Of the server, if one is named; else of the users file. */
function addListCommand(user: Command): void {
  printingCommand(
    user,
    'list',
    'shows who there is: on the server if one is named, else in the users file',
    'user list',
  )
    .option(
      '--users <file>',
      `the users file, though a server is named (default: ${SETTINGS.users.fallback as string})`,
    )
    .option('--config <file>', 'YAML file with settings, named as the options are')
    .action(async (flags: ListFlags, command: Command) => {
      const { users, config } = flags
      const server = serverFlagsOf(command)
      const isFile = users !== undefined || config !== undefined || !namesServer(server)
      if (isFile) return told(async () => listUsers(flags))()
      await listPeople(await connectWith(server), flags)
    })
}

const namesServer = (flags: ServerFlags) =>
  Object.keys(flags).length > 0 ||
  ['HOLDFAST_URL', 'OS_CLOUD', 'OS_AUTH_URL', 'OS_ENDPOINT'].some(name => Boolean(terminal().env[name]))

/** Reports a mistake in the users file like one on the command line. */
function told<Given extends unknown[]>(action: (...given: Given) => Promise<void>) {
  return async (...given: Given): Promise<void> => {
    try {
      await action(...given)
    } catch (error) {
      throw error instanceof UsersFileError ? new UsageError(`users file: ${error.message}`, { cause: error }) : error
    }
  }
}

const fileOf = ({ users, config }: Flags) =>
  loadConfig({ users }, terminal().env, config ?? terminal().env['HOLDFAST_CONFIG']).users

async function addUser(name: string, flags: AddFlags): Promise<void> {
  const path = fileOf(flags)
  for (const word of [name, flags.project]) {
    if (!new RegExp(NAME_PATTERN).test(word)) throw new UsageError(`'${word}' can't be a name: no colon, 1 to 255 long`)
  }
  const password = await hashed(await newPassword(flags))
  // A new id, because a later user of the same name is someone else.
  const id = systemClock.newUuid().replaceAll('-', '')
  const user = { id, name, password, project: flags.project, roles: flags.role }
  editUsersFile(path, (document, content) => addUserTo(document, content, user))
  terminal().stdout.write(`${name} is ${flags.role.join(', ')} in ${flags.project}, in ${path}\n`)
}

async function setPassword(name: string, flags: Flags): Promise<void> {
  const path = fileOf(flags)
  requireUser(path, name)
  const password = await hashed(await newPassword(flags))
  editUsersFile(path, (document, { users }) => {
    if (!Object.hasOwn(users, name)) throw new UsageError(`there is no user ${name}`)
    document.setIn(['users', name, 'password'], password)
  })
  terminal().stdout.write(`${name} has a new password\n`)
}

async function signOut(name: string, flags: Flags): Promise<void> {
  const path = fileOf(flags)
  requireUser(path, name)
  const now = new Date(systemClock.now()).toISOString()
  editUsersFile(path, document => document.setIn(['users', name, 'signed-out'], now))
  terminal().stdout.write(
    `all tokens of ${name} end within a second; their password and application credentials stay\n`,
  )
}

async function removeUser(name: string, flags: Flags): Promise<void> {
  const path = fileOf(flags)
  requireUser(path, name)
  editUsersFile(path, document => void document.deleteIn(['users', name]))
  terminal().stdout.write(`${name} is gone\n`)
}

function listUsers(flags: ListFlags): void {
  const { users } = new FileDirectory(readUsersFile(fileOf(flags)))
  const rows = users.map(({ name, id, isEnabled, assignments }) => {
    const roles = [...assignments].map(([project, some]) => `${project}: ${some.join(', ')}`)
    return { name, id, enabled: isEnabled, roles: roles.join('; ') }
  })
  printList(rows, PEOPLE, flags)
}

/** Has the password only if it was given: the users file has only a hash, and openstack asks for it. */
async function printClouds(name: string, flags: CloudFlags): Promise<void> {
  const user = requireUser(fileOf(flags), name)
  const project = flags.project ?? user.defaultProject
  if (project === null || !user.assignments.has(project)) {
    throw new UsageError(`say with --project which: ${[...user.assignments.keys()].join(', ') || 'there is none'}`)
  }
  const password = await givenPassword(flags)
  const auth = {
    auth_url: `${flags.url.replace(/\/+$/, '')}/identity/v3`,
    username: name,
    ...(password !== null && { password }),
    project_name: project,
    user_domain_name: 'Default',
    project_domain_name: 'Default',
  }
  terminal().stdout.write(stringify({ clouds: { [flags.cloud]: { auth, region_name: REGION } } }))
}

function requireUser(path: string, name: string) {
  const user = new FileDirectory(readUsersFile(path)).user(name)
  if (!user) throw new UsageError(`there is no user ${name}`)
  return user
}

const hashed = (password: string) => hashPassword(password, systemClock.newSecret(16))
