// holdfast version
import type { Command } from 'commander'
import type { Word } from './command.ts'

export function addCommands(program: Command, { name, help }: Word): void {
  program
    .command(name)
    .description(help)
    .addHelpText('after', '\nExample:\n  holdfast version')
    .action(async () => {
      const { VERSION } = await import('../version.ts')
      process.stdout.write(`holdfast ${VERSION}\n`)
    })
}
