// A second server on one SQLite file, by any name that a file can have: it is refused in one line, and the first goes on.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openStore } from '../../src/store/open.ts'
import { runHoldfast } from '../support/server.ts'
import { nothingIsLost } from './load.ts'
import { type FaultyProcess, startServing } from './processes.ts'

const SERVED = /another holdfast is already serving/

describe('a second server on one SQLite file', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-two-')))
  const [file, elsewhere, mount] = ['holdfast.db', 'elsewhere', 'mount'].map(name => join(folder, name))
  const mounted: string[] = []
  let server: FaultyProcess
  before(async () => {
    mkdirSync(elsewhere!)
    mkdirSync(mount!)
    server = await startServing('serve', `sqlite:${file}`)
  })
  after(async () => {
    await server?.end()
    for (const one of mounted) execFileSync('umount', ['--lazy', one])
    rmSync(folder, { recursive: true, force: true })
  })

  /** Mounts one name on another; null if that is not for us. */
  const bind = (from: string, to: string): string | null => {
    try {
      execFileSync('mount', ['--bind', from, to], { stdio: 'pipe' })
      mounted.push(to)
      return to
    } catch {
      return null
    }
  }

  const names: Record<string, { name: () => string | null; says: RegExp }> = {
    'its own name': { name: () => file!, says: SERVED },
    'a relative path': { name: () => relative(process.cwd(), file!), says: SERVED },
    'a path with dots and slashes': { name: () => `${elsewhere}/..//./holdfast.db`, says: SERVED },
    'a symbolic link': { name: () => linked(join(elsewhere!, 'link.db'), file!), says: SERVED },
    'a symbolic link to its folder': {
      name: () => join(linked(join(folder, 'linked'), folder), 'holdfast.db'),
      says: SERVED,
    },
    'its folder mounted elsewhere': { name: () => bind(folder, mount!) && join(mount!, 'holdfast.db'), says: SERVED },
    'the file mounted elsewhere': {
      name: () => {
        const place = join(elsewhere!, 'mounted.db')
        writeFileSync(place, '')
        return bind(file!, place)
      },
      says: /is mounted by itself/,
    },
  }

  for (const [title, { name, says }] of Object.entries(names)) {
    test(`by ${title} is refused`, t => {
      const path = name()
      if (path === null) return t.skip('mounting is for root')
      expectRefused(path, says)
    })
  }

  test('by a hard link is refused, and so is the first name as long as there are two', () => {
    const hard = join(folder, 'hard.db')
    linkSync(file!, hard)
    for (const path of [hard, file!]) expectRefused(path, /2 names \(hard links\)/)
    rmSync(hard)
  })

  test('says so in one line, and the first one goes on', t =>
    nothingIsLost(t, [server], async () => {
      const { code, stderr } = await runHoldfast(['serve', '--port', '0', '--database', `sqlite:${file}`]).exit
      assert.notEqual(code, 0)
      assert.match(stderr, /^holdfast: .*already serving.*\n$/)
    }))
})

function linked(link: string, target: string): string {
  symlinkSync(target, link)
  return link
}

/** In this process, which is fast: the lock is the file's, whoever asks for it. */
function expectRefused(path: string, says: RegExp): void {
  assert.throws(() => openStore(`sqlite:${path}`, { serving: true }), says)
}
