// The holdfast command. JavaScript, because it is read before there is a cache, and taking types away costs as much as starting Node.
import { enableCompileCache } from 'node:module'

// The second start finds all else compiled.
enableCompileCache()

// Whoever read our output may go; that is no reason for a service to end.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})

const { runCommand } = await import('./cli/command.ts')
process.exitCode = await runCommand(process.argv.slice(2), process)
