// holdfast claim: who has what.
import type { Command } from 'commander'
import type { Holdfast, Owners, Resources } from '../../client/index.ts'
import { UsageError } from '../../shared/usage-error.ts'
import {
  type Flags,
  many,
  onServer,
  pairsIn,
  printingCommand,
  type ServerFlags,
  serverCommand,
} from '../client-command.ts'
import { printClaimForecast, printMoveForecast } from './dry-run.ts'
import type { Word } from '../command.ts'
import { type DryRun, withDryRun } from '../dry-run.ts'
import { CommandFailure, EXIT } from '../failures.ts'
import { idOf, withNames } from '../names.ts'
import { printList, printOne, say } from '../output.ts'
import { amountsIn } from '../provider.ts'

const COLUMNS = ['provider', 'resource_class', 'used', 'consumer_type', 'project_id', 'user_id']

type ClaimFlags = ServerFlags &
  DryRun & {
    allocation?: string[]
    project?: string
    user?: string
    type?: string
  }

const ownersIn = async (server: Holdfast, { project, user, type }: ClaimFlags): Promise<Owners> => ({
  project: await idOf(server, 'project', project),
  user: await idOf(server, 'user', user),
  type,
})

export function addCommands(program: Command, { name, help }: Word): void {
  const claim = program.command(name).description(help)
  const [one, other] = ['5f9b0a2e-6f36-4b5e-9d0a-3a0f6a8f0c11', 'c3f1b6a4-5f0e-4f39-8f5a-9c1d1d8f7e22']
  printingCommand(claim, 'show <consumer>', 'what a consumer has', `claim show ${one}`, COLUMNS).action(
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
        await server.claims.set(consumer, wanted, await ownersIn(server, flags))
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
      await server.claims.move(from, to, await ownersIn(server, flags))
      say(`${to} has what ${from} had`)
    }),
  )
}

const withOwners = (command: Command) =>
  withDryRun(command)
    .option('--project <project>', "whose it is; as before, or the caller's")
    .option('--user <user>', 'likewise')
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

async function showClaim(server: Holdfast, consumer: string, flags: Flags): Promise<void> {
  const found = await server.claims.show(consumer)
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
  const named = await withNames(server, rows, { project_id: 'project', user_id: 'user' }, flags)
  printList(named, COLUMNS, flags)
}
