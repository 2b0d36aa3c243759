// holdfast provider create, set, delete, inventory, trait, aggregate: the same words as osc-placement.
import type { Command } from 'commander'
import type { Holdfast, Inventory, NewInventory } from '../client/index.ts'
import { UsageError } from '../shared/usage-error.ts'
import {
  type Flags,
  forEach,
  given,
  listed,
  many,
  onServer,
  printingCommand,
  type ServerFlags,
  serverCommand,
} from './client-command.ts'
import { printList, printOne, say } from './output.ts'

export function addProviderChangeCommands(provider: Command): void {
  addLifeCommands(provider)
  addInventoryCommands(provider.command('inventory').description("providers' inventories"))
  addTraitCommands(provider.command('trait').description("providers' traits"))
  addAggregateCommands(provider.command('aggregate').description("providers' aggregates"))
}

interface LifeFlags extends Flags {
  uuid?: string
  name?: string
  parentProvider?: string
}

function addLifeCommands(provider: Command): void {
  printingCommand(
    provider,
    'create <name>',
    'make a resource provider',
    'provider create numa-0 --parent-provider compute-1',
  )
    .option('--uuid <uuid>', 'its uuid; a new one if none is given')
    .option('--parent-provider <provider>', 'its parent')
    .action(
      onServer(async (server, name: string, flags: LifeFlags) => {
        const parent = await parentIn(server, flags)
        printOne(await server.providers.create({ name, ...given({ uuid: flags.uuid, ...parent }) }), flags)
      }),
    )
  printingCommand(
    provider,
    'set <provider>',
    'rename a provider, or move it in its tree',
    'provider set numa-0 --name numa-1',
  )
    .option('--name <name>', 'its new name')
    .option('--parent-provider <provider>', 'its new parent')
    .action(
      onServer(async (server, ident: string, flags: LifeFlags) => {
        const parent = await parentIn(server, flags)
        if (flags.name === undefined && !('parent_provider_uuid' in parent)) {
          throw new UsageError('say what is to change: --name or --parent-provider')
        }
        const { uuid, name } = await server.providers.find(ident)
        printOne(await server.providers.update(uuid, { name: flags.name ?? name, ...parent }), flags)
      }),
    )
  serverCommand(provider, 'delete <providers...>', 'delete providers', 'provider delete numa-0').action(
    onServer(async (server, idents: string[], _flags: ServerFlags) =>
      forEach(idents, async ident => {
        await server.providers.delete((await server.providers.find(ident)).uuid)
        say(`${ident} is gone`)
      }),
    ),
  )
}

async function parentIn({ providers }: Holdfast, { parentProvider }: LifeFlags) {
  return parentProvider === undefined ? {} : { parent_provider_uuid: (await providers.find(parentProvider)).uuid }
}

const TERMS = ['total', 'reserved', 'min_unit', 'max_unit', 'step_size', 'allocation_ratio'] as const

/** Reads words such as `VCPU=8` and `VCPU:allocation_ratio=16`, grouped by class. */
function inventoriesIn(words: readonly string[]): Record<string, Partial<Inventory>> {
  const found: Record<string, Partial<Inventory>> = {}
  for (const word of words) {
    const [, name, term = 'total', value] = /^([^:=]+)(?::([^=]+))?=(.+)$/.exec(word) ?? []
    if (name === undefined || value === undefined) {
      throw new UsageError(`'${word}' is not of the form CLASS=amount or CLASS:term=number`)
    }
    const known = TERMS.find(one => one === term)
    if (!known) throw new UsageError(`'${word}' has no term of an inventory; there are ${TERMS.join(', ')}`)
    const number = Number(value)
    const isFine = known === 'allocation_ratio' ? number > 0 : Number.isInteger(number) && number >= 0
    if (!isFine) throw new UsageError(`'${value}' in '${word}' is no number that is allowed here`)
    found[name] = { ...found[name], [known]: number }
  }
  return found
}

interface InventoryFlags extends ServerFlags {
  resource: string[]
  amend?: boolean
}

