// A lab with twelve machines: someone sets it up, people take machines, a course books some.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { atLogin } from '../cli/person.ts'
import { Newcomer } from './newcomer.ts'

const CSV = [
  'name,driver,resource_class,traits',
  ...Array.from(
    { length: 12 },
    (_, at) => `gpu-${String(at + 1).padStart(2, '0')},fake-hardware,gpu,${at < 4 ? 'CUSTOM_A100' : 'CUSTOM_V100'}`,
  ),
].join('\n')

atLogin('the first hour of a lab', ({ api }) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-lab-'))
  const fleet = join(folder, 'fleet.csv')
  before(() => writeFileSync(fleet, CSV))
  after(() => rmSync(folder, { recursive: true }))
  const at = new Newcomer(() => api.origin)
  const [alice, bob] = [at.as('alice'), at.as('bob')]

  test('machines come from a file, and people take them', async () => {
    await alice.does(`import ${fleet}`)
    await alice.does('node list')
    await bob.does('node list')
    await bob.isRefused(
      'allocation create --resource-class gpu --trait CUSTOM_A100 --name bob-1 --expires-at 4h --wait',
      4,
      /none/,
    )
    assert.ok(true)
  })

  test('the rest', async () => {
    await bob.does('allocation create --resource-class gpu --trait CUSTOM_A100 --name bob-1 --expires-at 4h --wait')
  })
  test('looks', async () => {
    await alice.sees('status')
  })
})
