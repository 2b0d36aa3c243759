// --dry-run: asks the server what a command would do, without changing anything.
import type { Command } from 'commander'
import { ApiError, type Holdfast, type Touched } from '../client/index.ts'
import { say } from './output.ts'

export interface DryRun {
  dryRun?: boolean
}

export const withDryRun = (command: Command): Command =>
  command.option('--dry-run', 'show what would happen, and change nothing')

/** For commands that delete: what they would touch, in one line, by name. */
export async function sayTouched(server: Holdfast, ident: string, { objects }: Touched): Promise<void> {
  const parts = await Promise.all(
    objects.map(async ({ kind, id }) => `${kind} ${(await nameOf(server, kind, id)) ?? id}`),
  )
  say(`${ident} would go; touched: ${parts.join(', ')}`)
}

/** null if it has none, or is none of those that have names, or may not be seen. */
async function nameOf(server: Holdfast, kind: string, id: string): Promise<string | null> {
  try {
    if (kind === 'node') return (await server.nodes.show(id, ['name'])).name
    if (kind === 'allocation') return (await server.allocations.show(id, ['name'])).name
    return kind === 'lease' ? (await server.leases.show(id)).name : null
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}
