// holdfast provider: the providers and their capacity.
import type { Command } from 'commander'
import { countOf, type Flags, listed, many, onServer, pairsIn, printingCommand } from './client-command.ts'
import type { Word } from './command.ts'
import { printOne } from './output.ts'
import { addProviderChangeCommands } from './provider-change.ts'
import { printRows, type WatchFlags, withWatch } from './followed-list.ts'

const COLUMNS = ['uuid', 'name', 'generation', 'parent_provider_uuid']

interface ProviderFlags extends WatchFlags {
  name?: string
  inTree?: string
  resource?: string[]
  required?: string[]
  forbidden?: string[]
  memberOf?: string
}

export function addCommands(program: Command, { name, help }: Word): void {
  const provider = program.command(name).description(help)
  withWatch(
    printingCommand(
      provider,
      'list',
      'list resource providers',
      'provider list --resource VCPU=4 --required HW_CPU_X86_AVX2',
      COLUMNS,
    ),
  )
    .option('--name <name>', 'of this name')
    .option('--in-tree <uuid>', 'in the tree of this one')
    .option('--resource <class=amount>', 'with room for this; may be repeated', many)
    .option('--required <traits...>', 'with these traits', listed)
    .option('--forbidden <traits...>', 'without these traits', listed)
    .option('--member-of <aggregates>', 'in this aggregate, or in:A,B')
    .action(
      onServer(async (server, flags: ProviderFlags) => {
        const where = { name: flags.name, in_tree: flags.inTree, ...askedIn(flags) }
        const rows = async () => ({ rows: await server.providers.list(where), columns: COLUMNS })
        await printRows(server, { kinds: ['provider'], rows }, flags)
      }),
    )
  printingCommand(provider, 'show <provider>', 'show one, by its uuid or name', 'provider show compute-1').action(
    onServer(async (server, ident: string, flags: Flags) => {
      const { links: _, resource_provider_generation: __, ...shown } = await server.providers.show(ident)
      if (flags.format === 'json' || flags.format === 'yaml') return printOne(shown, flags)
      const { inventories, usages, ...rest } = shown
      const used = Object.entries(inventories).map(([name, { total, reserved, allocation_ratio: ratio }]) => {
        const capacity = Math.floor((total - reserved) * ratio)
        return `${name}: ${usages[name] ?? 0} of ${capacity} used`
      })
      printOne({ ...rest, inventories: used }, flags)
    }),
  )
  addProviderChangeCommands(provider)
}

interface Asked {
  resource?: string[]
  required?: string[]
  forbidden?: string[]
  memberOf?: string
}

/** The options for capacity and traits as a query of Placement. */
export function askedIn({ resource, required = [], forbidden = [], memberOf }: Asked) {
  const amounts = Object.entries(amountsIn(resource ?? [])).map(([name, amount]) => `${name}:${amount}`)
  const traits = [...required, ...forbidden.map(name => `!${name}`)]
  return {
    resources: amounts.length > 0 ? amounts.join(',') : undefined,
    required: traits.length > 0 ? traits.join(',') : undefined,
    member_of: memberOf,
  }
}

export const amountsIn = (words: readonly string[]) =>
  pairsIn(
    words.flatMap(word => word.replaceAll(':', '=').split(',')),
    countOf,
  ) as Record<string, number>
