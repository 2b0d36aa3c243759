// The volume, read back by a program of others where there is one.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isoOf } from './iso9660.ts'

const FILES = new Map(
  ['openstack/latest', 'openstack/2012-08-10'].flatMap(folder => [
    [`${folder}/meta_data.json`, Buffer.from('{"uuid": "x"}')],
    [`${folder}/user_data`, Buffer.alloc(5_000, 'u')],
    [`${folder}/empty`, Buffer.alloc(0)],
  ]),
)

const has = (program: string) => spawnSync('which', [program]).status === 0

void test('the same files give the same bytes, in whole sectors', () => {
  const iso = isoOf('config-2', FILES)
  assert.equal(iso.length % 2_048, 0)
  assert.ok(iso.equals(isoOf('config-2', FILES)))
  assert.equal(iso.toString('latin1', 32_769, 32_774), 'CD001')
  assert.equal(iso.toString('latin1', 32_808, 32_816), 'config-2')
  assert.equal(iso.readUInt32LE(32_768 + 80) * 2_048, iso.length)
})

void test('xorriso reads the files back', { skip: !has('xorriso') && 'xorriso is not installed' }, t => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-iso-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'drive.iso'), isoOf('config-2', FILES))
  const read = spawnSync(
    'xorriso',
    [
      '-read_fs',
      'any',
      '-indev',
      join(folder, 'drive.iso'),
      '-pvd_info',
      '-osirrox',
      'on',
      '-extract',
      '/',
      join(folder, 'out'),
    ],
    { encoding: 'utf8' },
  )
  assert.equal(read.status, 0, read.stderr)
  assert.match(read.stdout, /Volume Id +: config-2/)
  for (const [path, content] of FILES) assert.ok(readFileSync(join(folder, 'out', path)).equals(content), path)
})
