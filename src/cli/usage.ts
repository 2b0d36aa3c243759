// holdfast usage: what a project uses, or what is used of a provider.
import type { Command } from 'commander'
import { UsageError } from '../shared/usage-error.ts'
import { type Flags, onServer, printingCommand } from './client-command.ts'
import type { Word } from './command.ts'
import { soughtId } from './names.ts'
import { printList } from './output.ts'

const COLUMNS = ['consumer_type', 'resource_class', 'used', 'consumer_count']

interface UsageFlags extends Flags {
  project?: string
  user?: string
  type?: string
  provider?: string
}

export function addCommands(program: Command, { name, help }: Word): void {
  printingCommand(program, `${name} [project]`, help, 'usage lab', COLUMNS)
    .option('--project <project>', 'the same as the argument; the project that is logged in if none is given')
    .option('--user <user>', 'by this user of the project')
    .option('--type <TYPE>', 'by consumers of this type; all for their sum')
    .option('--provider <provider>', 'of this provider')
    .action(
      onServer(async (server, named: string | undefined, flags: UsageFlags) => {
        if (flags.provider !== undefined) {
          const usages = await server.providers.usages(flags.provider)
          const rows = Object.entries(usages).map(([resource_class, used]) => ({ resource_class, used }))
          return printList(rows, ['resource_class', 'used'], flags)
        }
        const project = (await soughtId(server, 'project', flags.project ?? named)) ?? server.project
        if (project === null) throw new UsageError('say --project or --provider: nobody is logged in')
        const user = await soughtId(server, 'user', flags.user)
        const usages = await server.usage.ofProject(project, { type: flags.type, user })
        const rows = Object.entries(usages).flatMap(([consumer_type, { consumer_count, ...amounts }]) =>
          Object.entries(amounts).map(([resource_class, used]) => ({
            consumer_type,
            consumer_count,
            resource_class,
            used,
          })),
        )
        printList(rows, COLUMNS, flags)
      }),
    )
}
