// holdfast version
import type { Command } from 'commander'
import { versionAt } from '../client/operations.ts'
import { VERSION } from '../shared/version.ts'
import { serverCommand, whereWith } from './client-command.ts'
import type { Word } from './command.ts'
import { serverFlagsOf } from './server-flags.ts'
import { terminal } from './terminal.ts'

export function addCommands(program: Command, { name, help }: Word): void {
  const command = serverCommand(program, name, help, 'version').action(async () => {
    terminal().stdout.write(`holdfast ${VERSION}\n`)
    const { url } = whereWith(serverFlagsOf(command))
    const version = url === null ? null : await versionAt(url)
    if (version !== null) terminal().stdout.write(`server ${version} at ${url}\n`)
  })
}
