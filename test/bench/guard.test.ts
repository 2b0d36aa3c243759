// What the guard of `npm run bench` compares with, and when it calls something lost.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { inWords, isDoubtful, isLost, lookAt } from '../../bench/guard-verdict.ts'
import { findRelease } from '../../bench/release.ts'

const rounds = (...times: [rate: number, cpu: number][]) =>
  times.map(([rate, cpu]) => ({
    ours: { perSecond: 100 * rate, cpuMicroseconds: 10 * cpu },
    theirs: { perSecond: 100, cpuMicroseconds: 10 },
  }))
const always = (rate: number, cpu: number) =>
  lookAt(rounds(...Array.from({ length: 8 }, (): [number, number] => [rate, cpu])))

test('what lost in throughput and in CPU is lost at once', () => {
  const look = always(0.8, 1.3)
  assert.ok(!isDoubtful(look))
  assert.ok(isLost(look, undefined))
  assert.equal(inWords('claims', [look]), 'claims got slower: its throughput fell by 20 %, its CPU grew by 30 %')
})

test('what lost in one of them is lost only if a second look shows the same', () => {
  const look = always(0.8, 1)
  assert.ok(isDoubtful(look))
  assert.ok(!isLost(look, always(0.95, 1)))
  assert.ok(!isLost(look, always(1, 1.3)))
  assert.ok(isLost(look, always(0.8, 1)))
})

test('a loss of less than 15 % is none, nor is one that a quarter of the rounds contradicts', () => {
  assert.deepEqual(always(0.86, 1.17).lost, [])
  const noisy = rounds([0.5, 2], [0.6, 1.9], [0.7, 1.8], [0.8, 1.7], [0.8, 1.7], [1.1, 0.9], [1.2, 0.9], [1.3, 0.8])
  assert.deepEqual(lookAt(noisy).lost, [])
})

test('the last release is the newest tag, without one the commit of the newest version in the changelog', t => {
  const { commit, git, root } = repository(t)
  const first = commit('## [Unreleased]\n\n## [0.1.0]\n')
  const second = commit('## [Unreleased]\n\n## [0.2.0] – 2027-01-01\n\n## [0.1.0]\n')
  commit('## [Unreleased]\n\nMore.\n\n## [0.2.0] – 2027-01-01\n\n## [0.1.0]\n')
  assert.equal(findRelease(undefined, root).commit, second)
  git('tag', 'v0.9.0', first)
  git('tag', 'v0.10.0', second)
  assert.equal(findRelease(undefined, root).title, `v0.10.0 (${second.slice(0, 8)})`)
  assert.equal(findRelease('v0.9.0', root).commit, first)
})

test('without any release one has to be named', t => {
  const { commit, root } = repository(t)
  commit('## [Unreleased]\n')
  assert.throws(() => findRelease(undefined, root), /--against REF/)
})

function repository(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-guard-'))
  t.after(() => rmSync(root, { recursive: true }))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: root, encoding: 'utf8' }).trim()
  git('init', '-q')
  const commit = (changelog: string) => {
    writeFileSync(join(root, 'CHANGELOG.md'), changelog)
    git('add', '.')
    git('commit', '-qm', 'a change')
    return git('rev-parse', 'HEAD')
  }
  return { root, git, commit }
}
