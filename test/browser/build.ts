// Builds the dashboard unless what is there is newer than its sources.
import { execFileSync } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CLONE = fileURLToPath(new URL('../..', import.meta.url))
const SOURCES = ['web/*.*', 'web/src/**/*', 'src/{client,shared,clock}/**/*.ts', 'package.json']

export function build(): void {
  const newest = Math.max(...globSync(SOURCES, { cwd: CLONE }).map(file => statSync(join(CLONE, file)).mtimeMs))
  const built = statSync(join(CLONE, 'web/dist/index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (built < newest) execFileSync(process.execPath, [join(CLONE, 'scripts/build-web.js')], { stdio: 'inherit' })
}
