// holdfast version
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { Word } from './command.ts'

const PACKAGE = new URL('../../package.json', import.meta.url)

export function addCommands(program: Command, { name, help }: Word): void {
  program
    .command(name)
    .description(help)
    .addHelpText('after', '\nExample:\n  holdfast version')
    .action(() => {
      const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }
      process.stdout.write(`holdfast ${version}\n`)
    })
}
