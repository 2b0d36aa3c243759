// holdfast provider, claim, usage: what there is, and who has which part of it.
import type { Command } from 'commander'
import type { Holdfast, Owners, Resources } from '../client/index.ts'
import { UsageError } from '../config.ts'
import {
  countOf,
  type Flags,
  listed,
  many,
  onServer,
  pairsIn,
  printingCommand,
  type ServerFlags,
  serverCommand,
} from './client-command.ts'
import { printClaimForecast, printMoveForecast } from './claim-dry-run.ts'
import { type DryRun, withDryRun } from './dry-run.ts'
import { CommandFailure, EXIT } from './failures.ts'
import { printList, printOne, say } from './output.ts'

export function addLedgerCommands(program: Command): void {
  addProviderCommands(program)
  addClaimCommands(program)
  addUsageCommand(program)
}

interface ProviderFlags extends Flags {
  name?: string
  inTree?: string
  resource?: string[]
  required?: string[]
  forbidden?: string[]
  memberOf?: string
}

function addProviderCommands(program: Command): void {
  const provider = program.command('provider').description('what capacity there is')
  printingCommand(
    provider,
    'list',
    'list resource providers',
    'provider list --resource VCPU=4 --required HW_CPU_X86_AVX2',
  )
    .option('--name <name>', 'of this name')
    .option('--in-tree <uuid>', 'in the tree of this one')
    .option('--resource <class=amount>', 'with room for this; may be repeated', many)
    .option('--required <traits...>', 'with these traits', listed)
    .option('--forbidden <traits...>', 'without these traits', listed)
    .option('--member-of <aggregates>', 'in this aggregate, or in:A,B')
    .action(
      onServer(async (server, flags: ProviderFlags) => {
        const found = await server.providers.list({ name: flags.name, in_tree: flags.inTree, ...askedIn(flags) })
        printList(found, ['uuid', 'name', 'generation', 'parent_provider_uuid'], flags)
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
}

interface Asked {
  resource?: string[]
  required?: string[]
  forbidden?: string[]
  memberOf?: string
}

/** Capacity and traits, as Placement's queries say it. */
export function askedIn({ resource, required = [], forbidden = [], memberOf }: Asked) {
  const amounts = Object.entries(amountsIn(resource ?? [])).map(([name, amount]) => `${name}:${amount}`)
  const traits = [...required, ...forbidden.map(name => `!${name}`)]
  return {
    resources: amounts.length > 0 ? amounts.join(',') : undefined,
    required: traits.length > 0 ? traits.join(',') : undefined,
    member_of: memberOf,
  }
}

const amountsIn = (words: readonly string[]) =>
  pairsIn(
    words.flatMap(word => word.replaceAll(':', '=').split(',')),
    countOf,
  ) as Record<string, number>

type ClaimFlags = ServerFlags &
  DryRun & {
    allocation?: string[]
    project?: string
    user?: string
    type?: string
  }

const ownersIn = ({ project, user, type }: ClaimFlags): Owners => ({ project, user, type })

function addClaimCommands(program: Command): void {
  const claim = program.command('claim').description('who has what')
  const [one, other] = ['5f9b0a2e-6f36-4b5e-9d0a-3a0f6a8f0c11', 'c3f1b6a4-5f0e-4f39-8f5a-9c1d1d8f7e22']
  printingCommand(claim, 'show <consumer>', 'what a consumer has', `claim show ${one}`).action(
    onServer(async (server, consumer: string, flags: Flags) => showClaim(server, consumer, flags)),
  )
  withOwners(
    serverCommand(
      claim,
      'set <consumer>',
      'replace all that a consumer has',
      `claim set ${one} --allocation rp=compute-1,VCPU=2`,
    ),
  )
    .requiredOption('--allocation <rp=PROVIDER,CLASS=amount,...>', 'what it has of a provider; may be repeated', many)
    .action(
      onServer(async (server, consumer: string, flags: ClaimFlags) => {
        const wanted = await resourcesIn(server, flags.allocation!)
        if (flags.dryRun) return printClaimForecast(server, consumer, wanted)
        await server.claims.set(consumer, wanted, ownersIn(flags))
        say(`${consumer} has what was asked for`)
      }),
    )
  serverCommand(claim, 'delete <consumer>', 'a consumer gives all back', `claim delete ${one}`).action(
    onServer(async (server, consumer: string, _flags: ServerFlags) => {
      await server.claims.delete(consumer)
      say(`${consumer} has nothing`)
    }),
  )
  withOwners(
    serverCommand(claim, 'move <from> <to>', 'all that one has goes to another, at once', `claim move ${one} ${other}`),
  ).action(
    onServer(async (server, from: string, to: string, flags: ClaimFlags) => {
      if (flags.dryRun) return printMoveForecast(server, from, to)
      await server.claims.move(from, to, ownersIn(flags))
      say(`${to} has what ${from} had`)
    }),
  )
}

const withOwners = (command: Command) =>
  withDryRun(command)
    .option('--project <id>', "whose it is; as before, or the caller's")
    .option('--user <id>', 'likewise')
    .option('--type <TYPE>', 'of the consumer; as before, or INSTANCE')

async function resourcesIn({ providers }: Holdfast, words: readonly string[]): Promise<Resources> {
  const resources: Resources = {}
  for (const word of words) {
    const { rp, ...amounts } = pairsIn(word.split(','), value => value)
    if (typeof rp !== 'string') throw new UsageError(`'${word}' doesn't name a provider with rp=`)
    const { uuid } = await providers.find(rp)
    const parts = Object.entries(amounts).map(([name, amount]) => `${name}=${amount as string}`)
    resources[uuid] = { resources: { ...resources[uuid]?.resources, ...amountsIn(parts) } }
  }
  return resources
}

async function showClaim({ claims }: Holdfast, consumer: string, flags: Flags): Promise<void> {
  const found = await claims.show(consumer)
  if (Object.keys(found.allocations).length === 0) {
    throw new CommandFailure(EXIT.notFound, `consumer ${consumer} has no claims`)
  }
  if (flags.format === 'json' || flags.format === 'yaml') return printOne(found, flags)
  const { project_id, user_id, consumer_type } = found
  const rows = Object.entries(found.allocations).flatMap(([provider, { resources }]) =>
    Object.entries(resources).map(([resource_class, used]) => ({
      provider,
      resource_class,
      used,
      consumer_type,
      project_id,
      user_id,
    })),
  )
  printList(rows, ['provider', 'resource_class', 'used', 'consumer_type', 'project_id', 'user_id'], flags)
}

interface UsageFlags extends Flags {
  project?: string
  user?: string
  type?: string
  provider?: string
}

function addUsageCommand(program: Command): void {
  printingCommand(program, 'usage', 'how much is used, by a project or of a provider', 'usage --provider compute-1')
    .option('--project <id>', 'by this project; the project that is logged in if neither is given')
    .option('--user <id>', 'by this user of the project')
    .option('--type <TYPE>', 'by consumers of this type; all for their sum')
    .option('--provider <provider>', 'of this provider')
    .action(
      onServer(async (server, flags: UsageFlags) => {
        if (flags.provider !== undefined) {
          const usages = await server.providers.usages(flags.provider)
          const rows = Object.entries(usages).map(([resource_class, used]) => ({ resource_class, used }))
          return printList(rows, ['resource_class', 'used'], flags)
        }
        const project = flags.project ?? server.project
        if (project === null) throw new UsageError('say --project or --provider: nobody is logged in')
        const usages = await server.usage.ofProject(project, flags)
        const rows = Object.entries(usages).flatMap(([consumer_type, { consumer_count, ...amounts }]) =>
          Object.entries(amounts).map(([resource_class, used]) => ({
            consumer_type,
            consumer_count,
            resource_class,
            used,
          })),
        )
        printList(rows, ['consumer_type', 'resource_class', 'used', 'consumer_count'], flags)
      }),
    )
}
