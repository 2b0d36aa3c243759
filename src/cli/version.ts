// holdfast version
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'

const PACKAGE = new URL('../../package.json', import.meta.url)

export function addVersionCommand(program: Command): void {
  program
    .command('version')
    .description('say which version this is')
    .addHelpText('after', '\nExample:\n  holdfast version')
    .action(() => {
      const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }
      process.stdout.write(`holdfast ${version}\n`)
    })
}
