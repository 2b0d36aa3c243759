// holdfast webhook: who is told of events, and where.
import type { Command } from 'commander'
import type { Holdfast } from '../client/index.ts'
import { UsageError } from '../shared/usage-error.ts'
import {
  type Flags,
  forEach,
  given,
  listed,
  onServer,
  printingCommand,
  type ServerFlags,
  serverCommand,
} from './client-command.ts'
import type { Word } from './command.ts'
import { CommandFailure, EXIT } from './failures.ts'
import { idOf, withNames } from './names.ts'
import { printList, printOne, say } from './output.ts'

const COLUMNS = ['uuid', 'name', 'url', 'project', 'state', 'reason']
const DELIVERIES = ['id', 'type', 'subject', 'status', 'attempts', 'answer_status', 'next_at', 'error']

interface WebhookFlags extends Flags {
  name?: string
  to?: string
  type?: string[]
  object?: string
  project?: string
  allProjects?: true
  onlyProject?: string
  onlyUser?: string
  allUsers?: true
  pause?: true
}

export function addCommands(program: Command, { name, help }: Word): void {
  const webhook = program.command(name).description(help)
  withFilters(
    printingCommand(
      webhook,
      'create <url>',
      'have events sent to a URL, or to mailto:ADDRESS; prints the secret, which is not shown again',
      'webhook create https://ci.example.org/hooks/holdfast --type allocation,lease.before_end',
    ),
  )
    .option('--name <name>', 'what to call it')
    .option('--project <project>', 'whose events; your own project by default')
    .option('--all-projects', 'the events of all projects, for admins')
    .action(
      onServer(async (server, url: string, flags: WebhookFlags) => {
        const project = flags.allProjects ? null : await idOf(server, 'project', flags.project)
        const filter = await filterIn(server, flags)
        printOne(await server.webhooks.create({ url, ...filter, name: flags.name, project }), flags)
      }),
    )
  printingCommand(webhook, 'list', 'list webhooks', 'webhook list', COLUMNS).action(
    onServer(async (server, flags: Flags) =>
      printList(await withNames(server, await server.webhooks.list(), { project: 'project' }, flags), COLUMNS, flags),
    ),
  )
  printingCommand(webhook, 'show <webhook>', 'show a webhook', 'webhook show ci').action(
    onServer(async ({ webhooks }, ident: string, flags: Flags) => printOne(await webhooks.show(ident), flags)),
  )
  withFilters(printingCommand(webhook, 'set <webhook>', 'change a webhook', 'webhook set ci --type lease'))
    .option('--name <name>', 'a new name')
    .option('--to <url>', 'where events go from now on, also those that wait')
    .option('--pause', 'send nothing until it is resumed; it keeps its place')
    .action(
      onServer(async (server, ident: string, flags: WebhookFlags) => {
        const { webhooks } = server
        const { name, to: url, pause } = flags
        const change = given({ ...(await filterIn(server, flags)), name, url, state: pause && 'paused' })
        if (Object.keys(change).length === 0) throw new UsageError('say what is to change')
        printOne(await webhooks.change((await webhooks.show(ident)).uuid, change), flags)
      }),
    )
  serverCommand(
    webhook,
    'delete <webhooks...>',
    'delete webhooks, with what they have not sent',
    'webhook delete ci',
  ).action(
    onServer(async ({ webhooks }, idents: string[], _flags: ServerFlags) =>
      forEach(idents, async ident => {
        await webhooks.delete((await webhooks.show(ident)).uuid)
        say(`${ident} is gone`)
      }),
    ),
  )
  addWork(webhook)
}

/** The commands about what it sends. */
function addWork(webhook: Command): void {
  printingCommand(webhook, 'test <webhook>', 'send a test event now, and show the answer', 'webhook test ci').action(
    onServer(async ({ webhooks }, ident: string, flags: Flags) => {
      const tried = await webhooks.test((await webhooks.show(ident)).uuid)
      printOne(tried, flags)
      if (!tried.delivered) throw new CommandFailure(EXIT.failed, `the test was not delivered: ${tried.error}`)
    }),
  )
  printingCommand(
    webhook,
    'deliveries <webhook>',
    'list the last deliveries with their answers, newest first',
    'webhook deliveries ci',
    DELIVERIES,
  ).action(
    onServer(async ({ webhooks }, ident: string, flags: Flags) =>
      printList(await webhooks.deliveries((await webhooks.show(ident)).uuid), DELIVERIES, flags),
    ),
  )
  serverCommand(
    webhook,
    'drop <webhook> <delivery>',
    'give up on a delivery that the receiver can not take, so that those behind it go',
    'webhook drop ci 184467',
  ).action(
    onServer(async ({ webhooks }, ident: string, delivery: string, _flags: ServerFlags) => {
      await webhooks.drop((await webhooks.show(ident)).uuid, delivery)
      say(`delivery ${delivery} is given up`)
    }),
  )
  printingCommand(
    webhook,
    'resume <webhook>',
    'go on after a pause, and try now what waits; one that its receiver switched off begins anew',
    'webhook resume ci',
  ).action(
    onServer(async ({ webhooks }, ident: string, flags: Flags) =>
      printOne(await webhooks.resume((await webhooks.show(ident)).uuid), flags),
    ),
  )
  printingCommand(
    webhook,
    'secret <webhook>',
    'make a new secret and print it; the old one signs too for a day',
    'webhook secret ci -f value -c secret',
  ).action(
    onServer(async ({ webhooks }, ident: string, flags: Flags) =>
      printOne(await webhooks.newSecret((await webhooks.show(ident)).uuid), flags),
    ),
  )
}

const withFilters = (command: Command) =>
  command
    .option('--type <types>', 'only these types, such as lease or allocation.active; may be repeated', listed)
    .option('--object <id>', 'only events about this object')
    .option('--only-project <project>', 'only events about what belongs to this project')
    .option('--only-user <user>', 'only events about what belongs to this user; of mail: you')
    .option('--all-users', 'of mail: events about what belongs to anyone')

async function filterIn(server: Holdfast, { type, object, onlyProject, onlyUser, allUsers }: WebhookFlags) {
  const [project, user] = [await idOf(server, 'project', onlyProject), await idOf(server, 'user', onlyUser)]
  return given({ types: type, object, only_project: project, only_user: allUsers ? null : user })
}
