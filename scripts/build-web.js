// Builds web/dist, the dashboard, with its files compressed beside them. JavaScript, because `npm ci` runs it with the Node of
// the machine where it was told to bring none. With --if-possible it is no failure if the tools for it are not installed.
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

process.chdir(new URL('..', import.meta.url).pathname)
/** Smaller ones fit into the first packets anyway. */
const SMALL_BYTES = 1_000
const TEXT = /\.(js|css|html|svg|json)$/

const vite = await import('vite').catch(error => {
  if (!process.argv.includes('--if-possible')) throw error
  console.log('The dashboard is not built, because vite is not installed. After npm ci: npm run build:web')
  process.exit(0)
})
// Made beside it and then put in its place: a server that runs meanwhile finds all files of one build.
const [made, old] = [`web/dist-${process.pid}.new`, `web/dist-${process.pid}.old.new`]
try {
  await vite.build({ root: 'web', logLevel: 'warn', build: { outDir: `../${made}`, emptyOutDir: true } })
  for (const entry of readdirSync(made, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && TEXT.test(entry.name)) compress(join(entry.parentPath, entry.name))
  }
  replace('web/dist')
} finally {
  for (const folder of [made, old]) rmSync(folder, { recursive: true, force: true })
}

/** @param {string} file */
function compress(file) {
  const content = readFileSync(file)
  if (content.length < SMALL_BYTES) return
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params }))
  writeFileSync(`${file}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }))
}

/** @param {string} place */
function replace(place) {
  try {
    renameSync(place, old)
  } catch {
    // There was none.
  }
  renameSync(made, place)
}
