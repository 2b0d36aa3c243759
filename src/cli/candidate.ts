// holdfast candidate: where something would fit, and why not elsewhere.
import type { Command } from 'commander'
import type { Candidates, CandidatesExplained, Holdfast, Query } from '../client/index.ts'
import { UsageError } from '../shared/usage-error.ts'
import { countOf, type Flags, listed, many, onServer, printingCommand } from './client-command.ts'
import type { Word } from './command.ts'
import { CommandFailure, EXIT } from './failures.ts'
import { printList, printOne, say } from './output.ts'
import { askedIn } from './provider.ts'

const COLUMNS = ['candidate', 'name', 'provider', 'resources', 'used_of_capacity', 'traits']
/** In a table the provider's name is enough: its uuid is left out. */
const FOR_PEOPLE = COLUMNS.filter(column => column !== 'provider')
const CONDITIONS = ['group', 'condition', 'left']

interface CandidateFlags extends Flags {
  resource?: string[]
  required?: string[]
  forbidden?: string[]
  memberOf?: string
  inTree?: string
  query?: string
  limit?: number
}

export function addCommands(program: Command, { name, help }: Word): void {
  const candidate = program.command(name).description(help)
  withQuery(
    printingCommand(candidate, 'list', 'list where it fits', 'candidate list --resource VCPU=4 --limit 5', COLUMNS),
  )
    .option('--limit <count>', 'at most so many', countOf)
    .action(
      onServer(async (server, flags: CandidateFlags) => {
        const found = await server.candidates.list({ ...queryIn(flags), limit: flags.limit })
        if (found.allocation_requests.length === 0) {
          throw new CommandFailure(
            EXIT.conflict,
            'nothing fits',
            'holdfast candidate explain with the same options says why',
          )
        }
        if (flags.format === 'json' || flags.format === 'yaml') return printOne({ ...found }, flags)
        const columns = flags.format === 'table' ? FOR_PEOPLE : COLUMNS
        printList(rowsOf(found, await namesIn(found, server)), columns, flags)
      }),
    )
  withQuery(
    printingCommand(
      candidate,
      'explain',
      'say why it fits nowhere',
      'candidate explain --resource VCPU=400 --required CUSTOM_GPU',
      CONDITIONS,
    ),
  ).action(
    onServer(async (server, flags: CandidateFlags) =>
      printExplained(await server.candidates.explain(queryIn(flags)), flags),
    ),
  )
}

const withQuery = (command: Command) =>
  command
    .option('--resource <class=amount>', 'how much of what; may be repeated', many)
    .option('--required <traits...>', 'with these traits', listed)
    .option('--forbidden <traits...>', 'without these traits', listed)
    .option('--member-of <aggregates>', 'in this aggregate, or in:A,B')
    .option('--in-tree <uuid>', 'in the tree of this provider')
    .option('--query <query>', 'more parameters of Placement’s query, such as resources1=VCPU:1&group_policy=none')

function queryIn(flags: CandidateFlags): Query {
  const query: Query = { ...askedIn(flags), in_tree: flags.inTree }
  const more = new URLSearchParams(flags.query ?? '')
  for (const name of new Set(more.keys())) query[name] = more.getAll(name)
  if (Object.values(query).every(value => value === undefined))
    throw new UsageError('say with --resource what is to fit')
  return query
}

/** Above this many, one list of all providers is cheaper than one request for each. */
const ASKED_MAX = 32

/** Names of providers, by uuid: Placement's answer has only uuids. */
async function namesIn(found: Candidates, { providers }: Holdfast): Promise<ReadonlyMap<string, string>> {
  const uuids = new Set(found.allocation_requests.flatMap(({ allocations }) => Object.keys(allocations)))
  const asked = uuids.size > ASKED_MAX ? providers.list() : Promise.all(Array.from(uuids, uuid => providers.find(uuid)))
  return new Map((await asked).map(({ uuid, name }) => [uuid, name]))
}

function rowsOf({ allocation_requests, provider_summaries }: Candidates, names: ReadonlyMap<string, string>) {
  return allocation_requests.flatMap(({ allocations }, at) =>
    Object.entries(allocations).map(([provider, { resources }]) => {
      const { resources: all = {}, traits = [] } = provider_summaries[provider] ?? {}
      const named = Object.keys(resources)
      return {
        candidate: at + 1,
        name: names.get(provider) ?? null,
        provider,
        resources: named.map(name => `${name}=${resources[name]}`),
        used_of_capacity: named.map(name => `${name}=${all[name]?.used ?? 0}/${all[name]?.capacity ?? 0}`),
        traits,
      }
    }),
  )
}

function printExplained(explained: CandidatesExplained, flags: Flags): void {
  if (flags.format === 'json' || flags.format === 'yaml') return printOne(explained, flags)
  const { groups, together, relaxations, roots } = explained
  const rows = [
    ...groups.flatMap(({ suffix, resourceClass, providers, steps }) => {
      const group = suffix || resourceClass || '-'
      return [
        { group, condition: 'all providers', left: providers },
        ...steps.map(({ condition, left }) => ({ group, condition, left })),
      ]
    }),
    ...together.map(({ condition, roots: left }) => ({ group: 'together', condition, left })),
  ]
  printList(rows, CONDITIONS, flags)
  if (flags.format !== 'table') return
  say(roots > 0 ? `It fits under ${roots} of the roots.` : 'It fits nowhere.')
  for (const { nearest } of groups)
    for (const { name, lacks } of nearest) say(`  nearest: ${name}: ${lacks.join(', ')}`)
  for (const { sentence } of relaxations) say(`  would help: ${sentence}`)
}
