// holdfast quota: the limits of projects.
import type { Command } from 'commander'
import type { Holdfast } from '../client/index.ts'
import { UsageError } from '../shared/usage-error.ts'
import { type Flags, onServer, pairsIn, printingCommand, type ServerFlags, serverCommand } from './client-command.ts'
import type { Word } from './command.ts'
import { idOf, soughtId, withNames } from './names.ts'
import { printList, say } from './output.ts'

const LISTED = ['project', 'limits']
const SHOWN = ['name', 'max', 'used', 'is_default']

export function addCommands(program: Command, { name, help }: Word): void {
  const quota = program.command(name).description(help)
  printingCommand(quota, 'list', 'list the limits that are set, by project', 'quota list', LISTED).action(
    onServer(async (server, flags: Flags) => {
      const rows = await withNames(server, await server.quotas.list(), { project: 'project' }, flags)
      printList(rows, LISTED, flags)
    }),
  )
  printingCommand(
    quota,
    'show [project]',
    'show what a project may have and what it has; the one that is logged in if none is given',
    'quota show default',
    SHOWN,
  ).action(
    onServer(async (server, given: string | undefined, flags: Flags) => {
      const project = given === undefined ? server.project : await quotaOf(server, given, soughtId)
      if (project === null) throw new UsageError('say which project: nobody is logged in')
      printList((await server.quotas.show(project)).limits, SHOWN, flags)
    }),
  )
  printingCommand(
    quota,
    'set <project> <limit=max...>',
    'set limits of a project, or of default; -1 is no limit, whatever default says',
    'quota set default nodes=4 nodes:gpu=2',
    SHOWN,
  ).action(
    onServer(async (server, given: string, words: string[], flags: Flags) => {
      const limits = pairsIn(words, maxOf) as Record<string, number>
      const project = await quotaOf(server, given, idOf)
      printList((await server.quotas.set(project, limits)).limits, SHOWN, flags)
    }),
  )
  serverCommand(
    quota,
    'unset <project> [limits...]',
    'take these limits of a project away, or all if none is named',
    'quota unset default nodes:gpu',
  ).action(
    onServer(async (server, given: string, names: string[], _flags: ServerFlags) => {
      const project = await quotaOf(server, given, soughtId)
      if (names.length === 0) await server.quotas.delete(project)
      else await server.quotas.set(project, Object.fromEntries(names.map(limit => [limit, null])))
      say(`${given} has ${names.length === 0 ? 'no limits of its own' : `no own limit on ${names.join(', ')}`}`)
    }),
  )
}

/** The limits of all projects without their own are called `default`. */
const quotaOf = async (server: Holdfast, word: string, find: typeof soughtId) =>
  word === 'default' ? word : (await find(server, 'project', word))!

function maxOf(text: string): number {
  if (!/^(-1|\d{1,10})$/.test(text)) throw new UsageError(`'${text}' is no limit: a whole number, or -1 for none`)
  return Number(text)
}