function addInventoryCommands(inventory: Command): void {
  serverCommand(
    inventory,
    'set <provider>',
    'this is all that a provider has',
    'provider inventory set compute-1 --resource VCPU=8 --resource VCPU:allocation_ratio=16',
  )
    .requiredOption('--resource <CLASS[:term]=number>', `an amount, or its ${TERMS.slice(1).join(', ')}`, many)
    .option('--amend', 'change only what is named')
    .action(onServer(async (server, ident: string, flags: InventoryFlags) => setInventories(server, ident, flags)))
  printingCommand(inventory, 'list <provider>', 'list what a provider has', 'provider inventory list compute-1').action(
    onServer(async (server, ident: string, flags: Flags) => {
      const { inventories, usages } = await server.providers.show(ident)
      const rows = Object.entries(inventories).map(([name, terms]) => ({
        resource_class: name,
        ...terms,
        used: usages[name] ?? 0,
      }))
      printList(rows, ['resource_class', ...TERMS, 'used'], flags)
    }),
  )
  serverCommand(
    inventory,
    'delete <provider>',
    'a provider no longer has this',
    'provider inventory delete compute-1 --resource-class VGPU',
  )
    .option('--resource-class <class>', 'only this; all if none is named')
    .action(
      onServer(async (server, ident: string, { resourceClass }: ServerFlags & { resourceClass?: string }) => {
        const { uuid, generation } = await server.providers.find(ident)
        if (resourceClass === undefined) await server.providers.setInventories(uuid, {}, generation)
        else await server.providers.deleteInventory(uuid, resourceClass)
        say(`${ident} has no ${resourceClass ?? 'inventories'}`)
      }),
    )
}

async function setInventories({ providers, resourceClasses }: Holdfast, ident: string, flags: InventoryFlags) {
  const wanted = inventoriesIn(flags.resource)
  const { uuid, generation, inventories: present } = await providers.show(ident)
  const all: Record<string, Partial<Inventory>> = flags.amend ? { ...present } : {}
  for (const [name, terms] of Object.entries(wanted)) all[name] = { ...all[name], ...terms }
  const unsaid = Object.keys(all).find(name => all[name]!.total === undefined)
  if (unsaid) throw new UsageError(`say how much ${unsaid} there is, with --resource ${unsaid}=amount`)
  await resourceClasses.ensure(Object.keys(wanted))
  await providers.setInventories(uuid, all as Record<string, NewInventory>, generation)
  say(
    `${ident} has ${Object.entries(all)
      .map(([name, { total }]) => `${total} ${name}`)
      .join(', ')}`,
  )
}

function addTraitCommands(trait: Command): void {
  printingCommand(trait, 'list <provider>', 'list the traits of a provider', 'provider trait list compute-1').action(
    onServer(async (server, ident: string, flags: Flags) => {
      const { traits } = await server.providers.show(ident)
      printList(
        traits.map(name => ({ trait: name })),
        ['trait'],
        flags,
      )
    }),
  )
  serverCommand(
    trait,
    'set <provider>',
    'these are all its traits',
    'provider trait set compute-1 --trait HW_CPU_X86_AVX2 --trait CUSTOM_RACK_7',
  )
    .option('--trait <names...>', 'its new traits; without this option it has none', listed)
    .action(
      onServer(async (server, ident: string, { trait: names = [] }: ServerFlags & { trait?: string[] }) => {
        const { uuid, generation } = await server.providers.find(ident)
        await server.traits.ensure(names)
        await server.providers.setTraits(uuid, names, generation)
        say(`${ident} has ${names.join(', ') || 'no traits'}`)
      }),
    )
}

function addAggregateCommands(aggregate: Command): void {
  printingCommand(
    aggregate,
    'list <provider>',
    'list the aggregates of a provider',
    'provider aggregate list compute-1',
  ).action(
    onServer(async (server, ident: string, flags: Flags) => {
      const { aggregates } = await server.providers.show(ident)
      printList(
        aggregates.map(uuid => ({ uuid })),
        ['uuid'],
        flags,
      )
    }),
  )
  serverCommand(
    aggregate,
    'set <provider> [aggregates...]',
    'these are all its aggregates',
    'provider aggregate set compute-1 0c5e3f7a-8a1d-4e0b-9d3b-1f0a2b3c4d5e',
  ).action(
    onServer(async (server, ident: string, aggregates: string[], _flags: ServerFlags) => {
      const { uuid, generation } = await server.providers.find(ident)
      await server.providers.setAggregates(uuid, aggregates, generation)
      say(`${ident} belongs to ${aggregates.join(', ') || 'no aggregate'}`)
    }),
  )
}
