// Builds dist/, the content of the package: JavaScript, because Node strips no types below node_modules; declarations
// of the client library; and the files that the code reads at run time. And web/dist, the dashboard.
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, rmSync } from 'node:fs'

process.chdir(new URL('..', import.meta.url).pathname)
rmSync('dist', { recursive: true, force: true })
for (const project of ['tsconfig.build.json', 'tsconfig.types.json']) {
  execFileSync('node_modules/.bin/tsc', ['--project', project], { stdio: 'inherit' })
}
for (const file of globSync('src/**/*', { withFileTypes: true })) {
  if (!file.isFile() || /\.[jt]s$/.test(file.name)) continue
  const from = `${file.parentPath}/${file.name}`
  cpSync(from, from.replace(/^src\b/, 'dist'))
}
execFileSync(process.execPath, ['scripts/build-web.js'], { stdio: 'inherit' })
