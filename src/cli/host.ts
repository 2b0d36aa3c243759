// holdfast host: the hypervisors that leases are booked on.
import type { Command } from 'commander'
import {
  type Flags,
  forEach,
  many,
  onServer,
  pairsIn,
  printingCommand,
  type ServerFlags,
  serverCommand,
} from './client-command.ts'
import type { Word } from './command.ts'
import { printList, printOne, say } from './output.ts'

const COLUMNS = ['id', 'hypervisor_hostname', 'vcpus', 'memory_mb', 'local_gb', 'reservable']

export function addCommands(program: Command, { name, help }: Word): void {
  const host = program.command(name).description(help)
  printingCommand(
    host,
    'create <hypervisor>',
    'let leases book this hypervisor',
    'host create compute-1 --extra gpu=yes',
  )
    .option('--extra <key=value>', 'a capability; may be repeated', many)
    .action(
      onServer(async (server, name: string, flags: Flags & { extra?: string[] }) => {
        const capabilities = pairsIn(flags.extra, value => value) as Record<string, string>
        printOne(await server.hosts.create(name, capabilities), flags)
      }),
    )
  printingCommand(host, 'list', 'list hosts', 'host list', COLUMNS).action(
    onServer(async (server, flags: Flags) => printList(await server.hosts.list(), COLUMNS, flags)),
  )
  printingCommand(host, 'show <host>', 'show a host, by its id or name', 'host show compute-1').action(
    onServer(async (server, ident: string, flags: Flags) => printOne(await server.hosts.show(ident), flags)),
  )
  printingCommand(host, 'set <host>', 'add or change what a host is capable of', 'host set compute-1 --extra gpu=yes')
    .requiredOption('--extra <key=value>', 'a capability; may be repeated', many)
    .action(
      onServer(async (server, ident: string, flags: Flags & { extra: string[] }) => {
        const capabilities = pairsIn(flags.extra, value => value) as Record<string, string>
        const { id } = await server.hosts.show(ident)
        printOne(await server.hosts.update(id, capabilities), flags)
      }),
    )
  serverCommand(host, 'delete <hosts...>', 'no more leases on these', 'host delete compute-1').action(
    onServer(async (server, idents: string[], _flags: ServerFlags) =>
      forEach(idents, async ident => {
        const { id } = await server.hosts.show(ident)
        await server.hosts.delete(id)
        say(`${ident} is gone`)
      }),
    ),
  )
}
