// holdfast node history
import type { Command } from 'commander'
import type { Holdfast } from '../../client/index.ts'
import { countOf, type Flags, onServer, printingCommand } from '../client-command.ts'
import { withNames } from '../names.ts'
import { printList } from '../output.ts'

const COLUMNS = ['created_at', 'severity', 'event', 'user']
const MORE = ['uuid', 'created_at', 'severity', 'event_type', 'event', 'user', 'conductor', 'output']
const PEOPLE = { user: 'user' } as const

type HistoryFlags = Flags & { long?: boolean; limit?: number }

export function addHistoryCommand(node: Command): void {
  printingCommand(node, 'history <node>', 'what became of a node, oldest first', 'node history n1 --limit 20', MORE)
    .option('--long', 'with the conductor, and what hooks printed')
    .option('--limit <count>', 'only the last ones', countOf)
    .action(onServer(async (server, ident: string, flags: HistoryFlags) => printHistory(server, ident, flags)))
}

async function printHistory(server: Holdfast, ident: string, flags: HistoryFlags): Promise<void> {
  const lines = await server.nodes.history(ident)
  const wanted = flags.limit === undefined ? lines : lines.slice(-flags.limit)
  printList(await withNames(server, wanted, PEOPLE, flags), flags.long ? MORE : COLUMNS, flags)
}
