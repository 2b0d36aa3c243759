import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { replaceFile } from './replace-file.ts'

test('the folder is synced after the rename, before anybody is told', () => {
  const done: unknown[][] = []
  const note =
    (name: string) =>
    (...args: unknown[]) => (done.push([name, ...args]), 7)
  const system = {
    renameSync: note('rename'),
    openSync: note('open'),
    fsyncSync: note('fsync'),
    closeSync: note('close'),
  }
  replaceFile('/etc/holdfast/users.yaml.new', '/etc/holdfast/users.yaml', system)
  assert.deepEqual(done, [
    ['rename', '/etc/holdfast/users.yaml.new', '/etc/holdfast/users.yaml'],
    ['open', '/etc/holdfast', 'r'],
    ['fsync', 7],
    ['close', 7],
  ])
})

test('whatever replaces a file that must last does it here', () => {
  const others = globSync('src/**/*.ts', { cwd: new URL('../..', import.meta.url).pathname }).filter(
    file =>
      !file.includes('replace-file') && !file.endsWith('.test.ts') && /\brenameSync\b/.test(readFileSync(file, 'utf8')),
  )
  assert.deepEqual(others, [])
})
