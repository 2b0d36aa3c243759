import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { makeFolder, removeDeadFolders, removeFolder } from './boot-folders.ts'

const usual = process.env['TMPDIR']
const folder = mkdtempSync(join(tmpdir(), 'holdfast-folders-'))
before(() => void (process.env['TMPDIR'] = folder))
after(() => {
  if (usual === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = usual
  rmSync(folder, { recursive: true })
})

test('what a dead process has left behind goes, and nothing else', async () => {
  const { pid: dead } = spawnSync('true')
  const made = await makeFolder()
  assert.equal(dirname(made), folder)
  assert.ok(basename(made).startsWith(`holdfast-boot-${hostname()}-${process.pid}-`))
  const put = (name: string) => {
    const path = join(folder, name)
    mkdirSync(path)
    writeFileSync(join(path, 'boot.iso'), 'x')
    return path
  }
  const gone = [`${hostname()}-${dead}-abcdef`, `${hostname()}-${process.pid}-abcdef`]
  const kept = [
    `${hostname()}-${process.ppid}-abcdef`,
    `elsewhere-${dead}-abcdef`,
    'abcdef',
    `${hostname()}-${dead}-abcdef-mine`,
  ]
  const [leaving, staying] = [gone, kept].map(names => names.map(name => put(`holdfast-boot-${name}`)))
  const link = join(folder, `holdfast-boot-${hostname()}-${dead}-linked`)
  symlinkSync(staying![0]!, link)
  await removeDeadFolders()
  assert.deepEqual(leaving!.filter(existsSync), [])
  assert.deepEqual(
    [...staying!, made, link].filter(path => !existsSync(path)),
    [],
  )
  await removeFolder(made)
  assert.ok(!existsSync(made))
})
