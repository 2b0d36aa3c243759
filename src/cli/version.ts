// holdfast version
import type { Command } from 'commander'

export function addVersionCommand(program: Command): void {
  program
    .command('version')
    .description('say which version this is')
    .addHelpText('after', '\nExample:\n  holdfast version')
    .action(async () => {
      const { VERSION } = await import('../version.ts')
      process.stdout.write(`holdfast ${VERSION}\n`)
    })
}
