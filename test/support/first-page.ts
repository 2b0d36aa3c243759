// What a browser loads for the first page that it opens, by the manifest of the built dashboard.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

interface Chunk {
  file: string
  imports?: string[]
  dynamicImports?: string[]
}

type Manifest = Record<string, Chunk>

const DIST = fileURLToPath(new URL('../../web/dist/', import.meta.url))
const ENTRY = 'index.html'
const APP = 'src/app.tsx'
const PAGE = /^src\/pages\/([a-z]+)\/\1\.tsx$/

/** Bytes of JavaScript, gzipped, for each page if it is the first. With what only older browsers load. */
export function firstPages(): Map<string, number> {
  const manifest = JSON.parse(readFileSync(`${DIST}.vite/manifest.json`, 'utf8')) as Manifest
  const before = [ENTRY, ...(manifest[ENTRY]?.dynamicImports ?? []), APP]
  const pages = (manifest[APP]?.dynamicImports ?? []).filter(name => PAGE.test(name))
  return new Map(pages.map(page => [PAGE.exec(page)![1]!, bytesOf(manifest, [...before, page])]))
}

function bytesOf(manifest: Manifest, roots: readonly string[]): number {
  const names = new Set<string>()
  const add = (name: string) => {
    if (names.has(name)) return
    names.add(name)
    manifest[name]?.imports?.forEach(add)
  }
  roots.forEach(add)
  const files = new Set([...names].map(name => manifest[name]!.file).filter(file => file.endsWith('.js')))
  return [...files].reduce((sum, file) => sum + gzipSync(readFileSync(DIST + file)).length, 0)
}
