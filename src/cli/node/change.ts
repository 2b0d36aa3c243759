// holdfast node create, set, unset
import type { Command } from 'commander'
import type { Holdfast, Patch } from '../../client/index.ts'
import { DEFAULT_DRIVER } from '../../shared/node-fields.ts'
import { UsageError } from '../../shared/usage-error.ts'
import { type Document, type Flags, given, many, onServer, pairsIn, printingCommand } from '../client-command.ts'
import { idOf, withNames } from '../names.ts'
import { printOne, printShort, type Row } from '../output.ts'

/** Attributes with one value, and attributes with key=value pairs. The API spells them with underscores. */
const WORDS = [
  'name',
  'driver',
  'resource-class',
  'owner',
  'lessee',
  'description',
  'instance-uuid',
  'conductor-group',
  'shard',
]
const DOCUMENTS: Record<string, string> = {
  property: 'properties',
  'driver-info': 'driver_info',
  'instance-info': 'instance_info',
  extra: 'extra',
}

/** What can be changed here, and how the node is. */
const SHOWN = [
  'uuid',
  ...WORDS.map(flag => flag.replaceAll('-', '_')),
  ...Object.values(DOCUMENTS),
  'provision_state',
  'maintenance',
  'last_error',
]

const attribute = (flag: string) => DOCUMENTS[flag] ?? flag.replaceAll('-', '_')
const camel = (flag: string) => flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

type ChangeFlags = Flags & Record<string, string | string[] | true | undefined>

export function addChangeCommands(node: Command): void {
  const create = printingCommand(node, 'create', 'enrol a node', 'node create --name n1 --resource-class gpu').option(
    '--uuid <uuid>',
    'its uuid; a new one if none is given',
  )
  const set = printingCommand(node, 'set <node>', 'change a node', 'node set n1 --resource-class gpu --extra rack=7')
  const unset = printingCommand(
    node,
    'unset <node>',
    'take attributes from a node',
    'node unset n1 --name --extra rack',
  )
  for (const flag of WORDS) {
    create.option(`--${flag} <${flag}>`, `its ${flag.replaceAll('-', ' ')}`)
    set.option(`--${flag} <${flag}>`, `its new ${flag.replaceAll('-', ' ')}`)
    if (flag !== 'driver') unset.option(`--${flag}`, `its ${flag.replaceAll('-', ' ')}`)
  }
  for (const flag of Object.keys(DOCUMENTS)) {
    create.option(`--${flag} <key=value>`, `a member of ${attribute(flag)}; may be repeated`, many)
    set.option(`--${flag} <key=value>`, `a member of ${attribute(flag)}; may be repeated`, many)
    unset.option(`--${flag} <key>`, `a member of ${attribute(flag)}; may be repeated`, many)
  }
  create.action(
    onServer(async (server, flags: ChangeFlags) =>
      printChanged(server, await server.nodes.create(created(await withIds(server, flags))), flags),
    ),
  )
  set.action(
    onServer(async (server, ident: string, flags: ChangeFlags) =>
      update(server, ident, setting(await withIds(server, flags)), flags),
    ),
  )
  unset.action(
    onServer(async (server, ident: string, flags: ChangeFlags) => update(server, ident, unsetting(flags), flags)),
  )
}

/** Projects may be named. */
async function withIds(server: Holdfast, flags: ChangeFlags): Promise<ChangeFlags> {
  const [owner, lessee] = [flags['owner'], flags['lessee']] as [string | undefined, string | undefined]
  const ids = { owner: await idOf(server, 'project', owner), lessee: await idOf(server, 'project', lessee) }
  return { ...flags, ...ids }
}

/** With the names of its projects, for people. */
export async function printNode(server: Holdfast, node: Row, flags: Flags): Promise<void> {
  printOne(await namedNode(server, node, flags), flags)
}

async function printChanged(server: Holdfast, node: Row, flags: Flags): Promise<void> {
  printShort(await namedNode(server, node, flags), SHOWN, flags)
}

async function namedNode(server: Holdfast, node: Row, flags: Flags): Promise<Row> {
  const [named] = await withNames(server, [node], PROJECTS, flags)
  return named!
}

/** The fields of a node that hold projects. */
export const PROJECTS = { owner: 'project', lessee: 'project' } as const

function created(flags: ChangeFlags): Document {
  const words = ['uuid', ...WORDS].map(flag => [attribute(flag), flags[camel(flag)]])
  const documents = Object.keys(DOCUMENTS)
    .filter(flag => flags[camel(flag)] !== undefined)
    .map(flag => [attribute(flag), pairsIn(flags[camel(flag)] as string[])])
  const all = given({ ...Object.fromEntries(words), ...Object.fromEntries(documents) } as Document)
  return { driver: DEFAULT_DRIVER, ...all }
}

function setting(flags: ChangeFlags): Patch[] {
  const words = WORDS.filter(flag => flags[camel(flag)] !== undefined).map((flag): Patch => ({
    op: 'add',
    path: `/${attribute(flag)}`,
    value: flags[camel(flag)],
  }))
  const members = Object.keys(DOCUMENTS).flatMap(flag =>
    Object.entries(pairsIn(flags[camel(flag)] as string[] | undefined)).map(([key, value]): Patch => ({
      op: 'add',
      path: `/${attribute(flag)}/${pointer(key)}`,
      value,
    })),
  )
  return [...words, ...members]
}

function unsetting(flags: ChangeFlags): Patch[] {
  const words = WORDS.filter(flag => flags[camel(flag)] !== undefined).map(flag => `/${attribute(flag)}`)
  const members = Object.keys(DOCUMENTS).flatMap(flag =>
    ((flags[camel(flag)] as string[] | undefined) ?? []).map(key => `/${attribute(flag)}/${pointer(key)}`),
  )
  return [...words, ...members].map(path => ({ op: 'remove', path }))
}

const pointer = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')

async function update(server: Holdfast, ident: string, patches: Patch[], flags: Flags): Promise<void> {
  if (patches.length === 0) throw new UsageError('say what is to change; --help lists what can')
  await printChanged(server, await server.nodes.update(ident, patches), flags)
}
