// Builds packages/client/dist: the client library alone, as JavaScript that Node 20 and browsers run, with declarations.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'

process.chdir(new URL('..', import.meta.url).pathname)
rmSync('packages/client/dist', { recursive: true, force: true })
execFileSync('node_modules/.bin/tsc', ['--project', 'tsconfig.client.json'], { stdio: 'inherit' })
