// holdfast demo: fills a server with a fleet, keeps it busy, and removes it again.
import type { Command } from 'commander'
import { countOf, type ServerFlags, serverCommand } from '../client-command.ts'
import type { Word } from '../command.ts'
import { serverFlagsOf } from '../server-flags.ts'

export type DemoFlags = ServerFlags & {
  nodes: number
  seed: number
  users?: string
  beside?: true
  live?: true
  for?: string
  pace: number
  remove?: true
}

export function addCommands(program: Command, { name, help }: Word): void {
  const command = serverCommand(program, name, help, 'demo --live --for 10m')
    .option('--nodes <count>', 'how many machines', countOf, 300)
    .option('--seed <number>', 'the same seed makes the same fleet', countOf, 7)
    .option('--users <file>', 'the users file of the server: alice, bob and carol are added there')
    .option('--beside', 'also on a server that has other machines')
    .option('--live', 'act as alice, bob and carol would, until Ctrl-C')
    .option('--for <duration>', 'with --live: stop after so long')
    .option('--pace <count>', 'with --live: events a minute', countOf, 60)
    .option('--remove', 'remove all of the demo, and nothing else')
    .action(async (flags: DemoFlags) => (await import('./run.ts')).demo({ ...flags, ...serverFlagsOf(command) }))
}
