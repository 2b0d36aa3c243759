// holdfast node trait list, node add trait, node remove trait
import type { Command } from 'commander'
import { UsageError } from '../../shared/usage-error.ts'
import { type Flags, onServer, printingCommand, type ServerFlags, serverCommand } from '../client-command.ts'
import { printList, say } from '../output.ts'

export function addTraitCommands(node: Command): void {
  const trait = node.command('trait').description("nodes' traits")
  printingCommand(trait, 'list <node>', 'list the traits of a node', 'node trait list n1', ['trait']).action(
    onServer(async (server, ident: string, flags: Flags) => {
      const names = await server.nodes.traits(ident)
      printList(
        names.map(name => ({ trait: name })),
        ['trait'],
        flags,
      )
    }),
  )
  const add = node.command('add').description('add something to a node')
  serverCommand(
    add,
    'trait <node> <traits...>',
    'add traits to a node',
    'node add trait n1 CUSTOM_RED CUSTOM_A100',
  ).action(
    onServer(async (server, ident: string, names: string[], _flags: ServerFlags) => {
      for (const name of names) await server.nodes.addTrait(ident, name)
      say(`${ident} has ${names.join(', ')}`)
    }),
  )
  const remove = node.command('remove').description('remove something from a node')
  serverCommand(remove, 'trait <node> [traits...]', 'remove traits from a node', 'node remove trait n1 CUSTOM_RED')
    .option('--all', 'all that it has')
    .action(
      onServer(async (server, ident: string, names: string[], flags: ServerFlags & { all?: boolean }) => {
        if (names.length > 0 === (flags.all === true)) throw new UsageError('name the traits to remove, or say --all')
        if (flags.all) await server.nodes.removeTraits(ident)
        else for (const name of names) await server.nodes.removeTrait(ident, name)
        say(flags.all ? `${ident} has no traits` : `${ident} has no ${names.join(', ')}`)
      }),
    )
}
