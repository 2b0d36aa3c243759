// holdfast node leasable set, unset, list, show: the nodes that leases may book.
import type { Command } from 'commander'
import type { LeasableNode } from '../client/index.ts'
import { type Flags, forEach, onServer, printingCommand, type ServerFlags, serverCommand } from './client-command.ts'
import { printList, printOne, say } from './output.ts'

export function addLeasableCommands(node: Command): void {
  const leasable = node.command('leasable').description('nodes that leases may book')
  serverCommand(leasable, 'set <nodes...>', 'let leases book these nodes', 'node leasable set n1 n2').action(
    onServer(async ({ nodes }, idents: string[], _flags: ServerFlags) =>
      forEach(idents, async ident => {
        await nodes.startLeasing(ident)
        say(`${ident} can be booked by leases`)
      }),
    ),
  )
  serverCommand(leasable, 'unset <nodes...>', 'no more leases on these', 'node leasable unset n1').action(
    onServer(async ({ nodes }, idents: string[], _flags: ServerFlags) =>
      forEach(idents, async ident => {
        await nodes.endLeasing(ident)
        say(`${ident} is not for leases`)
      }),
    ),
  )
  printingCommand(leasable, 'list', 'list the nodes that leases may book', 'node leasable list').action(
    onServer(async ({ nodes }, flags: Flags) => {
      const found = await nodes.leasables()
      printList(isForPrograms(flags) ? found : found.map(withLines), ['node', 'resource_class', 'bookings'], flags)
    }),
  )
  printingCommand(leasable, 'show <node>', 'show by which leases it is booked', 'node leasable show n1').action(
    onServer(async ({ nodes }, ident: string, flags: Flags) => {
      const found = await nodes.leasable(ident)
      printOne(isForPrograms(flags) ? found : withLines(found), flags)
    }),
  )
}

const isForPrograms = ({ format }: Flags) => format === 'json' || format === 'yaml'

const withLines = ({ bookings, ...node }: LeasableNode) => ({
  ...node,
  bookings: bookings.map(({ lease_id, start_date, end_date }) => `${start_date} to ${end_date}: lease ${lease_id}`),
})
