// The holdfast command.
import { enableCompileCache } from 'node:module'

// Half of the start-up time is compiling; the second start skips it.
enableCompileCache()

const { runCommand } = await import('./cli/command.ts')
process.exitCode = await runCommand(process.argv)
