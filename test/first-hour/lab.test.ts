// A lab with twelve machines: someone sets it up, people take machines, a course books some.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect } from '../../src/client/index.ts'
import { atLogin } from '../cli/person.ts'
import { Newcomer } from './newcomer.ts'

/** As a spreadsheet has it. */
const fleetOf = (count: number) => {
  const rows = Array.from({ length: count }, (_, at) => {
    const number = String(at + 1).padStart(2, '0')
    return `gpu-${number},gpu,${at < 4 ? 'CUSTOM_A100' : 'CUSTOM_V100'},available`
  })
  return ['name,resource_class,traits,provision_state', ...rows].join('\n')
}

atLogin('the first hour of a lab', ({ api }) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-lab-'))
  const fleet = join(folder, 'fleet.csv')
  before(() => writeFileSync(fleet, fleetOf(12)))
  after(() => rmSync(folder, { recursive: true }))
  const someone = new Newcomer(() => api.origin)
  const [alice, bob] = [someone.as('alice'), someone.as('bob')]

  test('nobody is let in without a name, and is told how to say it', async () => {
    await someone.isRefused('status', 5, /OS_USERNAME/)
    await alice.with({ OS_PASSWORD: 'wrong' }).isRefused('status', 5, /alice/)
  })

  test('twelve machines come from a spreadsheet', async () => {
    assert.match(await alice.sees('status'), /There is no machine yet/)
    assert.match(await alice.does(`import ${fleet} --dry-run`), /12 to create, 0 to change/)
    assert.match(await alice.does(`import ${fleet}`), /12 created, 0 changed, 0 unchanged/)
    const shown = await alice.sees('status')
    assert.match(shown, /^12 machines, all free\.\n\nname +class +state\ngpu-01 +gpu +free\ngpu-02/)
    assert.match(await alice.sees('status --trait CUSTOM_A100'), /^4 machines with CUSTOM_A100, all free/)
  })

  test('members see the machines of their project, and take them', async () => {
    assert.match(
      await bob.sees('status'),
      /^There is no machine that you may see\. An admin gives some to your project:\s+holdfast node set NAME --owner lab\.$/m,
    )
    await bob.isRefused(
      'allocation create --resource-class gpu --name bob-0 --wait',
      4,
      /There is no node of class gpu/,
    )
    const { nodes, project } = await connect({ url: api.origin, env: alice.login })
    for (const { uuid } of await nodes.list()) await nodes.update(uuid, [{ op: 'add', path: '/owner', value: project }])
    assert.match(await bob.sees('status'), /^12 machines, all free/)
    await bob.does('allocation create --resource-class gpu --trait CUSTOM_A100 --name bob-1 --expires-at 4h --wait')
    const shown = await alice.sees('status')
    assert.match(shown, /^11 of 12 machines are free; 1 taken\./)
    assert.match(shown, /^gpu-0[1-4] +gpu +taken +bob +lab +(today|tomorrow) \d\d:\d\d +bob-1$/m)
    assert.match(await bob.sees('status --mine'), /^You have 1 machine; it ends (today|tomorrow) \d\d:\d\d\./)
    assert.match(await alice.sees('status --who bob'), /^1 machine of bob: 1 taken\./)
    assert.match(await alice.sees('status --mine'), /^You have no machine\./)
  })

  test('a course books machines, and everyone sees when', async () => {
    await alice.does('node leasable set gpu-09 gpu-10 gpu-11 gpu-12')
    await alice.does(
      'lease create course --start-date "2030-03-04 08:00" --end-date "2030-03-08 18:00" --reservation resource_type=physical:node,resource_class=gpu,min=3,max=3',
    )
    const shown = await bob.sees('calendar --from 2030-03-04 --for 1w')
    assert.match(shown, /Times are\s+those of Europe\/Berlin \(CET\)/)
    assert.equal(shown.match(/▓alice course/g)?.length, 3)
    assert.match(await bob.sees('calendar'), /▼ now/)
    assert.match(await bob.sees('status --state booked'), /^3 machines are booked\./)
    await bob.isRefused(
      'lease create seminar --start-date "2030-03-05 08:00" --for 8h --reservation resource_type=physical:node,resource_class=gpu,min=3,max=3',
      4,
      /It would fit from/,
    )
  })

  test('a machine in maintenance says why, and stays with whoever has it', async () => {
    await alice.does('node maintenance set gpu-05 --reason "fan is loud"')
    assert.match(await bob.sees('status'), /^gpu-05 +gpu +maintenance +(- +)*fan is loud/m)
    await alice.does('node maintenance unset gpu-05')
    await bob.does('allocation delete bob-1')
    assert.match(await bob.sees('status --mine'), /^You have no machine\./)
  })
})
