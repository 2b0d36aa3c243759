// People and projects by name: made, shown, taken wherever an id is, and refused where there is none.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { idOf } from '../../src/identity/ids.ts'
import { typeHoldfast } from '../support/command.ts'
import { atLogin, Person } from './person.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-people-'))
after(() => rmSync(folder, { recursive: true }))

const as = (name: string, password = `${name}-pw`, project = 'lab') => ({
  OS_USERNAME: name,
  OS_PASSWORD: password,
  OS_PROJECT_NAME: project,
})

atLogin('people and projects by name', ({ api, file }) => {
  const person = new Person(() => api.origin)
  const alice = as('alice')
  const reads = async (line: string, who: Record<string, string> = alice) => {
    const { code, stdout, stderr } = await person.types(line, who)
    assert.equal(code, 0, `${line}: ${stderr}`)
    return stdout.trimEnd()
  }
  const refuses = async (line: string, code: number, said: RegExp, who: Record<string, string> = alice) => {
    const found = await person.types(line, who)
    assert.match(found.stderr, said, line)
    assert.equal(found.code, code, `${line}: ${found.stderr}`)
  }
  const [lab, office] = [idOf('project', 'lab'), idOf('project', 'office')]

  before(async () => {
    await reads('node create --name gpu-03 --resource-class gpu --owner office')
    await reads('node manage gpu-03 --wait')
    await reads('node provide gpu-03 --wait')
  })

  test('projects and users are made, changed and deleted on the server', async () => {
    await reads('project create physics --description quarks')
    const made = await reads('user create dora --project physics --role member reader --password dora-pw -f json')
    assert.deepEqual(Object.keys(JSON.parse(made)), ['name', 'id', 'enabled', 'roles'])
    assert.match(await reads('user list'), /^dora +physics: member, reader +true/m)
    assert.match(await reads('user list --os-username alice'), /^dora +physics/m)
    assert.match(await reads(`user list --users ${file()}`), /^dora +physics/m)
    assert.match(await reads('project show physics'), /users +dora: member, reader/)
    assert.equal(await reads('user revoke dora physics --role reader'), 'dora is no longer reader in physics')
    assert.equal(await reads('user grant dora lab'), 'dora is member in lab')
    assert.equal(await reads('project set physics --name optics -f value -c name'), 'optics')
    assert.match(await reads('user show dora'), /roles +optics: member; lab: member/)
    await refuses('user create dora --password x', 4, /Duplicate entry found with name dora/)
    await refuses('user create erik --project nowhere --password x', 3, /there is no project nowhere/)
    await refuses('user show erik', 3, /there is no user erik/)
    await refuses('user set dora', 2, /say what is to change/)
    await refuses('user delete alice', 4, /Nobody would be admin/)
    await refuses('user create eve --password x', 5, /not authorized/, as('bob'))
    // Members see their own project, without the roles of others.
    assert.doesNotMatch(await reads('project show lab', as('bob')), /users|alice/)
    await refuses('project delete office', 4, /office still has 1 node/)
    assert.equal(await reads('user delete dora'), 'dora is gone')
    assert.equal(await reads('project delete optics'), 'optics is gone')
    // Who is gone can be looked for, and gets nothing new.
    await reads('audit --user dora --project optics')
    await refuses('node create --owner optics', 3, /there is no project optics/)
  })

  test('one changes the own password with the present one', async () => {
    await reads('user create fay --project lab --password fay-pw')
    const change = (input: string) =>
      typeHoldfast(['user', 'password'], { environment: { HOLDFAST_URL: api.origin, ...as('fay') }, input })
    assert.match((await change('wrong\nnext-pw\n')).stderr, /^holdfast: that is not your present password$/m)
    const { code, stderr } = await change('fay-pw\nnext-pw\n')
    assert.equal(code, 0, stderr)
    await refuses('node list', 5, /./, as('fay'))
    await reads('node list', as('fay', 'next-pw'))
  })

  test('names are taken where ids are, and unknown ones are refused before anything is sent', async () => {
    const owner = (line: string) => reads(`${line} -f value -c owner`)
    assert.equal(await owner('node create --name n1 --owner lab'), lab)
    assert.equal(await owner('node set n1 --owner office --lessee lab'), office)
    assert.equal(await owner(`node set n1 --owner ${lab}`), lab)
    assert.equal(await reads('node list --owner office --fields name -f value'), 'gpu-03')
    const csv = join(folder, 'more.csv')
    writeFileSync(csv, 'name,driver,owner,lessee\nn2,fake-hardware,lab,office\nn3,fake-hardware,labb,\n')
    await refuses(`import ${csv}`, 4, /more\.csv:3: .*there is no project labb/)
    writeFileSync(csv, 'name,driver,owner,lessee\nn2,fake-hardware,lab,office\n')
    await reads(`import ${csv}`)
    assert.equal(await reads('node show n2 -f value -c owner -c lessee'), `${lab}\n${office}`)
    assert.match(await reads(`import ${csv}`), /0 created, 0 changed, 1 unchanged/)
    assert.match(await reads('quota set office nodes=3'), /^nodes +3/m)
    assert.match(await reads('quota show office'), /^nodes +3/m)
    assert.match(await reads('quota list'), /^office +nodes=3/m)
    assert.match(await reads('quota list -f csv'), new RegExp(`^${office},`, 'm'))
    for (const line of [
      'node create --owner nope',
      'node set n1 --lessee nope',
      'node list --owner nope',
      'allocation create --resource-class gpu --owner nope',
      'allocation list --owner nope',
      'reservation list --owner nope',
      'quota set nope nodes=1',
      'quota show nope',
      'usage nope',
      'audit --project nope',
      'watch --project nope',
      'status --project nope',
      'calendar --project nope',
      'webhook create https://example.org/ --project nope',
      'calendar create --project nope',
      'claim move 0f1d4a4e-9c6f-4a75-8f5c-0c1de9a3c001 0f1d4a4e-9c6f-4a75-8f5c-0c1de9a3c002 --project nope',
    ])
      await refuses(line, 3, /there is no project nope/)
    await refuses('audit --user nope', 3, /there is no user nope/)
    await refuses('calendar create --user nope', 3, /there is no user nope/)
  })

  test('lists show names to people and ids to programs', async () => {
    await reads('allocation create --resource-class gpu --name job --owner office --wait', alice)
    assert.match(await reads('allocation list'), /^name +class +state +node +who +project +until/)
    assert.match(await reads('allocation list'), /^job +gpu +active +gpu-03 +alice +office/m)
    const [one] = JSON.parse(await reads('allocation list -f json'))
    assert.equal(one.owner, office)
    assert.equal(one.user, idOf('user', 'alice'))
    assert.deepEqual([one.user_name, one.node_name], ['alice', 'gpu-03'])
    assert.match(await reads('allocation list -f csv'), /^uuid,name,resource_class,state,node_uuid,expires_at/)
    assert.match(await reads('node show gpu-03'), /^owner +office$/m)
    assert.match(await reads('node list --fields name owner'), /^gpu-03 +office$/m)
    const [shown] = JSON.parse(await reads('node list --owner office --fields name owner -f json'))
    assert.deepEqual(shown, { name: 'gpu-03', owner: office, owner_name: 'office' })
    // Bob is in lab: of office he may know nothing.
    assert.doesNotMatch(await reads('allocation list', as('bob')), /office|job/)
  })

  test('the audit is asked by name and answers in names', async () => {
    const table = await reads('audit --object gpu-03')
    assert.match(table, /alice +lab +baremetal:node:create .*node gpu-03/)
    assert.match(table, /conductor/)
    await refuses('audit --object gpu-04', 3, /there is nothing called gpu-04/)
    assert.match(await reads('audit --user alice --project lab --object gpu-03 --limit 1'), /alice +lab/)
    await reads('audit --user conductor --limit 1')
    assert.equal(await reads('audit --object gpu-03 --until 2001-01-01 -f value'), '')
    const token = await api.token('alice')
    const told = await fetch(`${api.origin}/holdfast/v1/events?after=0&object=gpu-03`, {
      headers: { 'x-auth-token': token },
    })
    const { events } = (await told.json()) as { events: { subject: string; data: { name: string } }[] }
    assert.ok(events.length > 0 && events.every(event => event.data.name === 'gpu-03'))
    // A node that is gone is still found by its name.
    await reads('node create --name short-lived')
    await reads('node delete short-lived')
    assert.match(await reads('audit --object short-lived'), /baremetal:node:delete/)
  })
})
