// holdfast demo: fills a server with a fleet, keeps it busy, and takes it away again.
import type { Command } from 'commander'
import { loadConfig, UsageError } from '../config.ts'
import { connectWith, countOf, durationOf, type ServerFlags, serverCommand } from './client-command.ts'

export interface DemoFlags extends ServerFlags {
  nodes: number
  seed: number
  users?: string
  beside?: true
  live?: true
  for?: string
  pace: number
  remove?: true
}

export function addDemoCommand(program: Command): void {
  serverCommand(
    program,
    'demo',
    'fill a server with a fleet to try things on',
    'demo --live --for 10m\n  holdfast demo --remove',
  )
    .option('--nodes <count>', 'how many machines', countOf, 300)
    .option('--seed <number>', 'the same seed makes the same fleet', countOf, 7)
    .option('--users <file>', 'the users file of the server: alice, bob and carol are added to it')
    .option('--beside', 'also where there are other machines: beside them')
    .option('--live', 'go on as alice, bob and carol would, until Ctrl-C')
    .option('--for <duration>', 'with --live: stop after so long')
    .option('--pace <count>', 'with --live: events in a minute', countOf, 60)
    .option('--remove', 'take all of it away again, and nothing else')
    .action(async (flags: DemoFlags) => {
      // Only those who want it wait for it to load.
      const { demo } = await import('./demo-run.ts')
      await demo(await connectWith(flags), flags)
    })
}
void loadConfig, UsageError, durationOf
