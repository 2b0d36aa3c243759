// holdfast audit: who changed what, newest first.
import type { Command } from 'commander'
import type { AuditEntry, Holdfast } from '../client/index.ts'
import { countOf, type Flags, onServer, printingCommand } from './client-command.ts'
import type { Word } from './command.ts'
import { timeFlag } from './local-time.ts'
import { CommandFailure, EXIT } from './failures.ts'
import { namesIn, requireObject, soughtId } from './names.ts'
import { printList } from './output.ts'

const COLUMNS = ['id', 'at', 'user', 'project', 'action', 'outcome', 'objects']

interface AuditFlags extends Flags {
  user?: string
  project?: string
  action?: string
  object?: string
  request?: string
  since?: string
  until?: string
  limit: number
}

/** The name under which conductors do what they do by themselves. */
const ITSELF = 'conductor'

export function addCommands(program: Command, { name, help }: Word): void {
  printingCommand(program, name, help, "audit --action baremetal:node:create --since 'yesterday 9:00'", COLUMNS)
    .option('--user <user>', 'by this user')
    .option('--project <project>', 'in this project')
    .option('--action <action>', 'as in baremetal:node:create')
    .option('--object <name>', 'that touched this: a node, an allocation, a lease, a user …, by name or id')
    .option('--request <id>', 'in this request')
    .option('--since <time>', '2h (ago), 9:00, yesterday, fri, 20 Nov 9:00, 2030-01-01', timeFlag('since', 'past'))
    .option('--until <time>', 'likewise', timeFlag('until', 'past'))
    .option('--limit <count>', 'at most so many', countOf, 100)
    .action(
      onServer(async (server, { request, limit, ...flags }: AuditFlags) => {
        const { action, object, since, until } = flags
        const user = flags.user === ITSELF ? ITSELF : await soughtId(server, 'user', flags.user)
        const project = await soughtId(server, 'project', flags.project)
        const entries = await server.audit({ user, project, action, object, request_id: request, since, until }, limit)
        if (entries.length === 0 && object !== undefined) await requireTraces(server, object)
        printList(await rowsOf(server, entries, flags), COLUMNS, flags)
      }),
    )
}

/** Nothing at all is a mistake in the name; nothing in that time or by that user is an answer. */
async function requireTraces(server: Holdfast, object: string): Promise<void> {
  if ((await server.audit({ object }, 1)).length > 0) return
  await requireObject(server, object)
  throw new CommandFailure(EXIT.notFound, `nothing in the audit is about ${object}`)
}

async function rowsOf(server: Holdfast, entries: readonly AuditEntry[], { format }: Flags) {
  if (format === 'json' || format === 'yaml') return entries
  const plain = ({ kind, id }: AuditEntry['objects'][number]) => `${kind} ${id}`
  if (format !== 'table') return entries.map(entry => ({ ...entry, objects: entry.objects.map(plain) }))
  const people = (entry: AuditEntry) => entry.objects.filter(({ kind }) => kind === 'user' || kind === 'project')
  const ids = entries.flatMap(entry => [entry.user, entry.project, ...people(entry).map(({ id }) => id)])
  const { users, projects } = await namesIn(
    server,
    ids.filter(id => id !== null),
  )
  const shownIn = ({ objects }: AuditEntry) => {
    // What is said of a node names its provider, too.
    const named = new Map(objects.flatMap(({ id, data }) => (data?.name && data.name !== id ? [[id, data.name]] : [])))
    const people = { user: users, project: projects } as Record<string, Map<string, string> | undefined>
    return [...new Set(objects.map(({ kind, id }) => `${kind} ${named.get(id) ?? people[kind]?.get(id) ?? id}`))]
  }
  return entries.map(entry => ({
    ...entry,
    user: users.get(entry.user ?? '') ?? entry.user,
    project: projects.get(entry.project ?? '') ?? entry.project,
    objects: shownIn(entry),
  }))
}
