// --dry-run: asks the server what a command would do, without changing anything.
import type { Command } from 'commander'
import type { Touched } from '../client/index.ts'
import { say } from './output.ts'

export interface DryRun {
  dryRun?: boolean
}

export const withDryRun = (command: Command): Command =>
  command.option('--dry-run', 'show what would happen, and change nothing')

/** For commands that delete: what they would touch, in one line. */
export function sayTouched(ident: string, { objects }: Touched): void {
  say(`${ident} would go; touched: ${objects.map(({ kind, id }) => `${kind} ${id}`).join(', ')}`)
}
