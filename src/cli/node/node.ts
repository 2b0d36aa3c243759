// holdfast node: bare metal nodes, from enrolment to deletion.
import type { Command } from 'commander'
import type { Holdfast } from '../../client/index.ts'
import {
  countOf,
  type Flags,
  forEach,
  listed,
  onServer,
  printingCommand,
  type ServerFlags,
  serverCommand,
} from '../client-command.ts'
import type { Word } from '../command.ts'
import { type DryRun, sayTouched, withDryRun } from '../dry-run.ts'
import { addChangeCommands, printNode, PROJECTS } from './change.ts'
import { addConsoleCommand } from './console.ts'
import { addHistoryCommand } from './history.ts'
import { addInventoryCommand } from './inventory.ts'
import { addKickCommands } from './kick.ts'
import { addLeasableCommands } from './leasable.ts'
import { addMachineCommands } from './machine.ts'
import { addPortCommands } from './port.ts'
import { addStateCommands, addVerbCommands } from './states.ts'
import { addTraitCommands } from './trait.ts'
import { soughtId, withNames } from '../names.ts'
import { plainName, say, withoutLinks } from '../output.ts'
import { printRows, type WatchFlags, withWatch } from '../followed-list.ts'

const COLUMNS = [
  'uuid',
  'name',
  'resource_class',
  'provision_state',
  'instance_uuid',
  'maintenance',
  'power_state',
  'reservation_uuid',
]

export function addCommands(program: Command, { name, help }: Word): void {
  const node = program.command(name).description(help)
  addListCommand(node)
  printingCommand(node, 'show <node>', 'show a node', 'node show n1 --fields uuid name traits')
    .option('--fields <fields...>', 'only these fields', listed)
    .action(
      onServer(async (server, ident: string, flags: Flags & { fields?: string[] }) => printShown(server, ident, flags)),
    )
  addChangeCommands(node)
  withDryRun(serverCommand(node, 'delete <nodes...>', 'delete nodes', 'node delete n1 n2')).action(
    onServer(async (server, idents: string[], { dryRun }: ServerFlags & DryRun) =>
      forEach(idents, async ident => {
        if (dryRun) return sayTouched(server, ident, await server.nodes.explainDeletion(ident))
        await server.nodes.delete(ident)
        say(`${ident} is gone`)
      }),
    ),
  )
  addVerbCommands(node)
  addInventoryCommand(node)
  addStateCommands(node)
  addMachineCommands(node)
  addConsoleCommand(node)
  addTraitCommands(node)
  addPortCommands(node)
  addLeasableCommands(node)
  addKickCommands(node)
  addHistoryCommand(node)
}

async function printShown(server: Holdfast, ident: string, flags: Flags & { fields?: string[] }): Promise<void> {
  const found = await server.nodes.show(ident, flags.fields)
  const { fields, ...rest } = flags
  await printNode(server, fields ? Object.fromEntries(fields.map(name => [name, found[name]])) : found, rest)
}

interface ListFlags extends WatchFlags {
  trait?: string[]
  traitAny?: string[]
  notTrait?: string[]
  notTraitAny?: string[]
  fields?: string[]
  provisionState?: string
  resourceClass?: string
  owner?: string
  maintenance?: boolean
  associated?: boolean
  unassociated?: boolean
  reserved?: boolean
  unreserved?: boolean
  long?: boolean
  limit?: number
}

function addListCommand(node: Command): void {
  withWatch(
    printingCommand(node, 'list', 'list nodes', 'node list --trait CUSTOM_RED --not-trait CUSTOM_BLUE', COLUMNS),
  )
    .option('--trait <traits...>', 'that have all of these', listed)
    .option('--trait-any <traits...>', 'that have any of these', listed)
    .option('--not-trait <traits...>', 'that do not have all of these', listed)
    .option('--not-trait-any <traits...>', 'that have none of these', listed)
    .option('--provision-state <provision-state>', 'in this state')
    .option('--resource-class <resource-class>', 'of this class')
    .option('--owner <owner>', 'of this project')
    .option('--maintenance', 'in maintenance')
    .option('--no-maintenance', 'not in maintenance')
    .option('--associated', 'that have an instance')
    .option('--unassociated', 'that have none')
    .option('--reserved', 'that are held')
    .option('--unreserved', 'that are not')
    .option('--fields <fields...>', 'show these fields', listed)
    .option('--long', 'show all fields')
    .option('--limit <count>', 'at most so many', countOf)
    .action(onServer(async (server, flags: ListFlags) => listNodes(server, flags)))
}

/** A hold is no change of the node itself, but shows in its row. */
async function listNodes(server: Holdfast, flags: ListFlags): Promise<void> {
  await printRows(server, { kinds: ['node', 'hold'], rows: () => nodesFor(server, flags) }, flags)
}

async function nodesFor(server: Holdfast, flags: ListFlags) {
  const either = (yes: boolean | undefined, no: boolean | undefined) => (yes ? true : no ? false : undefined)
  const columns = flags.fields ?? (flags.column && !flags.long ? flags.column.map(plainName) : COLUMNS)
  const where = {
    provision_state: flags.provisionState,
    resource_class: flags.resourceClass,
    owner: await soughtId(server, 'project', flags.owner),
    maintenance: flags.maintenance,
    associated: either(flags.associated, flags.unassociated),
    reserved: either(flags.reserved, flags.unreserved),
    ...(flags.long && { detail: true }),
  }
  const listedNodes = await server.nodes.list({
    traits: flags.trait,
    traitsAny: flags.traitAny,
    notTraits: flags.notTrait,
    notTraitsAny: flags.notTraitAny,
    where,
    fields: flags.long ? undefined : columns,
    limit: flags.limit,
  })
  const found = await withNames(server, listedNodes, PROJECTS, flags)
  return { rows: found, columns: flags.long && found[0] ? Object.keys(withoutLinks(found[0])) : columns }
}
