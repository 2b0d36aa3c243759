// A lab with twelve machines: someone sets it up, people take machines, a course books some.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { atLogin } from '../cli/person.ts'
import { Newcomer } from './newcomer.ts'

/** As a spreadsheet has it. */
const fleetOf = (count: number, owner: string) => {
  const rows = Array.from({ length: count }, (_, at) => {
    const number = String(at + 1).padStart(2, '0')
    return `gpu-${number},gpu,${at < 4 ? 'CUSTOM_A100' : 'CUSTOM_V100'},available,${owner}`
  })
  return ['name,resource_class,traits,provision_state,owner', ...rows].join('\n')
}

atLogin('the first hour of a lab', ({ api }) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-lab-'))
  const fleet = join(folder, 'fleet.csv')
  before(() => writeFileSync(fleet, fleetOf(12, '')))
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
    await alice.does('node set gpu-01 --owner lab')
    assert.match(await bob.sees('status'), /^1 machine, and it is free\./)
    writeFileSync(fleet, fleetOf(12, 'lab'))
    assert.match(await alice.does(`import ${fleet}`), /0 created, 11 changed, 1 unchanged/)
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
    await alice.does('lease create course --nodes gpu:3 --start "4 Mar 2030 9:00" --for 5d')
    const shown = await bob.sees('calendar --from "4 Mar 2030" --for 1w')
    assert.match(shown, /Times are\s+those of Europe\/Berlin \(CET\)/)
    assert.equal(shown.match(/▓alice course/g)?.length, 3)
    assert.match(await bob.sees('calendar'), /▼ now/)
    assert.match(
      await bob.sees('status --state booked'),
      /^3 machines are booked\.[^]*alice +lab +from 4 Mar 2030 +course$/m,
    )
    await bob.sees('lease list')
    await bob.does('lease show course')
    await bob.isRefused(
      'lease create seminar --nodes gpu:3 --start "5 Mar 2030 9:00" --for 8h',
      4,
      /doesn't fit: 1 of 3 gpu are free then; .*it fits from Sat 9 Mar 2030 09:00 CET .*--next books that/,
    )
    await bob.does('lease create seminar --nodes gpu:3 --start "5 Mar 2030 9:00" --for 8h --next')
    await alice.isRefused('lease extend course 1d', 4, /gpu-09, gpu-10, gpu-12 are booked from .* by seminar/)
    await bob.does('lease delete seminar')
    await alice.does('lease extend course 1d')
    await alice.does('lease move course --start "11 Mar 2030 9:00"')
    assert.match(await bob.sees('status --state booked'), /from 11 Mar 2030/)
  })

  test('people leave notes, stay longer, and are asked to go', async () => {
    await bob.does('allocation note bob-1 "the paper is due on Friday"')
    await alice.does('node note gpu-12 "loud; left of the door"')
    assert.match(await bob.sees('status'), /^gpu-12 .*\s+note: loud; left/m)
    await bob.does('allocation extend bob-1 1h')
    assert.match(await alice.sees('status --who bob'), /bob-1: the paper/)
    const { machine } = await alice.finds('bob-1')
    await alice.does(`node kick ${machine} --message "the demo needs it"`)
    assert.match(await bob.sees('status --mine'), /^You have no machine\./)
  })

  test('a colleague comes, and works in a project of their own too', async () => {
    await alice.does('project create course')
    await alice.does('user create dora --password dora-pw --project lab')
    await alice.does('user grant dora course')
    await alice.isRefused('user create dora --password dora-pw --project lab', 4, /dora/)
    await alice.isRefused('node set gpu-07 --owner curse', 3, /curse/)
    await alice.does('node set gpu-07 --lessee course')
    const dora = someone.as('dora', 'course')
    assert.match(await dora.sees('status'), /^1 machine, and it is free\./)
    await dora.does('allocation create --resource-class gpu --name dora-1 --expires-at 1h --wait')
    assert.match(await alice.sees('status --project course'), /^gpu-07 +gpu +taken +dora +course .*dora-1$/m)
    await alice.sees('project list')
    await alice.sees('user list --url ' + api.origin)
    assert.match(await alice.sees('queue list'), /^Nobody waits\.$/m)
    await dora.does('allocation delete dora-1')
  })

  test('a machine in maintenance says why, and stays with whoever has it', async () => {
    await alice.does('node maintenance set gpu-05 --reason "fan is loud"')
    assert.match(await bob.sees('status'), /^gpu-05 +maintenance +(- +)*fan is loud/m)
    await alice.does('node maintenance unset gpu-05')
  })
})
