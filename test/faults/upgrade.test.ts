// A rolling upgrade under load: the version before the newest migrations serves, `migrate` of this one runs beside it, old
// and new serve together, and then the old one goes. It needs the history of the repository.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { migrationsOf } from '../../src/store/migrate.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { listening, runHoldfast } from '../support/server.ts'
import { Load } from './load.ts'
import { startServing } from './processes.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FOLDER = 'src/store/migrations'
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

const old = versionBefore()

test(
  `old and new serve together${old ? ` (${old.slice(0, 8)} and this)` : ''}`,
  { skip: old === null && 'the history does not go back so far' },
  async t => {
    const databases = await sharedPostgres()
    t.after(() => databases.stop())
    const database = await databases.createEmpty()
    const tree = checkedOut(old!, t)
    const flags = [
      '--port',
      '0',
      '--database',
      database,
      '--auth',
      'noauth2',
      '--placement-policy',
      'legacy',
      '--test-clock',
    ]
    const before = await listening(
      runHoldfast(
        ['serve', ...flags, '--log-level', 'error', '--conductor-name', 'old'],
        {},
        '/tmp',
        join(tree, 'bin/holdfast'),
      ),
    )
    t.after(() => before.stop())
    const load = await Load.on([before])
    t.after(() => load.close())
    let isMigrated = false
    await load.during(async () => {
      const { code, stdout, stderr } = await runHoldfast(['migrate', '--database', database]).exit
      assert.equal(code, 0, stderr)
      isMigrated = /\d{4}-/.test(stdout)
    })
    assert.ok(isMigrated, 'there was nothing to migrate')
    await load.expectKept()
    const after = await startServing('serve', database, { args: ['--conductor-name', 'new'] })
    t.after(() => after.end())
    load.at(before.origin, after.origin)
    await load.during(async () => {})
    await load.expectKept()
    // The old one is told to end while it is asked.
    await load.during(async () => {
      await before.stop()
      load.to(after.origin)
    })
    load.at(after.origin)
    await load.expectKept()
    await load.expectLeasesToLive()
    t.diagnostic(`${old!.slice(0, 8)}: ${load.summary}`)
  },
)

/** The commit before the newest migrations came; null where that is not known. */
function versionBefore(): string | null {
  try {
    const newest = migrationsOf('postgres').at(-1)
    const came = git('log', '--diff-filter=A', '--format=%H', '--', `${FOLDER}/${newest}.postgres.sql`)
      .split('\n')
      .at(-1)
    return came ? git('rev-parse', '--verify', `${came}^`) : null
  } catch {
    return null
  }
}

/** The files of a version, with our packages: those of one version are enough for the other, or the test must say so. */
function checkedOut(commit: string, t: { after(work: () => void): void }): string {
  const tree = mkdtempSync(join(tmpdir(), 'holdfast-old-'))
  t.after(() => rmSync(tree, { recursive: true, force: true }))
  execFileSync('sh', ['-c', 'git archive "$1" | tar -x -C "$2"', 'sh', commit, tree], { cwd: ROOT })
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  assert.ok(existsSync(join(tree, 'bin/holdfast')))
  const { dependencies: ours } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const { dependencies: theirs } = JSON.parse(readFileSync(join(tree, 'package.json'), 'utf8'))
  for (const name of Object.keys(theirs)) assert.ok(name in ours, `the old version needs ${name}`)
  return tree
}
