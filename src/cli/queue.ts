// holdfast queue: who waits for a node, and whose turn is next.
import type { Command } from 'commander'
import type { Queued } from '../client/index.ts'
import { limits } from '../shared/limits.ts'
import { UsageError } from '../shared/usage-error.ts'
import { type Flags, onServer, printingCommand } from './client-command.ts'
import type { Word } from './command.ts'
import { idOf, soughtId } from './names.ts'
import { printList, printOne, say } from './output.ts'
import { wantsOf } from './status/words.ts'
import type { Folds } from './table.ts'

const LISTED = ['place', 'name', 'project', 'who', 'wants', 'since', 'start', 'because']
const FOLDS: Folds = { below: [['because'], ['wants', 'because']] }
const SHARED = ['project', 'priority', 'share', 'used_hours', 'due_percent', 'actual_percent']

export function addCommands(program: Command, { name, help }: Word): void {
  const queue = program.command(name).description(help)
  printingCommand(
    queue,
    'list',
    'list who waits for a node, in the order in which they are served',
    'queue list',
    LISTED,
  ).action(
    onServer(async (server, flags: Flags) => {
      const rows = await server.queue.list()
      if (rows.length === 0 && flags.format === 'table') say('Nobody waits.')
      else if (flags.format === 'json' || flags.format === 'yaml') printList(rows, LISTED, flags)
      else
        printList(
          rows.map(row => cellsOf(row, flags)),
          LISTED,
          flags,
          FOLDS,
        )
    }),
  )
  printingCommand(
    queue,
    'shares [project]',
    'show what projects should have and what they used lately; of all, for admins, if none is given',
    'queue shares',
    SHARED,
  ).action(
    onServer(async (server, project: string | undefined, flags: Flags) => {
      const id = await soughtId(server, 'project', project)
      printList(id === undefined ? await server.queue.shares() : [await server.queue.shareOf(id)], SHARED, flags)
    }),
  )
  printingCommand(
    queue,
    'priority <project> [level]',
    `set how much sooner a project is served: each level is a day; from -${limits.priorityMax} to ${limits.priorityMax}`,
    'queue priority lab 2 --share 3',
    SHARED,
  )
    .option('--share <number>', `its share in the fair order, beside those of others; 1 to ${limits.shareMax}`, shareIn)
    .action(
      onServer(async (server, project: string, level: string | undefined, flags: Flags & { share?: number }) => {
        const priority = level === undefined ? undefined : levelIn(level)
        if (priority === undefined && flags.share === undefined) throw new UsageError('say a level, or --share')
        const id = await idOf(server, 'project', project)
        printOne(await server.queue.set(id, { priority, share: flags.share }), flags)
      }),
    )
}

const cellsOf = ({ because, traits, resource_class, place, of, ...row }: Queued, { format }: Flags) => ({
  ...row,
  place: `${place} of ${of}`,
  name: row.name ?? row.uuid,
  wants:
    format === 'table' ? wantsOf({ class: resource_class, traits, count: 1 }) : [resource_class, ...traits].join(' '),
  because: because && `${because.node.name ?? because.node.uuid} (${BECAUSE[because.what]})`,
})

const BECAUSE = { allocation: 'allocated', hold: 'held', lease: 'leased', ahead: 'one before it' }

function levelIn(text: string): number {
  const level = Number(text)
  if (/^[+-]?\d{1,2}$/.test(text) && Math.abs(level) <= limits.priorityMax) return level
  throw new UsageError(`'${text}' is no level from -${limits.priorityMax} to ${limits.priorityMax}`)
}

function shareIn(text: string): number {
  const share = Number(text)
  if (/^\d{1,4}$/.test(text) && share >= 1 && share <= limits.shareMax) return share
  throw new UsageError(`'${text}' is no share from 1 to ${limits.shareMax}`)
}
