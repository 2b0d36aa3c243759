// holdfast version
import type { Command } from 'commander'
import { versionAt } from '../client/operations.ts'
import { VERSION } from '../version.ts'
import { serverCommand, type ServerFlags, whereWith } from './client-command.ts'

export function addVersionCommand(program: Command): void {
  serverCommand(
    program,
    'version',
    'say which version this is, and which one the server is if it answers',
    'version',
  ).action(async (flags: ServerFlags) => {
    process.stdout.write(`holdfast ${VERSION}\n`)
    const { url } = whereWith(flags)
    const version = url === null ? null : await versionAt(url)
    if (version !== null) process.stdout.write(`server ${version} at ${url}\n`)
  })
}
