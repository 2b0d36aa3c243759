// holdfast audit: who changed what, newest first.
import type { Command } from 'commander'
import { countOf, type Flags, onServer, printingCommand } from './client-command.ts'
import type { Word } from './command.ts'
import { timeFlag } from './local-time.ts'
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

export function addCommands(program: Command, { name, help }: Word): void {
  printingCommand(program, name, help, "audit --action baremetal:node:create --since 'yesterday 9:00'", COLUMNS)
    .option('--user <id>', 'by this user')
    .option('--project <id>', 'in this project')
    .option('--action <action>', 'as in baremetal:node:create')
    .option('--object <id>', 'that touched this')
    .option('--request <id>', 'in this request')
    .option('--since <time>', '2h (ago), 9:00, yesterday, fri, 20 Nov 9:00, 2030-01-01', timeFlag('since', 'past'))
    .option('--until <time>', 'likewise', timeFlag('until', 'past'))
    .option('--limit <count>', 'at most so many', countOf, 100)
    .action(
      onServer(async (server, { request, limit, ...flags }: AuditFlags) => {
        const { user, project, action, object, since, until } = flags
        const entries = await server.audit({ user, project, action, object, request_id: request, since, until }, limit)
        const isForPeople = flags.format !== 'json' && flags.format !== 'yaml'
        const rows = entries.map(entry => ({
          ...entry,
          ...(isForPeople && { objects: entry.objects.map(({ kind, id }) => `${kind} ${id}`) }),
        }))
        printList(rows, COLUMNS, flags)
      }),
    )
}
