// The last release, checked out beside this tree with packages of its own, to be compared with it.
import { execFileSync, type ExecFileSyncOptionsWithStringEncoding } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Release {
  /** What it is and why it was chosen, in words. */
  title: string
  commit: string
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const QUIET: ExecFileSyncOptionsWithStringEncoding = { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }
/** A heading such as `## [0.2.0] – 2027-01-31`; that of what isn't released has no number. */
const RELEASED = /^## (\[\d+\.\d+\.\d+\])/m

/** The newest tag `v*`; without one, the commit that gave the changelog its newest version: it is what would be tagged. */
export function findRelease(against: string | undefined, root = ROOT): Release {
  const git = gitIn(root)
  const named = (ref: string, title: string): Release => {
    const commit = git('rev-parse', '--verify', `${ref}^{commit}`)
    return { title: `${title} (${commit.slice(0, 8)})`, commit }
  }
  if (against !== undefined) return named(against, against)
  const tag = git('tag', '--list', 'v*', '--sort=-version:refname', '--merged', 'HEAD').split('\n')[0]
  if (tag) return named(tag, tag)
  const heading = RELEASED.exec(git('show', 'HEAD:CHANGELOG.md'))?.[1]
  const commits = heading === undefined ? '' : git('log', '--format=%H', `-S## ${heading}`, '--', 'CHANGELOG.md')
  // The oldest: later ones may have moved the heading.
  const commit = commits.split('\n').at(-1)
  if (!heading || !commit)
    throw new Error('no tag v*, and no version in CHANGELOG.md: name what to compare with by --against REF')
  return named(commit, `version ${heading.slice(1, -1)} of the changelog`)
}

/** Returns the command of the release. It goes away with this process, also when that is interrupted. */
export function checkOut({ commit }: Release): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-release-')))
  const tree = join(folder, 'tree')
  const git = gitIn(ROOT)
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true })
    git('worktree', 'prune')
  })
  // All of this blocks: a signal that comes meanwhile is handled when npm no longer writes to the folder.
  git('worktree', 'add', '--detach', tree, commit)
  const hasOurPackages = git('diff', '--name-only', commit, '--', 'package-lock.json') === ''
  if (hasOurPackages) symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  else execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], { ...QUIET, cwd: tree })
  return join(tree, 'bin', 'holdfast')
}

function gitIn(cwd: string) {
  return (...args: string[]): string => execFileSync('git', args, { ...QUIET, cwd }).trim()
}
