// The holdfast command.
import { enableCompileCache } from 'node:module'

// Half of the start-up time is compiling; the second start skips it.
enableCompileCache()

// Whoever read our output may go; that is no reason for a service to end.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})

const { runCommand } = await import('./cli/command.ts')
process.exitCode = await runCommand(process.argv)
