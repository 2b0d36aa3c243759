// A folder like a fresh clone after `npm ci`, but with ports of its own, so that pages can be followed side by side.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { filesOf, ROOT } from './pages.ts'

export interface Checkout {
  folder: string
  /** Text with the ports of this folder in place of the documented ones. */
  here: (text: string) => string
  remove: () => void
}

/** The port that everyone knows, and those beside it that pages use when they start several servers. */
const DOCUMENTED = /\b878(\d)\b/g

/** In these such a number is no port, and migrations have checksums. */
const KEPT = ['package-lock.json', '.sql']

export async function checkOut(): Promise<Checkout> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-docs-'))
  const base = await freeTen()
  const here = (text: string) => text.replaceAll(DOCUMENTED, (_, nth: string) => String(base + Number(nth)))
  for (const path of filesOf()) {
    const [from, to] = [join(ROOT, path), join(folder, path)]
    // One that was deleted and not yet committed is still listed.
    if (!statSync(from, { throwIfNoEntry: false })?.isFile()) continue
    mkdirSync(dirname(to), { recursive: true })
    cpSync(from, to)
    const text = KEPT.some(end => path.endsWith(end)) ? '' : readFileSync(from, 'utf8')
    if (here(text) !== text) writeFileSync(to, here(text))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return { folder, here, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Below the ports that the system gives to whoever asks for any. */
const [LOWEST, HIGHEST] = [20_000, 32_000]

async function freeTen(): Promise<number> {
  for (;;) {
    const base = LOWEST + 10 * Math.floor((Math.random() * (HIGHEST - LOWEST)) / 10)
    if (await isFree(base)) return base
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
