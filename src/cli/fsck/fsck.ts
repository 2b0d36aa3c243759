// holdfast fsck: checks the invariants of the ledger, through a running server or directly in the database.
import { type Command, Option } from 'commander'
import type { Fsck } from '../../client/index.ts'
import { UsageError } from '../../shared/usage-error.ts'
import { connectWith } from '../client-command.ts'
import type { Word } from '../command.ts'
import { withExample } from '../example.ts'
import { EXIT } from '../failures.ts'
import { FORMATS, type OutputFlags, printList, printOne } from '../output.ts'
import { serverFlagsOf, withServerFlags } from '../server-flags.ts'
import {
  configOf,
  printConfig,
  type SettingFlags,
  saysSettings,
  withPrintConfig,
  withSettings,
} from '../service/settings.ts'
import { terminal } from '../terminal.ts'

const WHICH = `
With --url, --os-cloud or another --os- option it asks the server that they name, which needs the role admin.
Without any of them it opens the database of the settings, beside the server or without one.`

export function addCommands(program: Command, { name, help }: Word): void {
  const command = withPrintConfig(withSettings(withServerFlags(program.command(name).description(help))))
  withExample(command, 'fsck --database sqlite:./holdfast.db', 'fsck --url http://127.0.0.1:8780 -f json')
  command
    .addOption(new Option('-f, --format <format>', 'how to print it').choices(FORMATS).default('table'))
    .addHelpText('after', WHICH)
    .action(async (flags: SettingFlags & OutputFlags): Promise<void> => {
      if (flags['printConfig']) return printConfig(configOf(flags))
      const found = await findingsOf(flags, command)
      print(found, flags)
      terminal().exitCode = found.violations === 0 ? EXIT.ok : EXIT.failed
    })
}

async function findingsOf(flags: SettingFlags, command: Command): Promise<Fsck> {
  const server = serverFlagsOf(command)
  if (Object.keys(server).length > 0) {
    if (saysSettings(flags)) throw new UsageError('name a server (--url, --os-…) or a database (settings), not both')
    return (await connectWith(server)).fsck()
  }
  const { fsckOfDatabase } = await import('./database.ts')
  return fsckOfDatabase(configOf(flags))
}

function print({ violations, invariants }: Fsck, flags: OutputFlags): void {
  if (flags.format === 'json' || flags.format === 'yaml') return printOne({ violations, invariants }, flags)
  if (flags.format !== 'table') return printList(invariants, ['violations', 'invariant'], flags)
  const rows = [...invariants, { invariant: 'violations in all', violations }]
  for (const row of rows) terminal().stdout.write(`${String(row.violations).padStart(8)}  ${row.invariant}\n`)
}
