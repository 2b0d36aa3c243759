// holdfast node leasable set, unset, list, show: the nodes that leases may book.
import type { Command } from 'commander'
import type { LeasableNode } from '../../client/index.ts'
import { type Flags, forEach, onServer, printingCommand, type ServerFlags, serverCommand } from '../client-command.ts'
import { printList, printOne, say } from '../output.ts'

const COLUMNS = ['node', 'resource_class', 'bookings']

export function addLeasableCommands(node: Command): void {
  const leasable = node.command('leasable').description('nodes that leases may book')
  serverCommand(leasable, 'set <nodes...>', 'let leases book these nodes', 'node leasable set n1 n2').action(
    onServer(async ({ leasableNodes }, idents: string[], _flags: ServerFlags) =>
      forEach(idents, async ident => {
        await leasableNodes.enrol(ident)
        say(`${ident} can be booked by leases`)
      }),
    ),
  )
  serverCommand(leasable, 'unset <nodes...>', 'no more leases on these', 'node leasable unset n1').action(
    onServer(async ({ leasableNodes }, idents: string[], _flags: ServerFlags) =>
      forEach(idents, async ident => {
        await leasableNodes.withdraw(ident)
        say(`${ident} is not for leases`)
      }),
    ),
  )
  printingCommand(leasable, 'list', 'list the nodes that leases may book', 'node leasable list', COLUMNS).action(
    onServer(async ({ leasableNodes }, flags: Flags) => {
      const found = await leasableNodes.list()
      printList(isForPrograms(flags) ? found : found.map(withLines), COLUMNS, flags)
    }),
  )
  printingCommand(leasable, 'show <node>', 'show by which leases it is booked', 'node leasable show n1').action(
    onServer(async ({ leasableNodes }, ident: string, flags: Flags) => {
      const found = await leasableNodes.show(ident)
      printOne(isForPrograms(flags) ? found : withLines(found), flags)
    }),
  )
}

const isForPrograms = ({ format }: Flags) => format === 'json' || format === 'yaml'

const withLines = ({ bookings, ...node }: LeasableNode) => ({
  ...node,
  bookings: bookings.map(({ lease_id, start_date, end_date }) => `${start_date} to ${end_date}: lease ${lease_id}`),
})
