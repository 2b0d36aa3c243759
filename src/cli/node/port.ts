// holdfast node port create, list, delete
import type { Command } from 'commander'
import { ApiError, type Holdfast } from '../../client/index.ts'
import {
  type Flags,
  forEach,
  given,
  many,
  onServer,
  pairsIn,
  printingCommand,
  type ServerFlags,
  serverCommand,
} from '../client-command.ts'
import { printList, printOne, say } from '../output.ts'

interface CreateFlags extends Flags {
  uuid?: string
  physicalNetwork?: string
  extra?: string[]
  localLinkConnection?: string[]
  pxe: boolean
}

export function addPortCommands(node: Command): void {
  const port = node.command('port').description("nodes' network cards")
  printingCommand(
    port,
    'create <node> <address>',
    'add a network card to a node, by its MAC address',
    'node port create n1 52:54:00:12:34:56 --physical-network rack-7',
  )
    .option('--uuid <uuid>', 'its uuid; a new one if none is given')
    .option('--physical-network <name>', 'the network that it is plugged into')
    .option('--local-link-connection <key=value>', 'of the switch port; may be repeated', many)
    .option('--extra <key=value>', 'a member of extra; may be repeated', many)
    .option('--no-pxe', "the node doesn't boot from it")
    .action(
      onServer(async ({ nodes, ports }, ident: string, address: string, flags: CreateFlags) => {
        const { uuid: node_uuid } = await nodes.show(ident, ['uuid'])
        const more = given({
          uuid: flags.uuid,
          physical_network: flags.physicalNetwork,
          local_link_connection: flags.localLinkConnection && pairsIn(flags.localLinkConnection),
          extra: flags.extra && pairsIn(flags.extra),
        })
        printOne(await ports.create({ node_uuid, address, pxe_enabled: flags.pxe, ...more }), flags)
      }),
    )
  printingCommand(port, 'list [node]', 'list the network cards of a node, or of all', 'node port list n1').action(
    onServer(async ({ ports }, ident: string | undefined, flags: Flags) => {
      const columns = ['uuid', 'address', 'node_uuid', 'pxe_enabled', 'physical_network']
      printList(await ports.list(ident === undefined ? {} : { node: ident }), columns, flags)
    }),
  )
  serverCommand(
    port,
    'delete <ports...>',
    'remove network cards, by uuid or MAC address',
    'node port delete 52:54:00:12:34:56',
  ).action(
    onServer(async (server, idents: string[], _flags: ServerFlags) =>
      forEach(idents, async ident => {
        await server.ports.delete(await uuidOf(server, ident))
        say(`${ident} is gone`)
      }),
    ),
  )
}

async function uuidOf({ ports }: Holdfast, ident: string): Promise<string> {
  if (!/^\w\w([:-]\w\w){5}$/.test(ident)) return ident
  const [found] = await ports.list({ address: ident })
  if (!found) throw new ApiError(404, `There is no port with MAC address ${ident}.`)
  return found.uuid
}
